/// The report of a conversion: its changes, and the calls that stay.
struct ConversionSummary {
  private let lines: [String]

  init(lines: [String]) { self.lines = lines }

  init(_ conversion: Conversion) {
    var lines = ["\(conversion.convertedCount) of \(conversion.readyCount) ready calls converted."]
    if conversion.includesFunctions {
      let calls = "\(conversion.convertedNextCallCount) of \(conversion.nextCallCount) calls of the class next"
      let functions = "\(conversion.convertedFunctionCount) of \(conversion.nextFunctionCount) functions"
      lines.append("\(calls) are awaited in async counterparts, those of \(functions).")
      if conversion.doneFunctionCount > 0 {
        let others = CallersReport.plural(conversion.doneFunctionCount, "other function")
        lines.append("The async counterparts of \(others) do the work already.")
      }
    } else if conversion.nextCallCount > 0 {
      let next = CallersReport.plural(conversion.nextCallCount, "call")
      lines.append("\(next) of the class next: `convert --functions` converts the functions around them.")
    }
    if !conversion.addedCounterparts.isEmpty {
      lines.append("Counterparts added: \(conversion.addedCounterparts.joined(separator: ", "))")
    }
    lines += conversion.notes
    if !conversion.left.isEmpty { lines.append("Left:") }
    lines += conversion.left.map { "  \($0.place): \($0.title): \($0.reason)" }
    self.lines = lines
  }

  var text: String { lines.map { $0 + "\n" }.joined() }

  /// The report as lines that `git apply` ignores.
  var comment: String { lines.map { "# \($0)\n" }.joined() }
}
