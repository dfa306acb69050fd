import Futures
import FuturesTesting
import Testing

@Suite("exploreOrders: the search")
struct OrderSearchTests {
  @Test("Two contexts with two items each run in all six orders, each once")
  func sixOrders() async throws {
    let runs = RunRecord()
    let report = try await exploreOrders { orders in
      let run = RunRecord()
      for name in ["a", "b"] {
        for number in 1...2 { orders.context(name).run { run.add("\(name)\(number)") } }
      }
      try await orders.runAll()
      runs.add(run.joined)
    }
    #expect(
      runs.all.sorted() == [
        "a1 a2 b1 b2", "a1 b1 a2 b2", "a1 b1 b2 a2", "b1 a1 a2 b2", "b1 a1 b2 a2", "b1 b2 a1 a2",
      ]
    )
    #expect(report.isAll(6))
    #expect(report.isExhaustive)
  }

  @Test("Two contexts with five items each run in 252 orders")
  func fiveItemsEach() async throws {
    let report = try await exploreOrders { orders in
      for name in ["a", "b"] {
        for _ in 1...5 { orders.context(name).run {} }
      }
      try await orders.runAll()
    }
    #expect(report.isAll(252))
  }

  @Test("A body without work is one order")
  func oneOrder() async throws {
    let report = try await exploreOrders { _ in }
    #expect(report.isAll(1))
  }

  @Test(
    "More orders than the limit: as many as the limit run, each once, and the report says that there are more",
    arguments: [10, 100, 251]
  )
  func limit(_ limit: Int) async throws {
    let runs = RunRecord()
    let report = try await exploreOrders(limit: limit) { orders in
      let run = RunRecord()
      for name in ["a", "b"] {
        for _ in 1...5 { orders.context(name).run { run.add(name) } }
      }
      try await orders.runAll()
      runs.add(run.joined)
    }
    #expect(!report.isExhaustive)
    #expect(report.orders == limit)
    #expect((limit + 1...252).contains(report.knownOrders))
    #expect(Set(runs.all).count == limit)
    #expect(report.description.hasPrefix("\(limit) of at least \(report.knownOrders) orders"))
  }

  @Test("Each second order is random, in the second half all; they begin differently, and a seed repeats them")
  func randomOrders() async throws {
    func explore(seed: UInt64) async throws -> [String] {
      let runs = RunRecord()
      try await exploreOrders(limit: 40, seed: seed) { orders in
        let run = RunRecord()
        for name in ["a", "b", "c"] {
          for _ in 1...5 { orders.context(name).run { run.add(name) } }
        }
        try await orders.runAll()
        runs.add(run.joined)
      }
      return runs.all
    }
    let orders = try await explore(seed: 1)
    let first = orders.prefix(20).enumerated()
    #expect(Set(first.filter { $0.offset.isMultiple(of: 2) }.map(\.element.first)) == ["a"])
    #expect(Set(first.filter { !$0.offset.isMultiple(of: 2) }.map(\.element.first)) == ["a", "b", "c"])
    #expect(orders.dropFirst(20).count { $0.first == "a" } < 20)
    #expect(try await explore(seed: 1) == orders)
    #expect(try await explore(seed: 2) != orders)
  }

  @Test("The shortest failing order is reported, with its moves, the error, and the number of orders that failed")
  func shortestFailure() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let run = RunRecord()
        let (long, short) = (orders.context("long"), orders.context("short"))
        long.run { run.add("long") }
        short.run {
          // Submits more work if this item comes last.
          if run.all == ["long"] { short.run { run.add("more") } }
          run.add("short")
        }
        try await orders.runAll()
        throw Unexpected(description: run.joined)
      }
    }
    #expect(failure?.order == ["short", "long"])
    #expect(failure?.failedOrders == 2)
    #expect(failure?.repeating == "s1")
    guard case .thrown(let error)? = failure?.reason else {
      return #expect(Bool(false), "\(String(describing: failure))")
    }
    #expect("\(error)" == "short long")
  }

  @Test("The description of a failure names the order, the reason, and the call that repeats it")
  func description() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders(fileID: "Tests/A.swift", line: 7) { orders in
        let run = RunRecord()
        let (network, screen) = (orders.context("network"), orders.context("screen"))
        network.run { run.add("n1") }
        network.run { run.add("n2") }
        screen.run { run.add("s") }
        try await orders.runAll()
        try Unexpected.unless(run.all != ["n1", "s", "n2"], "the screen comes between")
      }
    }
    #expect(
      failure?.description == """
        1 of 3 orders failed: network(1) ▸ screen ▸ network(2)
        It threw: the screen comes between
        Run it alone: exploreOrders(repeating: "n0s1") at Tests/A.swift:7
        """
    )
  }

  @Test("The string of a failure repeats that order, and no other")
  func repeating() async throws {
    let runs = RunRecord()
    let body: @Sendable (Orders) async throws -> Void = { orders in
      let run = RunRecord()
      for name in ["a", "b"] {
        for number in 1...3 { orders.context(name).run { run.add("\(name)\(number)") } }
      }
      try await orders.runAll()
      runs.add(run.joined)
      try Unexpected.unless(run.all != ["a1", "b1", "b2", "a2", "b3", "a3"], "found")
    }
    let found = try await explorationFailure { try await exploreOrders(body) }
    #expect(found?.failedOrders == 1)
    let count = runs.all.count
    let repeated = try await explorationFailure { try await exploreOrders(repeating: found?.repeating, body) }
    #expect(runs.all.dropFirst(count) == ["a1 b1 b2 a2 b3 a3"])
    #expect(repeated?.order == found?.order)
    #expect(repeated?.repeating == found?.repeating)
    let other = try await exploreOrders(repeating: "b1", body)
    #expect(other.orders == 1)
    #expect(runs.all.last == "b1 a1 a2 a3 b2 b3")
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
        for name in ["a", "b"] { orders.context(name).run {} }
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
    let count = Shared(0)
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
      orders.context("a").run {}
      orders.context(run == 2 ? "c" : "b").run {}
      try await orders.runAll()
    }
    let sentence = "At the beginning this run had a, c, and an earlier run a, b."
    #expect(difference?.contains(sentence) == true, "\(difference ?? "")")
  }

  @Test("Other work between two decisions is not deterministic either")
  func otherForcedWork() async throws {
    let difference = try await nondeterminism { orders, run in
      orders.context(run == 2 ? "c" : "b").run {}
      try await orders.runAll()
      for name in ["d", "e"] { orders.context(name).run {} }
      try await orders.runAll()
    }
    #expect(difference?.contains("this run had c, and an earlier run b.") == true, "\(difference ?? "")")
  }

  @Test("A body that fails in one run, and passes when its order is repeated, is not deterministic")
  func otherResult() async throws {
    let difference = try await nondeterminism { orders, run in
      for name in ["a", "b"] { orders.context(name).run {} }
      try await orders.runAll()
      try Unexpected.unless(run != 1, "only once")
    }
    #expect(difference == "the order a ▸ b failed, and passed when it was repeated. It threw: only once")
  }

  @Test("Cancelling the calling task ends the search before the next order")
  func cancelling() async throws {
    let runs = Locked(0)
    let handle = Locked<Task<OrderReport, any Error>?>(nil)
    let start = AsyncStream.makeStream(of: Never.self)
    let search = Task {
      for await _ in start.stream {}
      return try await exploreOrders { orders in
        for name in ["a", "b"] { orders.context(name).run {} }
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
