// Foundation's callback APIs as futures come here; the demo wraps its own downloader until then.
internal import Futures
