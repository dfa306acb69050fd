import Foundation
import Futures

/// Draws progress bars on a terminal in place, below the lines of finished files.
///
/// Any thread can report a new state. The screen draws at its own rate.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
final class ProgressScreen: Sendable {
  /// The progress of the whole.
  ///
  /// Each download is a part of it.
  let whole = Promise<Void, Never>()

  private struct State {
    var bars: ProgressBars
    /// Lines to print above the bars.
    var finished: [String] = []
    var screen = RedrawnLines()
  }

  private let state: Locked<State>

  /// Makes a screen, if standard output is a terminal that can redraw lines.
  init?(for downloads: [Download]) {
    guard Terminal.canRedraw else { return nil }
    state = Locked(State(bars: ProgressBars(for: downloads.map(\.name), at: .now)))
  }

  /// Adds a bar for a file.
  func begin(_ download: Download) {
    state.withLock { $0.bars.begin(download.name, at: .now) }
  }

  /// Updates the received bytes of a file.
  func update(_ download: Download, received: Int64, of expected: Int64?) {
    state.withLock { $0.bars.update(download.name, received: received, of: expected) }
  }

  /// Updates a file from the progress of its future, which counts bytes.
  func update(_ download: Download, _ progress: FutureProgress) {
    update(download, received: progress.completedUnitCount, of: progress.totalUnitCount)
  }

  /// Removes the bar of a file, and prints `line` above the other bars.
  func end(_ download: Download, _ line: String) {
    let isLast = state.withLock { state in
      state.finished.append(line)
      state.bars.end(download.name)
      return state.bars.isComplete
    }
    if isLast { whole.succeed() }
  }

  /// Draws changes, at most 20 times a second, until the task is cancelled.
  ///
  /// Then it removes the bars.
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
    // Outside the lock: a terminal can be slow, and reports must not wait for it.
    if !text.isEmpty { put(text) }
  }
}
