import Futures
import FuturesTesting
import TestSupport
import Testing

extension Recorder<String> {
  var joined: String { events.joined(separator: " ") }
}

/// Explores a body, and returns the different records of the runs, sorted.
func differentRecords(
  _ body: @escaping @Sendable (Orders, Recorder<String>) async throws -> Void
) async throws -> [String] {
  try await explore(body).records
}

/// Explores a body, and returns the different records of the runs, sorted, and the report.
func explore(
  _ body: @escaping @Sendable (Orders, Recorder<String>) async throws -> Void
) async throws -> (records: [String], report: OrderReport) {
  let runs = Recorder<String>()
  let report = try await exploreOrders { orders in
    let run = Recorder<String>()
    try await body(orders, run)
    try await orders.runAll()
    runs.record(run.joined)
  }
  #expect(report.isExhaustive, "\(report)")
  return (Set(runs.events).sorted(), report)
}

/// As `explore`, with a body on the main actor.
@MainActor
func exploreOnMain(
  _ body: @escaping @MainActor (Orders, Recorder<String>) async throws -> Void
) async throws -> (records: [String], report: OrderReport) {
  var runs: Set<String> = []
  let report = try await exploreOrders { orders in
    MainActor.assertIsolated()
    let run = Recorder<String>()
    try await body(orders, run)
    try await orders.runAll()
    runs.insert(run.joined)
  }
  #expect(report.isExhaustive, "\(report)")
  return (runs.sorted(), report)
}

/// A body with what its report or its failure says, and the order in which it fails where that is the subject.
struct BodyRow: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let order: [String]?
  let texts: [String]
  let limit: Int
  let body: @Sendable @isolated(any) (Orders) async throws -> Void

  init(
    _ name: String,
    _ order: [String]? = nil,
    limit: Int = 1_000,
    says texts: String...,
    body: @escaping @Sendable @isolated(any) (Orders) async throws -> Void
  ) {
    (testDescription, self.order, self.texts, self.limit, self.body) = (name, order, texts, limit, body)
  }
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
