import Futures

/// Runs rounds of random graphs, and prints their outcome.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct GraphRounds {
  /// The numbers of all graphs, for the last line.
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
      guard let round = runRound(number) else { return false }
      let growth = memory.growth()
      print("round \(number): \(round), \(growth) bytes")
      guard growth <= RoundMemory.tolerance else {
        print("failed: memory has grown by \(growth) bytes since the first rounds, more than \(RoundMemory.tolerance)")
        print("Again: futures-stress \(options.arguments)")
        return false
      }
      totals += round
      number += 1
    }
    print("\(number) rounds: \(totals); nothing was lost in \(start.duration(to: clock.now))")
    return true
  }

  /// Runs the graphs of one round.
  /// - Returns: The counts of the round, or `nil` if a check has failed.
  private func runRound(_ number: Int) -> Totals? {
    var totals = Totals()
    for graph in 0..<options.graphs {
      let seed = options.seed &+ UInt64(number * options.graphs + graph)
      let report = GraphRun(options, seed: seed).run()
      guard check(report, seed: seed) else { return nil }
      totals.add(report)
    }
    return totals
  }

  /// The number of faults of a graph that are printed.
  private static let limit = 5

  /// Prints the faults of a graph, each with the futures that it concerns.
  private func check(_ report: GraphReport, seed: UInt64) -> Bool {
    guard !report.faults.isEmpty else { return true }
    print("graph \(seed) failed: \(report.faults.count) faults in \(report.origins.count) futures")
    for fault in report.faults.prefix(Self.limit) {
      print("  " + (fault.node.map { "#\($0): " } ?? "") + fault.sentence)
      for line in fault.node.map({ report.origins.listing(of: $0) }) ?? [] { print(line) }
    }
    print("Again: futures-stress \(options.arguments(seed: seed))")
    return false
  }
}
