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
  /// Once `token` is cancelled, those under way end at once, and the others are not started.
  func downloadAll(
    _ downloads: [Download],
    atMost limit: Int = 4,
    cancelledBy token: CancellationToken,
    report: (Outcome) -> Void
  ) async {
    await withTaskGroup(of: Outcome.self) { group in
      for (index, download) in downloads.enumerated() {
        if index >= limit, let outcome = await group.next() { report(outcome) }
        group.addTask {
          (download, await self.download(download.url, to: download.destination).cancelled(by: token).result)
        }
      }
      for await outcome in group { report(outcome) }
    }
  }
}
