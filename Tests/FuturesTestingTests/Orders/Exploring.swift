import Futures
import FuturesTesting
import TestSupport
import Testing

extension Recorder<String> {
  var joined: String { events.joined(separator: " ") }
}

extension OrderReport {
  /// Whether exactly `count` orders ran, and these were all; the description says "all" only where outside work is
  /// observed.
  func isAll(_ count: Int) -> Bool { isExhaustive && orders == count }
}

/// Explores a body, and returns the different records of the runs, sorted.
func differentRecords(
  _ body: @escaping @Sendable (Orders, Recorder<String>) async throws -> Void
) async throws -> [String] {
  let runs = Recorder<String>()
  let report = try await exploreOrders { orders in
    let run = Recorder<String>()
    try await body(orders, run)
    try await orders.runAll()
    runs.record(run.joined)
  }
  #expect(report.isExhaustive)
  return Set(runs.events).sorted()
}

/// The failure of an exploration; `nil` if it passes.
func explorationFailure(of explore: () async throws -> OrderReport) async throws -> OrderFailure? {
  do {
    _ = try await explore()
    return nil
  } catch let failure as OrderFailure {
    return failure
  }
}
