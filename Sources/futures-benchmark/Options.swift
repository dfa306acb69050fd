/// The command line, understood.
struct Options {
  var rows = allRows
  var isJSON = false
  var isQuick = false
  var isUntimed = false
  var isHelp = false
  /// Hidden: this process is the child that runs one deep work and prints its peak memory.
  var peakMemory: PeakMemory?

  /// What is wrong with the command line, in one sentence.
  struct Mistake: Error {
    let sentence: String
  }

  static let help = """
    Usage: swift run -c release futures-benchmark [--rows C2,B1] [--variants] [--allocations] [--json] [--quick]

      --rows NAMES  Measure only these rows: \(allRows.map(\.name).joined(separator: ", ")).
      --variants    Measure each row also with the failure type Never, and with values that are strings and objects.
      --allocations Count allocations and measure no time: every row and variant in a few seconds.
      --json        Print JSON instead of a table.
      --quick       Few, short samples and shorter recursions: shows that it runs, not how fast.
      --help        Print this.

    ×A is the cost in relation to allocating and releasing a final class with four words, measured around each
    sample; ×floor in relation to the first floor below the row, measured in the same samples. Each number is a
    median. allocs and bytes count every malloc of one operation, the user's own closures included. The part of
    a budget that was not met is in [brackets].
    """

  init(_ arguments: [String]) throws(Mistake) {
    var arguments = arguments[...]
    var hasVariants = false
    while let option = arguments.popFirst() {
      switch option {
      case "--json": isJSON = true
      case "--quick": isQuick = true
      case "--variants": hasVariants = true
      case "--allocations": (isUntimed, hasVariants) = (true, true)
      case "--help", "-h": isHelp = true
      case "--rows": rows = try Self.rows(arguments.popFirst())
      case PeakMemory.option:
        guard let row = arguments.popFirst(), let depth = arguments.popFirst().flatMap({ Int($0) }), depth > 0 else {
          throw Mistake(sentence: "\(option) needs the name of a row and a depth.")
        }
        peakMemory = PeakMemory(row: row, depth: depth)
      default: throw Mistake(sentence: "\(option) is not an option; --help lists them.")
      }
    }
    if hasVariants { rows = rows.flatMap(\.withVariants) }
  }

  /// The rows with these names, in the order of the table.
  private static func rows(_ list: String?) throws(Mistake) -> [RowDefinition] {
    guard let list, !list.isEmpty else { throw Mistake(sentence: "--rows needs the names of rows, such as C2,B1.") }
    let names = list.split(separator: ",").map { $0.lowercased() }
    for name in names where !allRows.contains(where: { $0.name.lowercased() == name }) {
      let known = allRows.map(\.name).joined(separator: ", ")
      throw Mistake(sentence: "There is no row \(name.uppercased()); the rows are \(known).")
    }
    return allRows.filter { names.contains($0.name.lowercased()) }
  }
}
