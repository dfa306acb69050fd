/// The progress of each running download, and of the whole, as lines of text.
///
/// It uses no terminal and no clock. The caller passes the time and the size of the terminal.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct ProgressBars {
  typealias Instant = ContinuousClock.Instant

  private struct File {
    let name: String
    let began: Instant
    var received: Int64 = 0
    var expected: Int64?

    var fraction: Double? {
      expected.map { $0 > 0 ? min(Double(received) / Double($0), 1) : 1 }
    }
  }

  private let began: Instant
  private let total: Int
  private let nameWidth: Int
  private var underWay: [File] = []
  private var endedCount = 0
  private var endedBytes: Int64 = 0

  /// Whether all files have ended.
  var isComplete: Bool { endedCount == total }

  /// Makes an empty set of bars, for files with these names.
  init(for names: [String], at now: Instant) {
    began = now
    total = names.count
    let longest = (names + [Self.nameOfWhole(total, of: total)]).map(\.terminalColumns).max() ?? 0
    nameWidth = min(longest, 32)
  }

  /// Adds a bar for a file.
  mutating func begin(_ name: String, at now: Instant) {
    underWay.append(File(name: name, began: now))
  }

  /// Updates the bytes of a file.
  mutating func update(_ name: String, received: Int64, of expected: Int64?) {
    guard let index = underWay.firstIndex(where: { $0.name == name }) else { return }
    (underWay[index].received, underWay[index].expected) = (received, expected)
  }

  /// Removes the bar of a finished or failed file.
  mutating func end(_ name: String) {
    endedCount += 1
    guard let index = underWay.firstIndex(where: { $0.name == name }) else { return }
    endedBytes += underWay.remove(at: index).received
  }

  /// Returns a line for each running download that fits, and a line for the whole.
  ///
  /// Each line is narrower than `columns`, because some terminals wrap a line that reaches the last column. All lines together
  /// are lower than `rows`, because the cursor is below them.
  func lines(whole fraction: Double, at now: Instant, columns: Int, rows: Int) -> [String] {
    guard rows > 1 else { return [] }
    var lines = underWay.prefix(rows - 2).map { file in
      ProgressLine(name: file.name, byteCount: file.received, elapsed: now - file.began, fraction: file.fraction)
    }
    let bytes = underWay.reduce(endedBytes) { $0 + $1.received }
    let name = Self.nameOfWhole(endedCount, of: total)
    lines.append(ProgressLine(name: name, byteCount: bytes, elapsed: now - began, fraction: fraction))
    return ProgressLayout(width: max(columns - 1, 0), nameWidth: nameWidth).texts(of: lines)
  }

  private static func nameOfWhole(_ count: Int, of total: Int) -> String {
    "\(count) of \(total) \(total == 1 ? "file" : "files")"
  }
}
