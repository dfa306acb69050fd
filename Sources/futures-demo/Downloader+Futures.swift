import Foundation
import Futures

/// The wrapped layer: the same downloads as futures, in one line.
extension LegacyDownloader {
  /// Downloads `url` to the file `destination`, which must not exist yet.
  ///
  /// The promise has a ready-made completion closure for each usual shape; this one takes a `Result`. It hears when the future
  /// is cancelled, and hands that on, and it tells the future how many bytes have arrived, and of how many, as soon as the
  /// server has said so: no reader of the progress needs to know where it comes from. The download starts when somebody wants
  /// the file, so one that is cancelled before that asks the server nothing.
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
