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

  @Test("Two contexts with two items each run in all six orders, the order of submission first")
  func sixOrders() async throws {
    let runs = Recorder<String>()
    let report = try await exploreOrders { orders in runs.record(try await run(["a", "b"], 2, orders)) }
    let all = [
      "a1 a2 b1 b2", "a1 b1 a2 b2", "a1 b1 b2 a2", "b1 a1 a2 b2", "b1 a1 b2 a2", "b1 b2 a1 a2",
    ]
    #expect(runs.events.first == all[0])
    #expect(Set(runs.events).sorted() == all)
    #expect(report.isAll(6))
  }

  @Test("A body without choices runs once, and one with 252 orders in each of them", arguments: [(0, 1), (5, 252)])
  func count(_ items: Int, _ count: Int) async throws {
    let runs = Locked(0)
    let report = try await exploreOrders { orders in
      runs.withLock { $0 += 1 }
      if items > 0 { _ = try await run(["a", "b"], items, orders) }
    }
    #expect(report.isAll(count))
    #expect(count > 1 || runs.withLock(\.self) == 1)
  }

  @Test("More orders than the limit: as many as the limit count, each once, and the report says that there are more")
  func limit() async throws {
    for limit in [1, 10, 251] {
      let runs = Recorder<String>()
      let report = try await exploreOrders(limit: limit) { orders in runs.record(try await run(["a", "b"], 5, orders)) }
      #expect(!report.isExhaustive)
      #expect(report.orders == limit)
      #expect(report.knownOrders > limit && report.knownOrders <= 252)
      #expect(report.description.hasPrefix("\(limit) of at least \(report.knownOrders) orders"))
      // One more shows that these are not all.
      #expect(Set(runs.events).count <= limit + 1)
    }
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
    #expect(orders[0] == orders[1])
    #expect(Set(orders.dropFirst(2).map(\.first)) == ["a", "b", "c"])
    #expect(try await explore(seed: 1) == orders)
    #expect(try await explore(seed: 2) != orders)
  }

  @Test("The first failing order ends the search, and is shrunk; its string repeats it, and no other")
  func repeating() async throws {
    let runs = Recorder<String>()
    let body: @Sendable (Orders) async throws -> Void = { orders in
      let order = try await run(["a", "b"], 3, orders)
      runs.record(order)
      // b1 and b2 between a1 and a2
      try Unexpected.unless(!order.hasPrefix("a1 b1 b2 a2"), "found")
    }
    let found = try await explorationFailure { try await exploreOrders(body) }
    let failure = try #require(found)
    #expect(failure.order == ["a(1)", "b(1)", "b(2)", "a(2)", "a(3)", "b(3)"])
    let repeated = try await explorationFailure { try await exploreOrders(repeating: failure.repeating, body) }
    #expect(runs.events.last == "a1 b1 b2 a2 a3 b3")
    #expect(repeated?.order == failure.order)
    #expect(repeated?.repeating == failure.repeating)
    let other = try await exploreOrders(repeating: "b1", body)
    #expect(other.orders == 1)
    #expect(runs.events.last == "b1 a1 a2 a3 b2 b3")
  }

  @Test("The description of a failure names the order, the reason, and the call that repeats it")
  func description() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders(fileID: "Tests/A.swift", line: 7) { orders in
        let run = Recorder<String>()
        let (network, screen) = (orders.context("network"), orders.context("screen"))
        network.submit { run.record("n1") }
        network.submit { run.record("n2") }
        screen.submit { run.record("s") }
        try await orders.runAll()
        try Unexpected.unless(run.events != ["n1", "s", "n2"], "the screen comes between")
      }
    }
    let text = try #require(failure).description.split(separator: "\n")
    #expect(
      text[0].hasPrefix("Fails in this order, found after ") && text[0].hasSuffix(": network(1) ▸ screen ▸ network(2)")
    )
    #expect(text[1] == "It threw: the screen comes between")
    #expect(text[2] == "Run it alone: exploreOrders(repeating: \"n0s1\") at Tests/A.swift:7")
  }

  @Test("If the order of submission fails, the call that repeats it has a limit of 1")
  func firstOrder() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        for name in ["a", "b"] { orders.context(name).submit {} }
        try await orders.runAll()
        throw Unexpected(description: "always")
      }
    }
    #expect(failure?.description.contains("Fails in this order: a ▸ b\n") == true)
    #expect(failure?.description.contains("Run it alone: exploreOrders(limit: 1) at ") == true)
  }

  @Test(
    "A string that does not fit the body is a failure",
    arguments: [
      ("x", "is not the string of an order"), ("z0", "decision 1 is “z0”, but the body offers a, b"),
      ("a9", "decision 1 is “a9”, but the body offers a, b"), ("a0a0", "has 2 decisions, but the body has 1"),
    ]
  )
  func unknownOrder(_ string: String, _ sentence: String) async throws {
    let failure = try await explorationFailure {
      try await exploreOrders(repeating: string) { orders in
        for name in ["a", "b"] { orders.context(name).submit {} }
        try await orders.runAll()
      }
    }
    guard case .unknownOrder? = failure?.reason else { return #expect(Bool(false), "\(String(describing: failure))") }
    #expect(failure?.description.contains(sentence) == true, "\(String(describing: failure))")
  }

  /// Explores a body that is not deterministic, and returns the difference of its runs.
  ///
  /// The body gets the number of its run, from 1.
  private func nondeterminism(
    of body: @escaping @Sendable (_ orders: Orders, _ run: Int) async throws -> Void
  ) async throws -> String? {
    let count = Locked(0)
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let run = count.withLock { count in
          count += 1
          return count
        }
        try await body(orders, run)
      }
    }
    guard case .notDeterministic(let difference)? = failure?.reason else {
      Issue.record("\(String(describing: failure))")
      return nil
    }
    return difference
  }

  @Test("A body with other work in each run is not deterministic, and the failure names the difference")
  func otherWork() async throws {
    let difference = try await nondeterminism { orders, run in
      orders.context("a").submit {}
      orders.context(run == 2 ? "c" : "b").submit {}
      try await orders.runAll()
    }
    let sentence = "At the beginning this run had a, c, and an earlier run a, b."
    #expect(difference?.contains(sentence) == true, "\(difference ?? "")")
  }

  @Test("A body that fails in one run, and passes when its order is repeated, is not deterministic")
  func otherResult() async throws {
    let difference = try await nondeterminism { orders, run in
      for name in ["a", "b"] { orders.context(name).submit {} }
      try await orders.runAll()
      try Unexpected.unless(run != 1, "only once")
    }
    #expect(difference == "the order a ▸ b failed, and passed when it was repeated. It threw: only once")
  }

  @Test("Waiters that are resumed in the order of a dictionary are deterministic: their moves are the same")
  func orderOfADictionary() async throws {
    let report = try await exploreOrders { orders in
      let waiters = Locked([Unique: UnsafeContinuation<Void, Never>]())
      for _ in 1...4 {
        Task {
          await withUnsafeContinuation { continuation in waiters.withLock { $0[Unique()] = continuation } }
        }
      }
      try await orders.runAll()
      for continuation in waiters.withLock({ Array($0.values) }) { continuation.resume() }
      try await orders.runAll()
    }
    #expect(report.isAll(576), "\(report)")
  }

  /// A key whose place in a dictionary is random.
  private final class Unique: Hashable, Sendable {
    static func == (left: Unique, right: Unique) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
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
