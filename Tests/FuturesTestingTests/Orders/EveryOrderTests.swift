import Futures
import FuturesTesting
import FuturesTestingTraits
import Testing

struct EveryOrderTests {
  private static let runs = RunRecord()

  @Test("A test runs in each order", .everyOrder)
  func eachOrder() async throws {
    let orders = EveryOrder.orders
    for name in ["a", "b"] { orders.context(name).run { Self.runs.add(name) } }
    try await orders.runAll()
    #expect(Set(Self.runs.all.suffix(2)) == ["a", "b"])
    let order = Self.runs.all.suffix(2).joined()
    EveryOrderTests.seen.withLock { _ = $0.insert(order) }
    if order == "ba" { #expect(EveryOrderTests.seen.withLock(\.self) == ["ab", "ba"]) }
  }

  private static let seen = Shared<Set<String>>([])

  @Test("A test on the main actor runs in each order", .everyOrder, .unlessSanitized)
  @MainActor func onMain() async throws {
    let orders = EveryOrder.orders
    var log: [String] = []
    Future<Void, Never>(on: orders.context("network")) {}.whenResolved(on: .main) { _ in log.append("answer") }
    await orders.step("tap")
    log.append("tap")
    try await orders.runAll()
    #expect(log.sorted() == ["answer", "tap"])
  }

  @Test("A failed expectation fails the order, and is recorded once, beside the failure that names the order")
  func failure() async throws {
    // The issues of a test in a test: the trait is called as Swift Testing calls it.
    let test = try #require(Test.current)
    let issues = RunRecord()
    let outer = IssueHandlingTrait.filterIssues { issue in
      issues.add("\(issue)")
      return false
    }
    try await outer.provideScope(for: test, testCase: nil) {
      let failure = try await explorationFailure {
        try await (.everyOrder(limit: 100) as EveryOrder).provideScope(for: test, testCase: nil) {
          let log = RunRecord()
          for name in ["a", "b"] { EveryOrder.orders.context(name).run { log.add(name) } }
          try await EveryOrder.orders.runAll()
          #expect(log.joined == "a b")
        }
        throw Unexpected(description: "no order fails")
      }
      #expect(failure?.order == ["b", "a"])
      #expect(failure?.fileID.hasSuffix("EveryOrderTests.swift") == true)
    }
    #expect(issues.all.count == 1, "\(issues.all)")
    #expect(issues.all.first?.contains("log.joined") == true)
  }
}
