import Futures
import FuturesTesting
import FuturesTestingTraits
import TestSupport
import Testing

struct EveryOrderTests {
  private static let runs = Recorder<String>()

  @Test("A test runs in each order", .everyOrder)
  func eachOrder() async throws {
    let orders = EveryOrder.orders
    for name in ["a", "b"] { orders.context(name).submit { Self.runs.record(name) } }
    try await orders.runAll()
    #expect(Set(Self.runs.events.suffix(2)) == ["a", "b"])
    let order = Self.runs.events.suffix(2).joined()
    EveryOrderTests.seen.withLock { _ = $0.insert(order) }
    if order == "ba" { #expect(EveryOrderTests.seen.withLock(\.self) == ["ab", "ba"]) }
  }

  private static let seen = Locked<Set<String>>([])

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
    let issues = Recorder<String>()
    let outer = IssueHandlingTrait.filterIssues { issue in
      issues.record("\(issue)")
      return false
    }
    try await outer.provideScope(for: test, testCase: nil) {
      let failure = try await explorationFailure {
        try await (.everyOrder(limit: 100) as EveryOrder).provideScope(for: test, testCase: nil) {
          let log = Recorder<String>()
          for name in ["a", "b"] { EveryOrder.orders.context(name).submit { log.record(name) } }
          try await EveryOrder.orders.runAll()
          #expect(log.joined == "a b")
        }
        throw Unexpected(description: "no order fails")
      }
      #expect(failure?.order == ["b", "a"])
      #expect(failure?.fileID.hasSuffix("EveryOrderTests.swift") == true)
    }
    #expect(issues.events.count == 1, "\(issues.events)")
    #expect(issues.events.first?.contains("log.joined") == true)
  }
}
