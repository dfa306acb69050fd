/// A row of the table that shows an order: a move.
struct OrderRow: Sendable {
  /// The heading of its column; `nil` for steps, timers and the like, which share the last column.
  let column: String?
  let cell: String

  /// Whether the order of submission has another move in this place.
  let isDeviation: Bool

  /// The notes of the test in this move.
  let notes: [String]
}

extension [OrderRow] {
  /// The table; `nil` if there are no rows, or if it is larger than 110 columns or 60 rows.
  var table: String? {
    guard !isEmpty, count <= 60 else { return nil }
    var headings: [String?] = []
    for row in self where row.column != nil && !headings.contains(row.column) { headings.append(row.column) }
    headings.append(nil)
    var lines = [["  "] + headings.map { $0 ?? "" } + [""]]
    for (index, row) in enumerated() {
      let number = "\(row.isDeviation ? "*" : " ") \(index < 9 && count > 9 ? " " : "")\(index + 1)"
      let notes = row.notes.isEmpty ? "" : "— \(row.notes.joined(separator: "; "))"
      lines.append([number] + headings.map { $0 == row.column ? row.cell : "" } + [notes])
    }
    let widths = (0...headings.count).map { column in lines.map { $0[column].count }.max() ?? 0 } + [0]
    guard widths.reduce(0, { $0 + 2 + $1 }) <= 112 else { return nil }
    return lines.map { cells in
      var line = zip(cells, widths).map { $0 + String(repeating: " ", count: Swift.max(0, $1 - $0.count)) }.joined(
        separator: "  "
      )
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }
}
