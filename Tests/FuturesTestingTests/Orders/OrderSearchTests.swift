import Futures
import FuturesTesting
import TestSupport
import Testing

/// Which orders the search runs.
struct OrderSearchTests {
  /// Submits items to contexts of which each has the same number, and returns their order.
  private func run(_ contexts: [String], _ count: Int, _ orders: Orders) async throws -> String {
    let run = Recorder<String>()
    for name in contexts {
      for number in 1...count { orders.context(name).submit { run.record("\(name)\(number)") } }
    }
    try await orders.runAll()
    return run.joined
  }

  @Test("The first order is that of submission, and a body with 252 orders runs in each of them")
  func all() async throws {
    let runs = Recorder<String>()
    let report = try await exploreOrders { orders in runs.record(try await run(["a", "b"], 5, orders)) }
    #expect(runs.events.first == "a1 a2 a3 a4 a5 b1 b2 b3 b4 b5")
    #expect(Set(runs.events).count == 252)
    #expect(report.isExhaustive && report.orders == 252)
  }

  @Test(
    "More orders than the limit: as many as the limit count, each once, and the report says that there are more",
    arguments: [1, 10, 251]
  )
  func limit(_ limit: Int) async throws {
    let runs = Recorder<String>()
    let report = try await exploreOrders(limit: limit) { orders in runs.record(try await run(["a", "b"], 5, orders)) }
    #expect(!report.isExhaustive)
    #expect(report.orders == limit)
    #expect(report.knownOrders > limit && report.knownOrders <= 252)
    #expect(report.description.hasPrefix("\(limit) of at least \(report.knownOrders) orders"))
    #expect(runs.events.count == limit && Set(runs.events).count == limit)
  }

  @Test("The orders after the first are random, begin differently, and a seed repeats them")
  func randomOrders() async throws {
    func explore(seed: UInt64) async throws -> [String] {
      let runs = Recorder<String>()
      try await exploreOrders(limit: 40, seed: seed) { orders in runs.record(try await run(["a", "b", "c"], 5, orders))
      }
      return runs.events
    }
    let orders = try await explore(seed: 1)
    #expect(Set(orders.dropFirst().map(\.first)) == ["a", "b", "c"])
    #expect(try await explore(seed: 1) == orders)
    #expect(try await explore(seed: 2) != orders)
  }

  /// Sequences in contexts, pairs of items that fail in this order, and how many changes of context that needs.
  struct Sequences: Sendable {
    let names: [String]
    let count: Int
    let pairs: [[String]]
    let changes: Int
  }

  static let sequences = [
    // One of 2.7·10²⁴ orders.
    Sequences(names: ["a", "b", "c", "d", "e", "f"], count: 6, pairs: [["f6", "a1"]], changes: 5),
    Sequences(names: ["a", "b"], count: 8, pairs: [["b8", "a8"], ["b1", "a1"]], changes: 1),
  ]

  @Test(
    "The first failing order ends the search, and is shrunk to the fewest changes; its string repeats it",
    arguments: sequences
  )
  func shrinking(_ sequences: Sequences) async throws {
    let runs = Recorder<String>()
    let body: @Sendable (Orders) async throws -> Void = { orders in
      let order = try await run(sequences.names, sequences.count, orders)
      runs.record(order)
      let isFound = sequences.pairs.allSatisfy { pair in
        order.firstRange(of: pair[0])!.lowerBound < order.firstRange(of: pair[1])!.lowerBound
      }
      try Unexpected.unless(!isFound, "found")
    }
    let failure = try #require(await explorationFailure { try await exploreOrders(seed: 1, body) })
    let changes = zip(failure.order, failure.order.dropFirst()).count { $0.prefix(1) != $1.prefix(1) }
    #expect(changes == sequences.changes, "\(failure)")
    #expect(failure.repeating.count < 80, "\(failure.repeating)")
    let shown = runs.events.last
    let repeated = try await explorationFailure { try await exploreOrders(repeating: failure.repeating, body) }
    #expect(runs.events.last == shown)
    #expect(repeated?.order == failure.order && repeated?.repeating == failure.repeating)
  }

  @Test("The string of an order that the body does not have any more is a failure, also if the body passes")
  func staleString() async throws {
    func failure(of names: String, repeating string: String? = nil) async throws -> OrderFailure? {
      try await explorationFailure {
        try await exploreOrders(repeating: string) { orders in
          let order = try await run(names.map { "\($0)" }, 1, orders)
          try Unexpected.unless(!order.hasPrefix("c1 b1"), "found")
        }
      }
    }
    let string = try #require(await failure(of: "abc")).repeating
    #expect(try await failure(of: "abc", repeating: string)?.order == ["c", "b", "a"])
    let stale = [("abd", string), ("ab", string), ("abcd", string), ("abc", "2.1"), ("abc", "\(string).1"), ("a", "x")]
    for (names, string) in stale {
      let failure = try await failure(of: names, repeating: string)
      guard case .unknownOrder(let sentence)? = failure?.reason else {
        throw Unexpected(description: "\(names) \(string): \(String(describing: failure))")
      }
      #expect(sentence.hasPrefix("This order no longer exists"))
    }
  }

  @Test("Cancelling the calling task ends the search before the next order")
  func cancelling() async throws {
    let runs = Locked(0)
    let handle = Locked<Task<OrderReport, any Error>?>(nil)
    let start = AsyncStream.makeStream(of: Never.self)
    let search = Task {
      for await _ in start.stream {}
      return try await exploreOrders { orders in
        for name in ["a", "b"] { orders.context(name).submit {} }
        try await orders.runAll()
        runs.withLock { $0 += 1 }
        handle.withLock(\.self)?.cancel()
      }
    }
    handle.withLock { $0 = search }
    start.continuation.finish()
    await #expect(throws: CancellationError.self) { try await search.value }
    #expect(runs.withLock(\.self) == 1)
  }
}
