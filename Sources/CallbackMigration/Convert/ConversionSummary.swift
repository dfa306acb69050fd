/// The report of a conversion: its changes, and the calls that stay.
struct ConversionSummary {
  private let lines: [String]

  init(_ conversion: Conversion) {
    var lines = ["\(conversion.convertedCount) of \(conversion.readyCount) ready calls converted."]
    if !conversion.addedCounterparts.isEmpty {
      lines.append("Counterparts added: \(conversion.addedCounterparts.joined(separator: ", "))")
    }
    lines += conversion.notes
    if !conversion.left.isEmpty { lines.append("Left:") }
    lines += conversion.left.map { "  \($0.place): \($0.title): \($0.reason)" }
    self.lines = lines
  }

  var text: String { lines.map { $0 + "\n" }.joined() }

  /// As lines that `git apply` ignores.
  var comment: String { lines.map { "# \($0)\n" }.joined() }
}
