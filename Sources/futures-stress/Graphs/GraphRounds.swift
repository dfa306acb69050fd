import AllocationCounter
import Futures

/// Runs rounds of random graphs, and prints their outcome.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct GraphRounds {
  /// The bytes that Dispatch, the runtime and the threads' caches can keep.
  private static let tolerance = 512 * 1_024
  /// The rounds that fill caches.
  private static let warmUp = 2

  let options: StressOptions

  /// Runs all rounds.
  /// - Returns: Whether all checks passed.
  func run() -> Bool {
    print("futures-stress \(options.arguments): \(Operator.all.count) operators")
    let clock = ContinuousClock()
    let start = clock.now
    var (number, first) = (0, Int64(0))
    while options.duration.map({ start.duration(to: clock.now) < $0 }) ?? (number < options.rounds) {
      guard let closures = runRound(number) else { return false }
      number += 1
      // A leak of a few bytes in each round adds up.
      let now = AllocationCounts.ofProcess().liveBytes
      if number <= Self.warmUp { first = now }
      print("round \(number): \(closures) closures, \(now - first) bytes")
      guard now - first <= Self.tolerance else {
        print("failed: memory has grown by more than \(Self.tolerance) bytes since the first rounds")
        print("Again: futures-stress \(options.arguments)")
        return false
      }
    }
    print("\(number) rounds: nothing was lost in \(start.duration(to: clock.now))")
    return true
  }

  /// Runs the graphs of one round.
  /// - Returns: The number of closures, or `nil` if a check has failed.
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

  /// Prints some faults of a graph, each with the future that it concerns.
  private func check(_ report: GraphReport, seed: UInt64) -> Bool {
    guard !report.faults.isEmpty else { return true }
    print("graph \(seed) failed: \(report.faults.count) faults in \(report.futures.count) futures")
    for fault in report.faults.prefix(5) {
      print("  \(fault.sentence)" + (fault.node.map { ": #\($0), \(report.futures[$0] ?? "unknown")" } ?? ""))
    }
    print("Again: futures-stress \(options.arguments(seed: seed))")
    return false
  }
}
