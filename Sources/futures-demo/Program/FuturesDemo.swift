import Foundation
import Futures
import FuturesAsync

/// A small downloader: callback code does the networking, futures wrap it, and async code drives it.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
@main
struct FuturesDemo {
  static func main() async {
    // A closed connection becomes an error of `write`, instead of a signal that ends the process.
    signal(SIGPIPE, SIG_IGN)
    do {
      let command = try Command(Array(CommandLine.arguments.dropFirst()))
      exit(await run(command))
    } catch {
      complain("futures-demo: \(error.message)")
      exit(2)
    }
  }

  private static func run(_ command: Command) async -> Int32 {
    let downloader = LegacyDownloader()
    // A signal or the deadline cancels this source. Its token reaches every download.
    let cancellation = CancellationTokenSource()
    let interruption = Locked<Int32?>(nil)
    let interrupts = onInterrupt { signal in
      interruption.withLock { $0 = $0 ?? signal }
      cancellation.cancel()
    }
    defer { for source in interrupts { source.cancel() } }
    if let deadline = command.deadline { cancellation.cancel(after: deadline) }
    let graphs = command.showsGraph ? writeGraphs() : nil
    defer { graphs?.cancel() }
    let isComplete: Bool
    do {
      switch command.work {
      case .help:
        say(Command.helpText)
        isComplete = true
      case .tour:
        let tour = Tour(downloader: downloader, token: cancellation.token)
        isComplete = try await tour.run(showsProgress: command.showsProgress)
      case .download(let urls, let folder):
        isComplete = await download(urls, to: folder, with: downloader, cancellation.token, command.showsProgress)
      }
    } catch {
      complain("futures-demo: The files could not be served: \(error.localizedDescription)")
      isComplete = false
    }
    // `settle` fails only in a cancelled task. This task is never cancelled.
    try? await downloader.settle()
    // A shell uses this code for a program that was ended by a signal.
    if let signal = interruption.withLock({ $0 }) { return 128 + signal }
    return isComplete ? 0 : 1
  }

  /// Writes the graph to standard error, first after a moment, and then each second while work is pending.
  private static func writeGraphs() -> Task<Void, any Error> {
    FuturesDiagnostics.tracksPendingFutures = true
    return Task.detached(name: "graphs") {
      while true {
        let graph = FuturesDiagnostics.graph
        for line in "\(graph)".split(separator: "\n") where !graph.nodes.isEmpty { complain(String(line)) }
        // The downloads of the tour take a tenth of a second.
        try await Task.sleep(for: graph.nodes.isEmpty ? .milliseconds(5) : .seconds(1))
      }
    }
  }

  /// Downloads every URL, prints a line for each when it ends, and returns whether all succeeded.
  private static func download(
    _ urls: [URL],
    to folder: URL,
    with downloader: LegacyDownloader,
    _ token: CancellationToken,
    _ showsProgress: Bool
  ) async -> Bool {
    var names = FileNames(in: folder)
    let downloads = urls.map { Download(url: $0, destination: names.file(for: $0)) }
    let table = Table(of: downloads)
    say(table.header())
    var summary = Summary(total: downloads.count)
    let bars = showsProgress ? Bars(for: downloads) : nil
    let drawing = Task { await bars?.keepDrawing() }
    await downloader.downloadAll(downloads, cancelledBy: token, shownBy: bars) { download, result in
      let line = table.line(download, result)
      if let bars { bars.end(download, line) } else { say(line) }
      summary.add(result)
    }
    drawing.cancel()
    await drawing.value
    say("\(summary.counts).")
    return summary.isComplete
  }
}
