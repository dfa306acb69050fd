import Foundation
import Futures

/// Progress bars at the bottom of a terminal, below the lines of finished files.
///
/// Any thread can report a new state. The bars are drawn at their own rate.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
final class Bars: Sendable {
  /// A promise whose progress is that of all downloads together.
  let whole = Promise<Void, Never>()

  private struct Bar {
    var began = ContinuousClock.now
    var received: Int64 = 0
    var fraction: Double?
  }

  private struct State {
    var running: [(name: String, bar: Bar)] = []
    var (endedCount, endedBytes) = (0, Int64(0))
    /// Lines to print above the bars.
    var finished: [String] = []
    /// The rows on the screen to draw over.
    var drawnCount = 0
  }

  private let state = Locked(State())
  private let began = ContinuousClock.now
  private let count: Int
  private let nameWidth: Int

  /// Makes bars, if standard output is a terminal that can redraw lines.
  init?(for downloads: [Download]) {
    guard isatty(STDOUT_FILENO) == 1, ProcessInfo.processInfo.environment["TERM"] != "dumb" else { return nil }
    count = downloads.count
    nameWidth = min(downloads.map(\.name.count).reduce(14, max), 32)
  }

  /// Shows the received bytes of a file.
  func update(_ download: Download, received: Int64 = 0, of expected: Int64? = nil) {
    state.withLock { state in
      let index = state.running.firstIndex { $0.name == download.name } ?? state.running.endIndex
      if index == state.running.endIndex { state.running.append((download.name, Bar())) }
      state.running[index].bar.received = received
      state.running[index].bar.fraction = expected.map { $0 > 0 ? min(Double(received) / Double($0), 1) : 1 }
    }
  }

  /// Removes the bar of a file, and prints `line` above the other bars.
  func end(_ download: Download, _ line: String) {
    let isLast = state.withLock { state in
      state.finished.append(line)
      state.endedCount += 1
      if let index = state.running.firstIndex(where: { $0.name == download.name }) {
        state.endedBytes += state.running.remove(at: index).bar.received
      }
      return state.endedCount == count
    }
    if isLast { whole.succeed() }
  }

  /// Draws changes 20 times a second until the task is cancelled, and then removes the bars.
  func keepDrawing() async {
    while !Task.isCancelled {
      draw(isLast: false)
      try? await Task.sleep(for: .milliseconds(50))
    }
    draw(isLast: true)
  }

  /// Overwrites the previous bars with the finished lines and the new bars, in one write.
  ///
  /// The cursor stays below the bars, so the screen is intact however the process ends.
  private func draw(isLast: Bool) {
    let (columns, rows) = Self.terminalSize
    let fraction = whole.future.currentProgress.fractionCompleted
    let text = state.withLock { state in
      let bytes = state.running.reduce(state.endedBytes) { $0 + $1.bar.received }
      let name = "\(state.endedCount) of \(count) \(count == 1 ? "file" : "files")"
      let bars =
        state.running.prefix(max(rows - 2, 0)) + [(name, Bar(began: began, received: bytes, fraction: fraction))]
      let lines =
        isLast || rows < 2 ? [] : bars.map { line($0.name, $0.bar).prefix(columns - 1) + Self.eraseRest + "\n" }
      let up = state.drawnCount > 0 ? "\r\u{1B}[\(state.drawnCount)A" : ""
      // Overwriting does not flicker. A finished line can wrap, so it needs erased rows.
      let finished = state.finished.isEmpty ? "" : Self.eraseAll + state.finished.map { $0 + "\n" }.joined()
      (state.finished, state.drawnCount) = ([], lines.count)
      return up + finished + Self.wrapsOff + lines.joined() + Self.eraseAll + Self.wrapsOn
    }
    // Outside the lock: a terminal can be slow, and reports must not wait for it.
    put(text)
  }

  private static let (eraseRest, eraseAll) = ("\u{1B}[K", "\u{1B}[J")

  /// Without wrapping, a wide character that exceeds the row adds no row.
  private static let (wrapsOff, wrapsOn) = ("\u{1B}[?7l", "\u{1B}[?7h")

  /// Text such as "large.bin  [#####-----]   50%   12.3 MB/s   0:07"; if the size is unknown, the bytes instead of
  /// "50%".
  private func line(_ name: String, _ bar: Bar) -> String {
    let seconds = bar.began.duration(to: .now) / .seconds(1)
    let fraction = bar.fraction ?? 0
    let done = String(repeating: "#", count: Int(fraction * 30))
    // Rounded up a little: a fraction of 0.2999… is 30 %.
    let amount = bar.fraction.map { "\(Int($0 * 100 + 1e-9))%" } ?? "\(grouped(bar.received)) B"
    let left = fraction > 0 ? Int(min(seconds * (1 - fraction) / fraction, 359_999).rounded(.up)) : nil
    let time = left.map { String(format: "%d:%02d", $0 / 60, $0 % 60) } ?? "--:--"
    return name.prefix(nameWidth).padded(to: nameWidth) + "  [" + done.padded(to: 30, with: "-") + "] "
      + amount.padded(to: 5, atStart: true)
      + String(format: "%7.1f MB/s", Double(bar.received) / 1e6 / max(seconds, 1e-3))
      + time.padded(to: 8, atStart: true)
  }

  /// The current size, or 80 by 24 if the terminal does not report it.
  private static var terminalSize: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }
}
