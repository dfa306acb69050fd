@_exported public import Futures
