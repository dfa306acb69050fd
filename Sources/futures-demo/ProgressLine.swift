import Foundation

/// How far something has come: a file, or the whole.
struct ProgressLine {
  let name: String
  let byteCount: Int64
  let elapsed: Duration

  /// The part that is done, in 0...1; `nil` while nobody knows how much there is.
  let fraction: Double?

  /// Such as "42%"; without a whole there is no percentage, and the bytes stand there.
  fileprivate var amount: String {
    // Less would be one percent too few where the fraction is a hair less than it should be.
    fraction.map { "\(Int($0 * 100 + 1e-9))%" } ?? "\(grouped(byteCount)) B"
  }

  /// The average so far.
  fileprivate var speed: String {
    let megabytes = Double(byteCount) / 1e6
    return String(format: "%.1f MB/s", elapsed > .zero ? megabytes / (elapsed / .seconds(1)) : 0)
  }

  /// The time for the rest, if it goes on at the average speed, such as "0:07" or "1:02:03".
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
/// Where there is no room for all of them, the time left goes first, then the speed, then the bar, and then the name is cut.
struct ProgressLayout {
  /// How many columns a line may take.
  let width: Int

  /// How many columns the names take.
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
