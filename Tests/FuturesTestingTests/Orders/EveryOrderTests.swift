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

  /// Where an expectation fails.
  enum Place: CaseIterable { case body, callback, task }

  @Test(
    "A failed expectation fails the order, and is recorded once, at its line, beside the failure that names the order",
    arguments: Place.allCases
  )
  func failure(_ place: Place) async throws {
    // The issues of a test in a test: the trait is called as Swift Testing calls it.
    let test = try #require(Test.current)
    let issues = Recorder<Int?>()
    let line = #line + 9
    let outer = IssueHandlingTrait.filterIssues { issue in
      issues.record(issue.sourceLocation?.line)
      return false
    }
    try await outer.provideScope(for: test, testCase: nil) {
      let failure = try await explorationFailure {
        try await (.everyOrder(limit: 100) as EveryOrder).provideScope(for: test, testCase: nil) {
          let (orders, log) = (EveryOrder.orders, Recorder<String>())
          let check: @Sendable () -> Void = { #expect(log.joined != "b a") }
          for name in ["a", "b"] {
            orders.context(name).submit {
              log.record(name)
              if place == .callback { check() }
              if place == .task { Task { check() } }
            }
          }
          try await orders.runAll()
          if place == .body { check() }
        }
        throw Unexpected(description: "no order fails")
      }
      guard case .expectation? = failure?.reason else {
        throw Unexpected(description: "\(String(describing: failure))")
      }
      #expect(failure?.order.filter { $0.count == 1 } == ["b", "a"])
      #expect(failure?.fileID.hasSuffix("EveryOrderTests.swift") == true)
      let text = try #require(failure).description
      #expect(text.contains("An expectation failed.") && text.contains("Run it alone: .everyOrder(repeating: "))
    }
    #expect(issues.events.contains(line) && Set(issues.events).count == 1, "\(issues.events)")
  }

  @Test("One order alone records the failed expectation at its line")
  func repeated() async throws {
    let test = try #require(Test.current)
    let issues = Recorder<Int?>()
    let line = #line + 11
    let outer = IssueHandlingTrait.filterIssues { issue in
      issues.record(issue.sourceLocation?.line)
      return false
    }
    try await outer.provideScope(for: test, testCase: nil) {
      let failure = try await explorationFailure {
        try await (.everyOrder(repeating: "b1") as EveryOrder).provideScope(for: test, testCase: nil) {
          let (orders, log) = (EveryOrder.orders, Recorder<String>())
          for name in ["a", "b"] { orders.context(name).submit { log.record(name) } }
          try await orders.runAll()
          #expect(log.joined != "b a")
        }
        throw Unexpected(description: "the order does not fail")
      }
      #expect(failure?.order == ["b", "a"])
    }
    #expect(issues.events == [line])
  }

  @Test("A task that stays suspended does not outlive the search with the body of its test")
  func suspendedTask() async throws {
    let test = try #require(Test.current)
    try await (.everyOrder as EveryOrder).provideScope(for: test, testCase: nil) {
      Task { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
      try await EveryOrder.orders.runAll()
    }
  }

  @Test("A body that stays suspended ends the process with its order: it cannot outlive its test")
  func suspendedBody() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await (.everyOrder as EveryOrder).explore("news()", in: "App/News.swift", at: 1, hasFailed: nil) {
        let orders = EveryOrder.orders
        orders.context("network").submit {}
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      }
    }
    let output = try String(decoding: #require(result).standardErrorContent, as: UTF8.self)
    #expect(output.contains("Fails in this order") && output.contains("stays suspended"), "\(output)")
  }

  @Test("The plain call records a failed requirement once")
  func requirement() async throws {
    let issues = Locked(0)
    try await withKnownIssue {
      try await exploreOrders { orders in
        let run = Recorder<String>()
        for name in ["a", "b", "c"] { orders.context(name).submit { run.record(name) } }
        try await orders.runAll()
        try #require(run.events.first == "a")
      }
    } matching: { issue in
      if issue.error is OrderFailure == false { issues.withLock { $0 += 1 } }
      return true
    }
    #expect(issues.withLock(\.self) == 1)
  }
}
