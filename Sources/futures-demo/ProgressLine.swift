import Foundation

/// The progress of a file, or of the whole.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct ProgressLine {
  let name: String
  let byteCount: Int64
  let elapsed: Duration

  /// The fraction in 0...1, or `nil` if the total is unknown.
  let fraction: Double?

  /// Text such as "42%", or the number of bytes if the total is unknown.
  fileprivate var amount: String {
    // Rounded up a little: a fraction of 0.2999… is 30 %.
    fraction.map { "\(Int($0 * 100 + 1e-9))%" } ?? "\(grouped(byteCount)) B"
  }

  /// The average speed.
  fileprivate var speed: String {
    let megabytes = Double(byteCount) / 1e6
    return String(format: "%.1f MB/s", elapsed > .zero ? megabytes / (elapsed / .seconds(1)) : 0)
  }

  /// The remaining time at the average speed, such as "0:07" or "1:02:03".
  fileprivate var timeLeft: String {
    guard let fraction, fraction > 0 else { return "--:--" }
    let seconds = (elapsed / .seconds(1) * (1 - fraction) / fraction).rounded(.up)
    guard seconds < 100 * 3600 else { return "--:--" }
    let (minutes, second) = Int(seconds).quotientAndRemainder(dividingBy: 60)
    let hours = minutes / 60
    return hours == 0
      ? String(format: "%d:%02d", minutes, second) : String(format: "%d:%02d:%02d", hours, minutes % 60, second)
  }
}

/// Lays lines out in columns: name, bar, amount, speed, time left.
///
/// If there is no room for all, it omits the time left, then the speed, then the bar, and then cuts the name.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct ProgressLayout {
  /// The width of a line.
  let width: Int

  /// The width of the names.
  let nameWidth: Int

  private static let gap = 2
  private static let barWidths = 12...42

  func texts(of lines: [ProgressLine]) -> [String] {
    let columns: [[String]] = [
      column(lines.map(\.amount), atLeast: 4), column(lines.map(\.speed), atLeast: 10),
      column(lines.map(\.timeLeft), atLeast: 5),
    ]
    for count in [3, 2, 1] {
      let shown = columns.prefix(count)
      let taken = nameWidth + shown.map { Self.gap + $0[0].terminalColumns }.reduce(0, +)
      let barWidth = min(width - taken - Self.gap, Self.barWidths.upperBound)
      guard barWidth >= Self.barWidths.lowerBound else { continue }
      return lines.indices.map { index in
        let line = lines[index]
        let words = [line.name.fitted(to: nameWidth), bar(line, width: barWidth)] + shown.map { $0[index] }
        return words.joined(separator: String(repeating: " ", count: Self.gap))
      }
    }
    return zip(lines, columns[0]).map { line, amount in
      let room = width - amount.terminalColumns - 1
      guard room > 0 else { return line.name.fitted(to: width) }
      return line.name.fitted(to: min(room, nameWidth)) + " " + amount
    }
  }

  /// The texts, all as wide as the widest.
  private func column(_ texts: [String], atLeast minimum: Int) -> [String] {
    let width = texts.map(\.terminalColumns).reduce(minimum, max)
    return texts.map { $0.rightAligned(in: width) }
  }

  private func bar(_ line: ProgressLine, width: Int) -> String {
    let room = width - 2
    let done = Int(Double(room) * (line.fraction ?? 0))
    return "[" + String(repeating: "#", count: done) + String(repeating: "-", count: room - done) + "]"
  }
}
