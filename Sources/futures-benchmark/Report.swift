import Foundation

/// Prints rows as a table, one line as soon as each row is measured.
enum Table {
  static let head =
    columns("row", "ns", "×floor", "allocs", "bytes", "met") + "  " + "budget".padded(44) + "what is measured"

  /// Returns the line of a row, with missed and near limits in brackets, and the line of its floor if it has one.
  static func lines(_ row: Row) -> [String] {
    let limits = row.budget.map { (text: $0.text, verdict: $0.verdict(on: row)) }
    let worst = [Verdict.missed, .near, .met].first { verdict in limits.contains { $0.verdict == verdict } }
    let met = worst?.rawValue ?? ""
    let budget = limits.map { $0.verdict == .met ? $0.text : "[\($0.text)]" }.joined(separator: ", ")
    var work = row.work
    let limitsBytesLeft = row.budget.contains { if case .bytesLeft = $0 { true } else { false } }
    if limitsBytesLeft { work += "; \(row.ours.bytesLeft ?? 0) B left" }
    if let growth = row.growth { work += String(format: "; growth %.2f", growth) }
    return [
      line(row.name, row.ours, row.timesFloor, met) + "  " + budget.padded(44) + work
    ]
      + (row.floor.map { [line("", $0, nil, "") + "  " + "".padded(44) + "floor: \($0.name)"] } ?? [])
  }

  private static func line(_ name: String, _ measured: Measurement, _ timesFloor: Double?, _ met: String) -> String {
    columns(
      name,
      measured.nanoseconds.map { String(format: $0 < 1_000 ? "%.1f" : "%.0f", $0) } ?? "–",
      timesFloor.map { String(format: "%.2f", $0) } ?? "–",
      String(format: "%.2f", measured.allocations),
      String(format: "%.0f", measured.bytes),
      met
    )
  }

  /// Returns the name, and then the numbers, each at the right end of its column.
  private static func columns(_ name: String, _ numbers: String...) -> String {
    name.padded(33) + numbers.map { String(repeating: " ", count: max(1, 9 - $0.count)) + $0 }.joined()
  }
}

extension String {
  fileprivate func padded(_ width: Int) -> String {
    self + String(repeating: " ", count: max(1, width - count))
  }
}

/// A row in the file of `--figures`, which the documentation quotes; rounded, because later digits differ in each run.
struct Figure: Encodable {
  let row: String
  let nanoseconds: Double?
  let timesFloor: Double?
  let allocations: Double
  let limits: String

  init(_ row: Row) {
    self.row = row.name
    nanoseconds = row.ours.nanoseconds.map { ($0 * 10).rounded() / 10 }
    timesFloor = row.timesFloor.map { ($0 * 100).rounded() / 100 }
    allocations = (row.ours.allocations * 100).rounded() / 100
    limits = row.budget.map(\.text).joined(separator: ", ")
  }

  /// Writes one line for each row, so that a diff shows the rows that a later run changes.
  static func write(_ rows: [Row], to file: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let lines = try rows.map { "  " + String(decoding: try encoder.encode(Figure($0)), as: UTF8.self) }
    try Data("[\n\(lines.joined(separator: ",\n"))\n]\n".utf8).write(to: URL(fileURLWithPath: file))
  }
}
