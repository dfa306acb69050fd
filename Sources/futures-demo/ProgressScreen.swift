import Foundation
import Futures
import Synchronization

/// Shows on a terminal how far downloads have come: bars that are redrawn in place, below the lines of the files that ended.
///
/// Reports only leave the newest state, from any thread; the screen is drawn at its own pace, however fast they come.
final class ProgressScreen: Sendable {
  /// The whole, of which each download is a part: only its progress is of interest.
  let whole = Promise<Void, Never>()

  private struct State {
    var bars: ProgressBars
    /// Lines that are due above the bars.
    var finished: [String] = []
    var screen = RedrawnLines()
  }

  private let state: Mutex<State>

  /// A screen for these downloads, if standard output is a terminal that can show it.
  init?(for downloads: [Download]) {
    guard Terminal.canRedraw else { return nil }
    state = Mutex(State(bars: ProgressBars(for: downloads.map(\.name), at: .now)))
  }

  /// Adds a bar for a file.
  func begin(_ download: Download) {
    state.withLock { $0.bars.begin(download.name, at: .now) }
  }

  /// Takes note of how much of a file has arrived.
  func update(_ download: Download, received: Int64, of expected: Int64?) {
    state.withLock { $0.bars.update(download.name, received: received, of: expected) }
  }

  /// Takes note of the progress of a file's future, which counts bytes.
  func update(_ download: Download, _ progress: FutureProgress) {
    update(download, received: progress.completedUnitCount, of: progress.totalUnitCount)
  }

  /// Takes the bar of a file away, and prints `line` above the others.
  func end(_ download: Download, _ line: String) {
    let isLast = state.withLock { state in
      state.finished.append(line)
      state.bars.end(download.name)
      return state.bars.isComplete
    }
    if isLast { whole.succeed() }
  }

  /// Draws what is new, at most 20 times a second, until the task is cancelled; then only the lines of the files are left.
  func keepDrawing() async {
    while !Task.isCancelled {
      let fraction = whole.future.currentProgress.fractionCompleted
      draw { bars, size in bars.lines(whole: fraction, at: .now, columns: size.columns, rows: size.rows) }
      try? await Task.sleep(for: .milliseconds(50))
    }
    draw { _, _ in [] }
  }

  private func draw(_ lines: (ProgressBars, (columns: Int, rows: Int)) -> [String]) {
    let size = Terminal.size
    let text = state.withLock { state in
      let lines = lines(state.bars, size)
      defer { state.finished = [] }
      return state.screen.replace(with: lines, below: state.finished, columns: size.columns)
    }
    // Outside the lock: a terminal may take its time, and those who report should not wait for it.
    if !text.isEmpty { put(text) }
  }
}
