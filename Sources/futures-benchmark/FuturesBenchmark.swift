import AllocationCounter
import Foundation

/// Measures the library against the budget of each row; `--help` lists the options.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
@main
struct FuturesBenchmark {
  static func main() {
    // Counting costs more than a small allocation, so it is on only while the benchmark counts.
    AllocationCounts.setEnabled(false)
    do {
      try run(Options(Array(CommandLine.arguments.dropFirst())))
    } catch let mistake as Options.Mistake {
      fail(mistake.sentence, code: 2)
    } catch {
      fail("The report could not be written: \(error)", code: 1)
    }
  }

  private static func run(_ options: Options) throws {
    if options.isHelp { return print(Options.help) }
    if let repetition = options.repetition { return print(try repetition.run()) }  // of one row, for a profiler
    #if DEBUG
      FileHandle.standardError.write(Data("This is a debug build: its times and counts say nothing.\n".utf8))
    #endif
    if !AllocationCounts.areSupported {
      FileHandle.standardError.write(Data("Allocations are not counted on this system and read 0.\n".utf8))
    }
    // Allocations per stage, callback or step do not depend on the size, so small sizes are enough to count them.
    let harness = Harness(isQuick: options.isQuick || options.isUntimed, isTimed: !options.isUntimed)
    var rows: [Row] = []
    print(Table.head)
    for row in options.rows.lazy.flatMap({ $0.measure(harness) }) {
      rows.append(row)
      print(Table.lines(row).joined(separator: "\n"))
      fflush(nil)
    }
    if let file = options.figures { try Figure.write(rows, to: file) }
    if let file = options.plot { try ScalingPlot(of: rows).write(to: file) }
    #if !DEBUG
      // Times are for reading only: they depend on the machine, and on what else it does.
      let exceeded = rows.filter { row in row.budget.contains { $0.isOfAllocations && !$0.isMet(by: row) } }
      if AllocationCounts.areSupported, !exceeded.isEmpty {
        fail("More allocations or bytes than the budget: \(exceeded.map(\.name).joined(separator: ", ")).", code: 1)
      }
    #endif
  }

  private static func fail(_ sentence: String, code: Int32) -> Never {
    FileHandle.standardError.write(Data("futures-benchmark: \(sentence)\n".utf8))
    exit(code)
  }
}
