import Foundation
import Futures
import FuturesAsync

/// The demo without arguments: four files from a server of its own, downloaded in three ways, compared byte for byte.
struct Tour {
  let downloader: LegacyDownloader
  let token: CancellationToken

  /// A download that has ended, and the way in which it was reached.
  private struct Row: Sendable {
    let download: Download
    let way: String
    let result: Result<DownloadedFile, any Error>
  }

  /// Downloads all at once: the first by callback, the second by future, the others by await; each tells the screen how far
  /// it has come in its own way.
  /// - Returns: The downloads as they end.
  private func downloadInThreeWays(
    _ downloads: [Download],
    shownOn screen: ProgressScreen?
  ) -> some AsyncSequence<Row, any Error> {
    // Should all of the closures below be lost, the sequence ends with an error, and nobody waits for ever.
    callbackStream("tour") { rows in begin(downloads, shownOn: screen) { rows.yield($0) } }.prefix(downloads.count)
  }

  /// Starts the downloads, and calls `report` as each of them ends.
  private func begin(
    _ downloads: [Download],
    shownOn screen: ProgressScreen?,
    _ report: @escaping @Sendable (Row) -> Void
  ) {
    let (first, second) = (downloads[0], downloads[1])

    // Futures of all but the first, of which none starts before somebody wants it. Each is a quarter of the whole.
    let files = downloads.dropFirst().map { download in
      (download, downloader.download(download.url, to: download.destination))
    }
    for (_, file) in files { screen?.whole.progress.add(file, share: 0.25) }

    // Callback: the legacy layer as it is. What it reports is the quarter that no future stands for.
    let handle = downloader.download(
      first.url,
      to: first.destination,
      progress: { received, expected in
        screen?.update(first, received: received, of: expected)
        screen?.whole.progress.report(completed: received, of: expected)
      }
    ) { result in
      screen?.whole.progress.report(fraction: 1)
      report(Row(download: first, way: "callback", result: result))
    }
    token.register { handle.cancel() }

    // Future: the observers say where their closures run.
    let file = files[0].1
    if let screen { file.whenProgressed(on: .immediate) { progress in screen.update(second, progress) } }
    file.forward(on: .global(), cancelledBy: token) { result in
      report(Row(download: second, way: "future", result: result))
    }

    // Await: a loop reads the progress, and `value` is the file, or throws why there is none.
    for (download, file) in files.dropFirst() {
      Task {
        let file = file.cancelled(by: token)
        if let screen { for await progress in file.progress { screen.update(download, progress) } }
        do {
          report(Row(download: download, way: "await", result: .success(try await file.value)))
        } catch {
          report(Row(download: download, way: "await", result: .failure(error)))
        }
      }
    }
  }
}

extension Tour {
  private static let mebibytes = ["small.bin": 1, "medium.bin": 4, "large.bin": 8, "huge.bin": 16]

  /// Serves, downloads and compares the files, prints the table, and returns whether every byte arrived.
  func run(showsProgress: Bool) async throws -> Bool {
    let contents = Self.mebibytes.mapValues { Self.pseudoRandomBytes(count: $0 << 20) }
    let server = try LoopbackServer(serving: contents)
    defer { server.stop() }
    let folder = FileManager.default.temporaryDirectory.appending(path: "futures-demo-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }

    let downloads = Self.mebibytes.sorted { $0.value < $1.value }.map { name, _ in
      Download(url: server.url(for: name), destination: folder.appending(path: name))
    }
    let table = Table(of: downloads)
    say(table.header("reached by"))
    var summary = Summary(total: downloads.count)
    let screen = showsProgress ? ProgressScreen(for: downloads) : nil
    let drawing = Task { await screen?.keepDrawing() }
    for download in downloads { screen?.begin(download) }
    for try await row in downloadInThreeWays(downloads, shownOn: screen) {
      let result = row.result.flatMap { Self.compare($0, with: contents[row.download.name]) }
      let line = table.line(row.download, result, row.way)
      if let screen { screen.end(row.download, line) } else { say(line) }
      summary.add(result)
    }
    drawing.cancel()
    await drawing.value
    say("\(summary.counts), each byte as it was served.")
    return summary.isComplete
  }

  /// The file itself, or an error if it holds anything but `content`.
  private static func compare(_ file: DownloadedFile, with content: Data?) -> Result<DownloadedFile, any Error> {
    Result {
      guard try Data(contentsOf: file.location) == content else { throw Difference() }
      return file
    }
  }

  private struct Difference: Error, CustomStringConvertible {
    let description = "the file differs from what was served"
  }

  /// The same bytes for the same `count`, from the generator SplitMix64.
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
