import Foundation
import Futures
import FuturesAsync

/// The counterparts of the callback function.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension LegacyDownloader {
  /// The download as a future, for code that is not async.
  ///
  /// It starts with the first consumer. `resultHandler` is a completion closure for a `Result`. `onCancel` stops the download,
  /// and `progress` reports the bytes.
  func downloadFuture(_ url: URL) -> Future<DownloadedFile, any Error> {
    .lazy { promise in
      let progress = promise.progress  // because a closure that keeps `promise` would hide a dropped callback
      let handle = self.download(
        url,
        progress: { received, expected in progress.report(completed: received, of: expected) },
        completion: promise.resultHandler
      )
      promise.onCancel { handle.cancel() }
    }
  }

  /// The download as an async function.
  ///
  /// Cancelling the task stops the download. `report` gets each progress on the caller's actor.
  func download(_ url: URL, report: (FutureProgress) -> Void) async throws -> DownloadedFile {
    let file = downloadFuture(url)
    for await progress in file.progress { report(progress) }  // ends with the download, or when the task is cancelled
    return try await file.value(onCancel: .cancel)
  }
}
