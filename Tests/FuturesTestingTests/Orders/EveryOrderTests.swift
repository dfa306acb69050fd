import Futures
import FuturesTesting
import FuturesTestingTraits
import TestSupport
import Testing

struct EveryOrderTests {
  private static let seen = Recorder<String>()

  @Test("A test runs in each order, and a known issue fails none", .everyOrder)
  func eachOrder() async throws {
    let (orders, run) = (EveryOrder.orders, Recorder<String>())
    for name in ["a", "b"] { orders.context(name).submit { run.record(name) } }
    try await orders.runAll()
    Self.seen.record(run.joined)
    if run.joined == "b a" { #expect(Self.seen.events == ["a b", "b a"]) }
    withKnownIssue { #expect(Bool(false)) }
  }

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

  /// Runs a body with the trait as Swift Testing does, and returns its failure and the lines of its issues.
  private func failure(
    _ trait: EveryOrder,
    _ body: @Sendable () async throws -> Void
  ) async throws -> (failure: OrderFailure, lines: [Int?]) {
    let test = try #require(Test.current)
    let (issues, failures) = (Recorder<Int?>(), Recorder<OrderFailure>())
    let outer = IssueHandlingTrait.filterIssues { issue in
      issues.record(issue.sourceLocation?.line)
      return false
    }
    try await outer.provideScope(for: test, testCase: nil) {
      do {
        try await trait.provideScope(for: test, testCase: nil, performing: body)
      } catch let failure as OrderFailure {
        failures.record(failure)
      }
    }
    return (try #require(failures.events.first), issues.events)
  }

  /// Where an expectation fails.
  enum Place: CaseIterable { case body, callback, task }

  @Test(
    "A failed expectation fails the order, and is recorded once, at its line, beside the failure; its string repeats both",
    arguments: Place.allCases
  )
  func failure(_ place: Place) async throws {
    let line = #line + 3
    let body: @Sendable () async throws -> Void = {
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
    let (failure, lines) = try await failure(.everyOrder(limit: 100), body)
    guard case .expectation = failure.reason else { throw failure }
    #expect(failure.order.filter { $0.count == 1 } == ["b", "a"])
    #expect(failure.fileID.hasSuffix("EveryOrderTests.swift"))
    let text = failure.description
    #expect(text.contains("An expectation failed.") && text.contains("Run it alone: .everyOrder(repeating: "))
    #expect(lines.contains(line) && Set(lines).count == 1, "\(lines)")
    let (repeated, sameLines) = try await self.failure(.everyOrder(repeating: failure.repeating), body)
    #expect(repeated.order == failure.order && sameLines == lines)
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
