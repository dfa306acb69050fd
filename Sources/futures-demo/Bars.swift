import Foundation
import Futures

/// Progress bars at the bottom of a terminal, below the lines of finished files.
///
/// Without a terminal it prints only the lines. Any thread can report a new state. The bars are drawn at their own rate.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
final class Bars: Sendable {
  private struct State {
    var running: [(name: String, fraction: Double)]
    /// Lines to print above the bars.
    var finished: [String] = []
    /// The number of bars on the screen, which the next drawing replaces.
    var drawnCount = 0
  }

  private let state: Locked<State>
  private let count: Int
  private let isTerminal = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"

  init(of names: [String]) {
    state = Locked(State(running: names.map { ($0, 0) }))
    count = names.count
  }

  /// Shows the received bytes of a file, if their total is known and the bar is still there.
  func update(_ name: String, _ received: Int64, of expected: Int64?) {
    state.withLock { state in
      guard let index = state.running.firstIndex(where: { $0.name == name }), let expected, expected > 0 else { return }
      state.running[index].fraction = min(Double(received) / Double(expected), 1)
    }
  }

  /// Removes the bar of a file, and prints `line` above the other bars with the next drawing; without a terminal, at once.
  func end(_ name: String, _ line: String) {
    state.withLock { state in
      state.finished.append(line)
      state.running.removeAll { $0.name == name }
    }
    if !isTerminal { draw() }
  }

  /// Draws the bars 20 times a second until the task is cancelled, and then for the last time; without a terminal, draws once.
  func keepDrawing() async {
    while isTerminal, !Task.isCancelled {
      draw()
      try? await Task.sleep(for: .milliseconds(50))
    }
    draw()
  }

  /// Overwrites the previous bars with the finished lines and the new bars, in one write.
  ///
  /// The cursor stays below the bars, so the screen is intact however the process ends.
  private func draw() {
    let text = state.withLock { state in
      // A finished file counts as 1.
      let whole = state.running.reduce(Double(count - state.running.count)) { $0 + $1.fraction } / Double(count)
      let bars = isTerminal && !state.running.isEmpty ? state.running + [("all", whole)] : []
      let lines = state.finished + bars.map(Self.line)
      // Moves the cursor up to the first bar, and erases from there to the end of the screen.
      let erasure = state.drawnCount > 0 ? "\r\u{1B}[\(state.drawnCount)A\u{1B}[J" : ""
      (state.finished, state.drawnCount) = ([], bars.count)
      return erasure + lines.map { $0 + "\n" }.joined()
    }
    // Outside the lock: a terminal can be slow, and reports must not wait for it.
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  /// Text such as "large.bin   [###############---------------]  50%".
  private static func line(_ name: String, _ fraction: Double) -> String {
    let done = String(repeating: "#", count: Int(fraction * 30))
    return name.padding(toLength: 12, withPad: " ", startingAt: 0) + "["
      + done.padding(toLength: 30, withPad: "-", startingAt: 0) + "]" + String(format: "%4d%%", Int(fraction * 100))
  }
}
