import Foundation
import Futures
import FuturesAsync

/// What is to be downloaded, and the file that it becomes.
struct Download: Sendable {
  let url: URL
  let destination: URL

  var name: String { destination.lastPathComponent }
}

/// The async layer: futures are awaited, and structured concurrency does the rest.
extension LegacyDownloader {
  typealias Outcome = (Download, Result<DownloadedFile, any Error>)

  /// Downloads everything, at most `limit` files at once, and reports each as it ends, whichever is first.
  ///
  /// Once `token` is cancelled, those under way end at once, and the others are not started. If there is a `screen`, it shows
  /// how far each has come, and the whole; else nobody asks, and the progress costs nothing.
  func downloadAll(
    _ downloads: [Download],
    atMost limit: Int = 4,
    cancelledBy token: CancellationToken,
    shownOn screen: ProgressScreen?,
    report: (Outcome) -> Void
  ) async {
    await withTaskGroup(of: Outcome.self) { group in
      for (index, download) in downloads.enumerated() {
        if index >= limit, let outcome = await group.next() { report(outcome) }
        screen?.begin(download)
        group.addTask {
          let file = self.download(download.url, to: download.destination).cancelled(by: token)
          if let screen {
            // The sizes are known only as the servers answer, so each file counts for the same part of the whole.
            screen.whole.progress.add(file, share: 1 / Double(downloads.count))
            // The loop ends when the file does, whether it has arrived or not.
            for await progress in file.progress { screen.update(download, progress) }
          }
          return (download, await file.result)
        }
      }
      for await outcome in group { report(outcome) }
    }
  }

  /// Returns when all that was started or cancelled before has been done, since a cancelled future does not wait for the
  /// partial file to be removed.
  ///
  /// Where nobody needs a future, a callback can be awaited without one.
  func settle() async throws {
    try await withCallback { callback in whenSettled(callback.voidHandler) }
  }
}
