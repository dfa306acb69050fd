import Futures
import FuturesTesting
import TestSupport
import Testing

@Suite("exploreOrders: random orders")
struct OrderStrategyTests {
  /// Submits work to six contexts with six items each: 2.7·10²⁴ orders.
  private func sixBySix(_ orders: Orders, _ work: @escaping @Sendable (_ context: String, _ number: Int) -> Void) {
    for name in ["a", "b", "c", "d", "e", "f"] {
      for number in 1...6 { orders.context(name).run { work(name, number) } }
    }
  }

  @Test(
    "A bug of three ordered moves in 2.7·10²⁴ orders is found with each seed",
    arguments: TestTier.choose(standard: [1, 2], thorough: Array(1...20))
  )
  func orderedMoves(seed: Int) async throws {
    let failure = try await explorationFailure {
      try await exploreOrders(limit: 400, seed: UInt64(seed), stopsAtFirstFailure: true) { orders in
        let log = RunRecord()
        sixBySix(orders) { log.add("\($0)\($1)") }
        try await orders.runAll()
        func place(_ name: String) -> Int { log.all.firstIndex(of: name) ?? 0 }
        // The last item of f comes before the first of a, and the last of e before the first of b.
        try Unexpected.unless(!(place("f6") < place("a1") && place("e6") < place("b1")), "found")
      }
    }
    #expect(failure != nil)
  }

  @Test("The search ends at the first failure if it is asked to, and goes on for the shortest order otherwise")
  func firstFailure() async throws {
    func failure(stops: Bool) async throws -> OrderFailure? {
      try await explorationFailure {
        try await exploreOrders(stopsAtFirstFailure: stops) { orders in
          for name in ["a", "b", "c"] { orders.context(name).run {} }
          try await orders.runAll()
          throw Unexpected(description: "always")
        }
      }
    }
    #expect(try await failure(stops: true)?.report.orders == 1)
    #expect(try await failure(stops: false)?.report.orders == 6)
  }

  @Test("Failures with different sentences are all named, each with its number and the string that repeats it")
  func twoBugs() async throws {
    let body: @Sendable (Orders) async throws -> Void = { orders in
      let log = RunRecord()
      for name in ["a", "b", "c"] { orders.context(name).run { log.add(name) } }
      try await orders.runAll()
      try Unexpected.unless(log.all.first != "b", "b is first")
      try Unexpected.unless(log.all.last != "a", "a is last")
    }
    let failure = try await explorationFailure { try await exploreOrders(body) }
    #expect(failure?.failedOrders == 3)
    #expect(failure?.otherFailures.count == 1)
    let other = try #require(failure?.otherFailures.first)
    #expect(other.sentence == "It threw: a is last")
    #expect(other.failedOrders == 1)
    #expect(
      failure?.description.contains("\nAlso in 1: It threw: a is last (repeating: \"\(other.repeating)\")") == true
    )
    let repeated = try await explorationFailure { try await exploreOrders(repeating: other.repeating, body) }
    #expect(repeated?.description.contains("It threw: a is last") == true)
  }

  @Test("After its time a search begins no further order, and the report says that there are more")
  func maximumDuration() async throws {
    let report = try await exploreOrders(maximumDuration: .zero) { orders in
      for name in ["a", "b"] { orders.context(name).run {} }
      try await orders.runAll()
    }
    #expect(report.orders == 1)
    #expect(report.description.hasPrefix("1 of at least 2 orders"))
    let other = try await exploreOrders(maximumDuration: .seconds(3600)) { orders in
      for name in ["a", "b"] { orders.context(name).run {} }
      try await orders.runAll()
    }
    #expect(other.isAll(2))
  }
}
