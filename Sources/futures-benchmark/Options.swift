/// The parsed command line.
struct Options {
  /// The rows to measure.
  private(set) var rows = allRows
  var isQuick = false
  var isUntimed = false
  var isHelp = false
  /// The file for the figures that the documentation quotes.
  var figures: String?
  /// The file for the picture.
  var plot: String?
  /// The row to run without a measurement.
  var repetition: Repetition?

  /// An error in the command line.
  struct Mistake: Error {
    /// Says what is wrong, and what to write instead.
    let sentence: String
  }

  static let help = """
    Usage: swift run -c release futures-benchmark [options]

      --rows NAMES   Measure only these rows, such as C2,B1. The names are
                     \(allRows.map(\.name).joined(separator: ", ")),
                     \(scalingRows.map(\.name).joined(separator: ", ")). The default is all but S.
      --scaling      Measure the rows S: how costs grow with the number of parts, and of threads.
      --repeat ROW N Run the library's part of one row N times, measure nothing, and print the number of operations: for
                     a profiler. ROW is a name from the first column of the table, such as C2 or "C9 cancel".
      --allocations  Count allocations and measure no time: every row in a few seconds.
      --quick        Few, short samples and smaller sizes: shows that it runs, not how fast.
      --figures FILE Also write the figures that the documentation quotes: see .ci/check-words.
      --plot FILE    Also draw the rows of --scaling to FILE, an SVG picture.
      --help         Print this.

    ×floor is the cost in relation to the floor below the row, measured in the same samples. Each number is a
    median. allocs and bytes count every malloc of one operation, the user's own closures included. Growth is in
    relation to the growth of the floor, if there is one. Exceeded limits are in [brackets]. Counts are the same on each
    machine, times are not: up to 1.3 times a limit of time is "near", and only more is "NO".

    Exit code: 1 if a limit of allocations or bytes is exceeded, 2 if the options are wrong.
    """

  init(_ arguments: [String]) throws(Mistake) {
    var arguments = arguments[...]
    while let option = arguments.popFirst() {
      switch option {
      case "--quick": isQuick = true
      case "--allocations": isUntimed = true
      case "--scaling": rows = scalingRows
      case "--rows": rows = try Self.rows(arguments.popFirst())
      case "--figures", "--plot":
        guard let file = arguments.popFirst() else { throw Mistake(sentence: "\(option) needs the name of a file.") }
        if option == "--plot" { plot = file } else { figures = file }
      case "--repeat":
        guard let row = arguments.popFirst(), let count = arguments.popFirst().flatMap({ Int($0) }), count > 0 else {
          throw Mistake(sentence: "--repeat needs the name of a row and a number, such as --repeat C2 1000.")
        }
        repetition = Repetition(row: row, count: count)
      case "--help", "-h": isHelp = true
      default: throw Mistake(sentence: "\(option) is not an option; --help lists them.")
      }
    }
  }

  /// Returns the rows with these names, in the order of the table.
  private static func rows(_ list: String?) throws(Mistake) -> [RowDefinition] {
    let names = list?.split(separator: ",").map { $0.lowercased() } ?? []
    guard !names.isEmpty else { throw Mistake(sentence: "--rows needs the names of rows, such as C2,B1.") }
    let known = allRows + scalingRows
    for name in names where !known.contains(where: { $0.name.lowercased() == name }) {
      let rows = known.map(\.name).joined(separator: ", ")
      throw Mistake(sentence: "There is no row \(name.uppercased()); the rows are \(rows).")
    }
    return known.filter { names.contains($0.name.lowercased()) }
  }
}
