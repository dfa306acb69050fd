import Foundation
import Futures

/// The wrapped layer: the same downloads as futures.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension LegacyDownloader {
  /// Downloads `url` to the file `destination`, which must not exist yet.
  ///
  /// A promise has a completion closure for each usual shape; `resultHandler` takes a `Result`. `onCancel` stops the
  /// download, and `progress` reports the bytes. The download starts with the first consumer. A download that is
  /// cancelled before that sends no request.
  func download(_ url: URL, to destination: URL) -> Future<DownloadedFile, any Error> {
    .lazy { promise in
      let progress = promise.progress
      let handle = self.download(
        url,
        to: destination,
        progress: { received, expected in progress.report(completed: received, of: expected) },
        completion: promise.resultHandler
      )
      promise.onCancel { handle.cancel() }
    }
  }
}
