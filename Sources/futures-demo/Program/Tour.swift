import Foundation
import Futures
import FuturesAsync
import ProgramSupport

/// The demo without arguments: four files from a server of its own, downloaded in three ways, compared byte for byte.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct Tour {
  let downloader: LegacyDownloader
  let token: CancellationToken

  /// A finished download, and how it was called.
  private struct Row: Sendable {
    let download: Download
    let way: String
    let result: Result<DownloadedFile, any Error>
  }

  /// Downloads all files at the same time: the first by callback, the second by future, the others by await.
  ///
  /// Each download reports its progress to the bars in its own way.
  /// - Returns: The downloads in the order in which they end.
  private func downloadInThreeWays(
    _ downloads: [Download],
    shownBy bars: Bars?
  ) -> AsyncPrefixSequence<AsyncThrowingStream<Row, any Error>> {
    // If all of the closures below were dropped, the sequence would end with an error.
    callbackStream("tour") { rows in begin(downloads, shownBy: bars) { rows.yield($0) } }.prefix(downloads.count)
  }

  /// Starts the downloads, and calls `report` when each ends.
  private func begin(
    _ downloads: [Download],
    shownBy bars: Bars?,
    _ report: @escaping @Sendable (Row) -> Void
  ) {
    let (first, second) = (downloads[0], downloads[1])

    // Lazy futures for all downloads but the first. Each has a quarter of the total progress.
    let files = downloads.dropFirst().map { download in
      (download, downloader.download(download.url, to: download.destination))
    }
    for (_, file) in files { bars?.whole.progress.add(file, share: 0.25) }

    // Callback: the legacy layer. Its reports fill the first quarter, without a future.
    let handle = downloader.download(
      first.url,
      to: first.destination,
      progress: { received, expected in
        bars?.update(first, received: received, of: expected)
        bars?.whole.progress.report(completed: received, of: expected)
      }
    ) { result in
      bars?.whole.progress.report(fraction: 1)
      report(Row(download: first, way: "callback", result: result))
    }
    token.register { handle.cancel() }

    // Future: each callback names its context.
    let file = files[0].1
    if let bars {
      file.whenProgressed(on: .immediate) {
        bars.update(second, received: $0.completedUnitCount, of: $0.totalUnitCount)
      }
    }
    file.forward(on: .global(), cancelledBy: token) { result in
      report(Row(download: second, way: "future", result: result))
    }

    // Await: a loop reads the progress, and `value` returns the file or throws.
    for (download, file) in files.dropFirst() {
      Task {
        let file = file.cancelled(by: token)
        if let bars {
          for await progress in file.progress {
            bars.update(download, received: progress.completedUnitCount, of: progress.totalUnitCount)
          }
        }
        do {
          report(Row(download: download, way: "await", result: .success(try await file.value)))
        } catch {
          report(Row(download: download, way: "await", result: .failure(error)))
        }
      }
    }
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Tour {
  private static let mebibytes = ["small.bin": 1, "medium.bin": 4, "large.bin": 8, "huge.bin": 16]

  /// Serves, downloads and compares the files, prints the table, and returns whether all bytes are equal.
  func run(showsProgress: Bool) async throws -> Bool {
    let contents = Self.mebibytes.mapValues { Self.pseudoRandomBytes(count: $0 << 20) }
    let server = try LoopbackServer { exchange in
      let content = contents[String(exchange.path.dropFirst())]
      exchange.answer(content == nil ? "404 Not Found" : "200 OK", content ?? Data())
    }
    defer { server.stop() }
    let folder = FileManager.default.temporaryDirectory.appending(path: "futures-demo-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }

    let downloads = Self.mebibytes.sorted { $0.value < $1.value }.map { name, _ in
      Download(url: server.url("/\(name)"), destination: folder.appending(path: name))
    }
    let table = Table(of: downloads)
    say(table.header("reached by"))
    var summary = Summary(total: downloads.count)
    let bars = showsProgress ? Bars(for: downloads) : nil
    let drawing = Task { await bars?.keepDrawing() }
    for download in downloads { bars?.update(download) }
    for try await row in downloadInThreeWays(downloads, shownBy: bars) {
      let result = row.result.flatMap { Self.compare($0, with: contents[row.download.name]) }
      let line = table.line(row.download, result, row.way)
      if let bars { bars.end(row.download, line) } else { say(line) }
      summary.add(result)
    }
    drawing.cancel()
    await drawing.value
    say("\(summary.counts), each byte as it was served.")
    return summary.isComplete
  }

  /// Returns the file, or an error if its content differs from `content`.
  private static func compare(_ file: DownloadedFile, with content: Data?) -> Result<DownloadedFile, any Error> {
    Result {
      guard try Data(contentsOf: file.location) == content else { throw Difference() }
      return file
    }
  }

  private struct Difference: Error, CustomStringConvertible {
    let description = "the file differs from what was served"
  }

  /// Returns pseudorandom bytes, the same for the same `count` (SplitMix64).
  private static func pseudoRandomBytes(count: Int) -> Data {
    var bytes = Data(count: count)
    bytes.withUnsafeMutableBytes { buffer in
      let words = buffer.bindMemory(to: UInt64.self)
      var state = UInt64(count)
      for index in words.indices {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        words[index] = word ^ (word >> 31)
      }
    }
    return bytes
  }
}
