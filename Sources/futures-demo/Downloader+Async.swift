import Foundation
import Futures
import FuturesAsync

/// The URL of a download, and its file.
struct Download: Sendable {
  let url: URL
  let destination: URL

  var name: String { destination.lastPathComponent }
}

/// The async layer: awaits futures in a task group.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension LegacyDownloader {
  typealias Outcome = (Download, Result<DownloadedFile, any Error>)

  /// Downloads everything, at most `limit` files at once, and reports each file when it is finished.
  ///
  /// When `token` is cancelled, running downloads end at once, and no other download starts. The `bars` show the
  /// progress of each download and of all together. Without bars the progress costs nothing.
  func downloadAll(
    _ downloads: [Download],
    atMost limit: Int = 4,
    cancelledBy token: CancellationToken,
    shownBy bars: Bars?,
    report: (Outcome) -> Void
  ) async {
    await withTaskGroup(of: Outcome.self) { group in
      for (index, download) in downloads.enumerated() {
        if index >= limit, let outcome = await group.next() { report(outcome) }
        bars?.update(download)
        group.addTask {
          let file = self.download(download.url, to: download.destination).cancelled(by: token)
          if let bars {
            // The sizes are unknown until the servers answer, so each file has the same share of the whole.
            bars.whole.progress.add(file, share: 1 / Double(downloads.count))
            // The loop ends when the download ends, also after a failure.
            for await progress in file.progress {
              bars.update(download, received: progress.completedUnitCount, of: progress.totalUnitCount)
            }
          }
          return (download, await file.result)
        }
      }
      for await outcome in group { report(outcome) }
    }
  }

  /// Returns when all earlier downloads have finished, and their partial files are removed.
  ///
  /// A cancelled future ends before its partial file is removed. So this function awaits a callback, without a future.
  func settle() async throws {
    try await withCallback { callback in whenSettled(callback.voidHandler) }
  }
}
