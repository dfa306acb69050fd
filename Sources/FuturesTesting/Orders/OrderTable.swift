/// A row of the table that shows an order: a move.
struct OrderRow: Sendable {
  /// The column, by a move that stands for its context or task; steps, timers and the like share one.
  let column: OrderMove
  let name: String

  /// Whether the order of submission has another move in this place.
  let isDeviation: Bool

  /// The notes of the test in this move.
  let notes: [String]
}

extension [OrderRow] {
  /// The table; `nil` if there are no rows, or if it is larger than 110 columns or 60 rows.
  var table: String? {
    guard !isEmpty, count <= 60 else { return nil }
    var (starts, width) = ([OrderMove: Int](), 0)
    for row in self where starts[row.column] == nil {
      starts[row.column] = width
      width += 2 + (lazy.filter { $0.column == row.column }.map(\.name.count).max() ?? 0)
    }
    guard width <= 105 else { return nil }
    return enumerated().map { index, row in
      let number = "\(row.isDeviation ? "*" : " ") \(index < 9 && count > 9 ? " " : "")\(index + 1)  "
      let notes = row.notes.isEmpty ? "" : "  — \(row.notes.joined(separator: "; "))"
      return number + String(repeating: " ", count: starts[row.column] ?? 0) + row.name + notes
    }.joined(separator: "\n")
  }
}
