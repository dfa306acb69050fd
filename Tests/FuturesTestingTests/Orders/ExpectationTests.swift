import Futures
import FuturesTesting
import TestSupport
import Testing

/// Runs an order, and returns whether an expectation failed in it.
///
/// The issue is known while the search goes on. The search runs the failing order once more without this function, and that
/// records the issue.
@Sendable private func expectationFails(in order: () -> Void) -> Bool {
  let hasFailed = Locked(false)
  withKnownIssue(isIntermittent: true) {
    order()
  } matching: { _ in
    hasFailed.withLock { $0 = true }
    return true
  }
  return hasFailed.withLock(\.self)
}

@Suite("exploreOrders: expectations of the test library")
struct ExpectationTests {
  @Test("A failed expectation fails the order, and the last run records it at its line")
  func failedExpectation() async throws {
    let issues = Locked<[Int]>([])
    let line = Locked(0)
    let runs = Locked(0)
    let failure = Locked<OrderFailure?>(nil)
    try await withKnownIssue {
      let found = try await explorationFailure {
        try await exploreOrders(hasFailed: expectationFails) { orders in
          runs.withLock { $0 += 1 }
          let run = Recorder<String>()
          for name in ["a", "b"] { orders.context(name).submit { run.record(name) } }
          try await orders.runAll()
          line.withLock { $0 = #line + 1 }
          #expect(run.events == ["a", "b"])
        }
      }
      failure.withLock { $0 = found }
    } matching: { issue in
      issues.withLock { $0.append(issue.sourceLocation?.line ?? 0) }
      return true
    }
    // During the search, the inner scope matches the issue. In the last run, the outer scope matches it.
    #expect(issues.withLock(\.self) == [line.withLock(\.self)])
    let found = failure.withLock(\.self)
    guard case .expectation? = found?.reason else { return #expect(Bool(false), "\(String(describing: found))") }
    #expect(found?.order == ["b", "a"])
    #expect(found?.description.contains("An expectation failed.") == true)
  }

  @Test("An expectation in a callback and in a task counts as well")
  func expectationInACallback() async throws {
    let failure = Locked<OrderFailure?>(nil)
    await withKnownIssue {
      let found = try await explorationFailure {
        try await exploreOrders(hasFailed: expectationFails) { orders in
          let run = Recorder<String>()
          Task { run.record("task") }
          orders.context("a").submit { #expect(run.events == []) }
          orders.context("b").submit {}
          try await orders.runAll()
        }
      }
      failure.withLock { $0 = found }
    }
    let found = failure.withLock(\.self)
    #expect(found?.order.contains("a") == true)
  }

  @Test("Orders without a failed expectation pass")
  func passing() async throws {
    let report = try await exploreOrders(hasFailed: expectationFails) { orders in
      for name in ["a", "b"] { orders.context(name).submit { #expect(name != "") } }
      try await orders.runAll()
    }
    #expect(report.isAll(2))
  }
}
