import Futures
import FuturesTesting
import TestSupport
import Testing

/// The text of a failed order.
@Suite("exploreOrders: the failure as text")
struct OrderReadingTests {
  /// Submits work to six contexts with six items each: 2.7·10²⁴ orders.
  ///
  /// The last item of f before the first of a is a bug.
  private func sixBySix(_ orders: Orders) async throws {
    let log = Recorder<String>()
    for name in ["a", "b", "c", "d", "e", "f"] {
      for number in 1...6 { orders.context(name).submit { log.record("\(name)\(number)") } }
    }
    try await orders.runAll()
    func place(_ name: String) -> Int { log.events.firstIndex(of: name) ?? 0 }
    try Unexpected.unless(!(place("f6") < place("a1")), "found")
  }

  @Test(
    "An order of 36 moves is shrunk to the fewest changes, and its moves are grouped; its string is short",
    arguments: [1, 2]
  )
  func shrinking(seed: Int) async throws {
    let failure = try #require(
      try await explorationFailure {
        try await exploreOrders(seed: UInt64(seed)) { try await sixBySix($0) }
      }
    )
    #expect(failure.order.count == 36)
    let changes = zip(failure.order, failure.order.dropFirst()).count { $0.prefix(1) != $1.prefix(1) }
    #expect(changes == 5, "\(failure)")
    #expect(failure.description.contains("(1–6) ▸ "), "\(failure)")
    #expect(failure.repeating.count < 40, "\(failure.repeating)")
    let repeated = try await explorationFailure {
      try await exploreOrders(repeating: failure.repeating) { try await sixBySix($0) }
    }
    #expect(repeated?.order == failure.order)
  }

  @Test("The table has a column for each context and task, a star at each deviation, and the notes")
  func timeline() async throws {
    let failure = try #require(
      try await explorationFailure {
        try await exploreOrders(fileID: "Tests/B.swift", line: 8) { orders in
          let log = Recorder<String>()
          let (network, screen) = (orders.context("network"), orders.context("screen"))
          for number in 1...3 { network.submit { log.record("n\(number)") } }
          screen.submit {
            log.record("s")
            orders.note("log: \(log.joined)")
          }
          await orders.step("tap")
          log.record("tap")
          try await orders.runAll()
          try Unexpected.unless(log.joined != "n1 n2 s tap n3", "found")
        }
      }
    )
    #expect(
      failure.description == """
        Fails in this order, found after 11 orders: network(1–2) ▸ screen ▸ tap ▸ network(3)
        It threw: found
             network  screen
          1  1–2
        * 2           1            — log: n1 n2 s
        * 3                   tap
          4  3
        Run it alone: exploreOrders(repeating: "n0n0s1t1") at Tests/B.swift:8
        """
    )
  }

  @Test("A task has its name in the order, and the place that made it")
  func tasks() async throws {
    let body: @Sendable (Orders) async throws -> Void = { orders in
      let log = Recorder<String>()
      let first = Task(name: "loader") {
        await orders.step("load")
        log.record("loader")
      }
      let line = #line + 1
      let second = Task { log.record("second") }
      _ = await (first.value, second.value)
      try Unexpected.unless(log.events.first != "second", "line \(line)")
    }
    let found = try await explorationFailure { try await exploreOrders(body) }
    let failure = try #require(found)
    #expect(failure.order.contains("loader"))
    #expect(!failure.order.contains("task 1"))
    #expect(failure.order.contains("task 2"))
    #if os(Linux)
      let line = failure.description.split(separator: "line ").dropFirst().first?.prefix { $0.isNumber } ?? ""
      #expect(
        failure.taskPlaces.contains { $0.hasPrefix("task 2: ") && $0.hasSuffix("OrderReadingTests.swift:\(line)") },
        "\(failure)"
      )
    #endif
  }
}
