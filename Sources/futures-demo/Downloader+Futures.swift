import Foundation
import Futures

/// The wrapped layer: the same downloads as futures, in one line.
extension LegacyDownloader {
  /// Downloads `url` to the file `destination`, which must not exist yet.
  ///
  /// The promise has a ready-made completion closure for each usual shape; this one takes a `Result`.
  func download(_ url: URL, to destination: URL) -> Future<DownloadedFile, any Error> {
    Future { promise in download(url, to: destination, completion: promise.resultHandler) }
  }
}
