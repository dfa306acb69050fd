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

  /// Downloads all at once: the first by callback, the second by future, the others by await.
  private func downloadInThreeWays(_ downloads: [Download]) async -> [Row] {
    let (rows, ended) = AsyncStream.makeStream(of: Row.self)
    let (first, second) = (downloads[0], downloads[1])

    // Callback: the legacy layer as it is.
    let handle = downloader.download(first.url, to: first.destination) { result in
      ended.yield(Row(download: first, way: "callback", result: result))
    }
    token.register { handle.cancel() }

    // Future: the observer says where its closure runs.
    downloader.download(second.url, to: second.destination).cancelled(by: token).whenResolved(on: .global()) { result in
      ended.yield(Row(download: second, way: "future", result: result))
    }

    // Await: `value` is the file, or throws why there is none.
    for download in downloads[2...] {
      Task {
        do {
          let file = try await downloader.download(download.url, to: download.destination).cancelled(by: token).value
          ended.yield(Row(download: download, way: "await", result: .success(file)))
        } catch {
          ended.yield(Row(download: download, way: "await", result: .failure(error)))
        }
      }
    }

    return await rows.prefix(downloads.count).reduce(into: []) { $0.append($1) }
  }
}

extension Tour {
  private static let mebibytes = ["small.bin": 1, "medium.bin": 4, "large.bin": 8, "huge.bin": 16]

  /// Serves, downloads and compares the files, prints the table, and returns whether every byte arrived.
  func run() async throws -> Bool {
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
    for row in await downloadInThreeWays(downloads) {
      let result = row.result.flatMap { Self.compare($0, with: contents[row.download.name]) }
      say(table.line(row.download, result, row.way))
      summary.add(result)
    }
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
