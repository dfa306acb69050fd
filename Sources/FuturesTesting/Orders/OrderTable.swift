/// A row of the table that shows an order: a move.
struct OrderRow: Sendable {
  /// The column, by a move that stands for its context or task; steps, timers and the like share one.
  let column: OrderMove
  let name: String

  /// Whether the order of submission has another move in this place.
  let isDeviation: Bool
  let notes: [String]
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderFailure {
  /// The order as a table: a column for each context and task, a star where the order leaves that of submission, and the notes.
  ///
  /// `nil` if the order is empty, or if the table is larger than 110 columns or 60 rows.
  public var timeline: String? {
    guard !rows.isEmpty, rows.count <= 60 else { return nil }
    var starts: [OrderMove: Int] = [:]
    var width = rows.count > 9 ? 6 : 5  // of the star, the number and the spaces around them
    for row in rows where starts[row.column] == nil {
      starts[row.column] = width
      width += 2 + (rows.lazy.filter { $0.column == row.column }.map(\.name.count).max() ?? 0)
    }
    guard width <= 110 + 2 else { return nil }  // the last column needs no space after it
    return rows.enumerated().map { index, row in
      let number = "\(row.isDeviation ? "*" : " ") \(index < 9 && rows.count > 9 ? " " : "")\(index + 1)"
      let indentation = String(repeating: " ", count: (starts[row.column] ?? 0) - number.count)
      let notes = row.notes.isEmpty ? "" : "  — \(row.notes.joined(separator: "; "))"
      return number + indentation + row.name + notes
    }.joined(separator: "\n")
  }
}
