import AllocationCounter
import Futures

/// Runs rounds of random graphs, and prints their outcome.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct GraphRounds {
  /// The bytes that Dispatch, the runtime and the threads' caches can keep.
  private static let tolerance = 512 * 1_024
  /// The number of first rounds, which fill caches; the memory after them is the one that must not grow.
  private static let warmUp = 2

  let options: StressOptions

  /// Runs all rounds.
  /// - Returns: Whether all checks passed.
  func run() -> Bool {
    let arguments = options.arguments(seed: options.seed, rounds: options.rounds)
    print("futures-stress \(arguments): \(Operator.all.count) operators")
    let start = ContinuousClock.now
    var baseline = Int64(0)
    for number in 0..<options.rounds {
      guard let closures = runRound(number) else { return false }
      // Compared with the first rounds, not with the round before: a leak of a few bytes in each round adds up.
      let now = AllocationCounts.ofProcess().liveBytes
      if number < Self.warmUp { baseline = now }
      print("round \(number + 1): \(closures) closures, \(now - baseline) bytes")
      guard now - baseline <= Self.tolerance else {
        print("failed: memory has grown by more than \(Self.tolerance) bytes since the first rounds")
        print("Again: futures-stress \(arguments)")
        return false
      }
    }
    print("\(options.rounds) rounds: nothing was lost in \(.now - start)")
    return true
  }

  /// Runs the graphs of one round.
  /// - Returns: The number of closures in the graphs, or `nil` if a check has failed.
  private func runRound(_ number: Int) -> Int? {
    var closures = 0
    for graph in 0..<options.graphs {
      let seed = options.seed &+ UInt64(number * options.graphs + graph)
      let report = GraphRun(options, seed: seed).run()
      guard check(report, seed: seed) else { return nil }
      closures += report.records.count
    }
    return closures
  }

  /// Returns whether a graph has no faults; prints the first ones, each with the future that it concerns.
  private func check(_ report: GraphReport, seed: UInt64) -> Bool {
    guard !report.faults.isEmpty else { return true }
    print("graph \(seed) failed: \(report.faults.count) faults in \(report.futures.count) futures")
    for fault in report.faults.prefix(5) {
      print("  \(fault.sentence)" + (fault.node.map { ": #\($0), \(report.futures[$0] ?? "unknown")" } ?? ""))
    }
    print("Again: futures-stress \(options.arguments(seed: seed, rounds: 1))")
    return false
  }
}
