/// One row that runs a number of times, without a measurement: for a profiler.
struct Repetition: Sendable {
  /// The name of the row as the table prints it, such as `C2` or `C9 cancel`; in any case.
  let row: String
  let count: Int

  /// Runs the row.
  /// - Returns: The number of operations: the repetitions times the parts of each.
  func run() throws(Options.Mistake) -> Int {
    let harness = Harness(repeating: self)
    for definition in allRows + scalingRows where isOfRow(definition.name) {
      for row in definition.measure(harness) {
        if let operations = row.repeatedOperations { return operations }
      }
    }
    throw Options.Mistake(
      sentence: "--repeat knows no row \(row). It needs a whole name from the first column, such as \"C9 cancel\"."
    )
  }

  /// Runs the body of a row, if it is the row to repeat; the harness calls this for each row.
  /// - Returns: The number of operations; `nil` for another row.
  func run(_ name: String, parts: Int, _ body: Body) -> Int? {
    guard name.lowercased() == row.lowercased() else { return nil }
    body.run(count)
    return count * parts
  }

  /// Whether `row` is of the definition with this name: the first word of a row is the name of its definition.
  private func isOfRow(_ name: String) -> Bool {
    row.prefix { $0 != " " }.lowercased() == name.lowercased()
  }
}
