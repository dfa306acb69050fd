import Foundation
import Futures
import FuturesAsync
import ProgramSupport

/// Downloads four files from a server of its own: by callback, by future and by await.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
@main
struct FuturesDemo {
  private static let downloader = LegacyDownloader()
  private static let mebibytes = ["small.bin": 1, "medium.bin": 4, "large.bin": 8, "huge.bin": 16]

  static func main() async throws {
    let options = CommandLine.arguments.dropFirst()
    guard options.isEmpty || options == ["--graph"] else {  // `--help`, or a mistake
      complain("Usage: futures-demo [--graph]\n\n  --graph  Writes the graph of pending work to standard error.")
      exit(options == ["--help"] ? 0 : 2)
    }
    let showsGraph = !options.isEmpty
    FuturesDiagnostics.tracksPendingFutures = showsGraph

    let contents = mebibytes.mapValues { Data(repeating: UInt8($0), count: $0 << 20) }
    let server = try LoopbackServer { exchange in
      if showsGraph { Thread.sleep(forTimeInterval: 1) }  // so that there is pending work to show
      exchange.answer("200 OK", contents[String(exchange.path.dropFirst())] ?? Data())
    }
    defer { server.stop() }

    let names = mebibytes.keys.sorted { mebibytes[$0]! < mebibytes[$1]! }
    let bars = Bars(of: names)
    print(line("name", "bytes", "seconds", "MB/s", "reached by"))
    fflush(nil)  // before the bars, which write to the descriptor past the buffer of `print`
    let drawing = Task { await bars.keepDrawing() }
    let rows = downloadInThreeWays(names.map { ($0, server.url("/\($0)")) }, shownBy: bars)
    if showsGraph {
      try await Task.sleep(for: .milliseconds(500))  // half of the time that the server waits
      complain("\(FuturesDiagnostics.graph)")
    }
    var arrived = 0
    for try await row in rows.prefix(names.count) {  // one for each file; no call finishes the sequence
      bars.end(row.name, line(of: row))
      if (try? row.result.get().content) == contents[row.name] { arrived += 1 }
    }
    drawing.cancel()
    await drawing.value
    print("\(arrived) of \(names.count) files arrived, each byte as it was served.")
    exit(arrived == names.count ? 0 : 1)
  }

  /// A finished download, and the way in which it was called.
  private struct Row: Sendable {
    let name: String
    let way: String
    let result: Result<DownloadedFile, any Error>
  }

  /// Downloads all files at the same time: the first by callback, the second by future, the others by await.
  /// - Returns: The downloads in the order in which they end.
  private static func downloadInThreeWays(
    _ files: [(name: String, url: URL)],
    shownBy bars: Bars
  ) -> some AsyncSequence<Row, any Error> {
    // No call finishes the sequence: `main` takes a row for each file. It throws if all closures go away before the last row.
    callbackStream("demo") { rows in
      let (first, second) = (files[0], files[1])

      // Callback: the legacy layer.
      downloader.download(first.url, progress: { bars.update(first.name, $0, of: $1) }) { result in
        rows.yield(Row(name: first.name, way: "callback", result: result))
      }

      // Future: each callback names its context.
      let file = downloader.downloadFuture(second.url)
      file.whenProgressed(on: .immediate) {
        bars.update(second.name, $0.completedUnitCount, of: $0.totalUnitCount)
      }
      file.whenResolved(on: .global()) { result in
        rows.yield(Row(name: second.name, way: "future", result: result))
      }

      // Await: the function returns the file or throws.
      for (name, url) in files.dropFirst(2) {
        Task {
          do {
            let file = try await downloader.download(url) {
              bars.update(name, $0.completedUnitCount, of: $0.totalUnitCount)
            }
            rows.yield(Row(name: name, way: "await", result: .success(file)))
          } catch {
            rows.yield(Row(name: name, way: "await", result: .failure(error)))
          }
        }
      }
    }
  }

  /// Returns the line that the demo prints when a download has ended.
  private static func line(of row: Row) -> String {
    switch row.result {
    case .success(let file):
      let seconds = file.duration / .seconds(1)
      let speed = Double(file.content.count) / 1e6 / max(seconds, 1e-9)
      let numbers = [String(file.content.count), String(format: "%.3f", seconds), String(format: "%.1f", speed)]
      return line(row.name, numbers[0], numbers[1], numbers[2], row.way)
    case .failure(let error):
      return "\(row.name) failed: \(error)"
    }
  }

  /// Returns a line of the table, in columns of 12 characters: the name aligned left, the others aligned right.
  private static func line(_ name: String, _ columns: String...) -> String {
    name.padding(toLength: 12, withPad: " ", startingAt: 0)
      + columns.map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }.joined()
  }

  private static func complain(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }
}
