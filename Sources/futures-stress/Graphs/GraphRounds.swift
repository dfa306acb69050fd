import Futures

/// Runs rounds of random graphs, and prints their outcome.
struct GraphRounds {
  /// What all graphs have had, for the last line.
  private struct Totals: CustomStringConvertible {
    var graphs = 0
    var futures = 0
    var closures = 0
    var runs = 0
    var removed = 0
    var awaits = 0

    mutating func add(_ report: GraphReport) {
      graphs += 1
      futures += report.origins.count
      closures += report.records.count
      awaits += report.awaits
      for record in report.records {
        runs += record.runs
        if record.wasRemoved { removed += 1 }
      }
    }

    static func += (totals: inout Totals, more: Totals) {
      totals.graphs += more.graphs
      totals.futures += more.futures
      totals.closures += more.closures
      totals.runs += more.runs
      totals.removed += more.removed
      totals.awaits += more.awaits
    }

    var description: String {
      "\(graphs) graphs, \(futures) futures, \(closures) closures, \(runs) calls, \(removed) removed, \(awaits) awaits"
    }
  }

  let options: StressOptions

  /// Runs all rounds.
  /// - Returns: Whether all checks passed.
  func run() -> Bool {
    print("futures-stress \(options.arguments): \(Operator.all.count) operators")
    let clock = ContinuousClock()
    let start = clock.now
    var (memory, totals, number) = (RoundMemory(), Totals(), 0)
    while options.duration.map({ start.duration(to: clock.now) < $0 }) ?? (number < options.rounds) {
      var (round, hasPassed) = (Totals(), true)
      let growth = memory.growth {
        for graph in 0..<options.graphs where hasPassed {
          let seed = options.seed &+ UInt64(number * options.graphs + graph)
          let report = GraphRun(options, seed: seed).run()
          hasPassed = Self.check(report, seed: seed, options)
          round.add(report)
        }
      }
      if hasPassed, number > 1, growth > RoundMemory.tolerance {
        print("round \(number) failed: \(growth) bytes more than after the round before")
        hasPassed = false
      }
      guard hasPassed else { return false }
      print("round \(number): \(round)")
      totals += round
      number += 1
    }
    print("\(number) rounds: \(totals); nothing was lost in \(start.duration(to: clock.now))")
    return true
  }

  /// The number of faults of a graph that are printed.
  private static let limit = 5

  /// Prints the faults of a graph, each with the futures that it concerns.
  private static func check(_ report: GraphReport, seed: UInt64, _ options: StressOptions) -> Bool {
    guard !report.faults.isEmpty else { return true }
    print("graph \(seed) failed: \(report.faults.count) faults in \(report.origins.count) futures")
    for fault in report.faults.prefix(limit) {
      print("  #\(fault.node): \(fault.sentence)")
      for line in report.origins.listing(of: fault.node) { print(line) }
    }
    print("Again: futures-stress \(options.arguments(seed: seed))")
    return false
  }
}
