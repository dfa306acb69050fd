import Futures
import FuturesTesting
import Testing

@Suite("exploreOrders: contexts that are declared independent")
struct IndependentContextTests {
  /// Explores contexts of which only the pairs in `touching` touch each other; `items` has their numbers of items.
  private func outcomes(
    _ items: [String: Int],
    touching: [(String, String)],
    declares: Bool
  ) async throws -> (report: OrderReport, outcomes: Set<String>) {
    let seen = Shared<Set<String>>([])
    let names = items.keys.sorted()
    let report = try await exploreOrders(limit: 100_000) { orders in
      let logs = touching.map { _ in RunRecord() }
      for name in names {
        let others = names.filter { other in
          !touching.contains { ($0 == name && $1 == other) || ($1 == name && $0 == other) }
        }
        let context = orders.context(name, independentOf: declares ? others : [])
        for number in 1...(items[name] ?? 1) {
          context.run {
            for (index, pair) in touching.enumerated() where pair.0 == name || pair.1 == name {
              logs[index].add("\(name)\(number)")
            }
          }
        }
      }
      try await orders.runAll()
      let outcome = logs.map(\.joined).joined(separator: " | ")
      seen.withLock { _ = $0.insert(outcome) }
    }
    #expect(report.isExhaustive)
    return (report, seen.withLock(\.self))
  }

  @Test("One order of each class runs, and the outcomes are those of the full search", .unlessSanitized)
  func outcomesOfPairs() async throws {
    let items = ["a": 2, "b": 1, "c": 2, "d": 1]
    let touching = [("a", "c"), ("b", "d")]
    let all = try await outcomes(items, touching: touching, declares: false)
    #expect(all.report.orders == 180)
    let reduced = try await outcomes(items, touching: touching, declares: true)
    #expect(reduced.outcomes == all.outcomes)
    #expect(reduced.report.orders == 12)  // 6 orders of a and c, 2 of b and d
    #expect(reduced.report.description == "all 12 orders, up to the order of independent contexts")
  }

  @Test("Contexts that touch in a chain, a star and a ring keep all outcomes", arguments: 0..<3)
  func shapes(_ shape: Int) async throws {
    let items = ["a": 2, "b": 1, "c": 1, "d": 2]
    let touching = [
      [("a", "b"), ("b", "c"), ("c", "d")], [("a", "b"), ("a", "c"), ("a", "d")],
      [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")],
    ][shape]
    let all = try await outcomes(items, touching: touching, declares: false)
    let reduced = try await outcomes(items, touching: touching, declares: true)
    #expect(reduced.outcomes == all.outcomes)
    #expect(reduced.report.orders == all.outcomes.count)  // each class of equivalent orders once
    #expect(reduced.report.orders < all.report.orders)
  }

  @Test("Items that submit more work, and a task, keep all outcomes")
  func withTasks() async throws {
    func outcomes(declares: Bool) async throws -> (OrderReport, Set<String>) {
      let seen = Shared<Set<String>>([])
      let report = try await exploreOrders { orders in
        let (left, right) = (RunRecord(), RunRecord())
        let a = orders.context("a", independentOf: declares ? ["b"] : [])
        let b = orders.context("b")
        a.run {
          left.add("a1")
          a.run { left.add("a2") }
        }
        b.run { right.add("b1") }
        let task = Task {
          left.add("task")
          await orders.step("step")
          right.add("step")
        }
        await task.value
        try await orders.runAll()
        seen.withLock { _ = $0.insert("\(left.joined) | \(right.joined)") }
      }
      return (report, seen.withLock(\.self))
    }
    let (all, reduced) = (try await outcomes(declares: false), try await outcomes(declares: true))
    #expect(reduced.1 == all.1)
    #expect(reduced.0.orders < all.0.orders)
  }

  @Test("All contexts are independent: one order")
  func allIndependent() async throws {
    let (report, outcomes) = try await outcomes(["a": 3, "b": 3, "c": 3], touching: [], declares: true)
    #expect(report.orders == 1)
    #expect(outcomes == [""])
  }
}
