import Dispatch
import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

/// Faults that real code has found in the explorer.
struct OrderRegressionTests {
  @Test("R2a: work that is dropped after the end, and submits work for ever, ends the run")
  func endlessDrops() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let context = orders.context("n")
        @Sendable func load() -> Future<Int, any Error> {
          Future<Int, any Error>(on: context) { throw Unexpected(description: "offline") }.flatMapError { _ in load() }
        }
        _ = load()
      }
    }
    guard case .endless? = failure?.reason else { throw Unexpected(description: "\(String(describing: failure))") }
  }

  private actor Worker {
    private(set) var count = 0

    func yieldTwice() async {
      await Task.yield()
      count += 1
      await Task.yield()
    }

    func sleep() async throws {
      try await Task.sleep(for: .seconds(3600))
      count += 1
    }
  }

  @Test("An actor's method that yields passes")
  func yieldInAnActor() async throws {
    let report = try await exploreOrders { orders in
      let worker = Worker()
      for _ in 1...2 {
        Task { await worker.yieldTwice() }
      }
      try await orders.runAll()
      let count = await worker.count
      try Unexpected.unless(count == 2, "\(count)")
    }
    #expect(report.orders > 1)
  }

  @Test("R27: a sleep in an actor's method is in virtual time, and no work outside", .unlessSanitized)
  func sleepInAnActor() async throws {
    let report = try await exploreOrders { orders in
      let worker = Worker()
      Task { try await worker.sleep() }
      try await orders.runAll()
      let count = await worker.count
      try Unexpected.unless(count == 1, "\(count)")
      try Unexpected.unless(orders.now >= .seconds(3600), "\(orders.now)")
    }
    #expect(report.unexplored.isEmpty, "\(report)")
  }

  @Test("A timer in real time is reported once", .unlessSanitized)
  func realTimer() async throws {
    let report = try await exploreOrders { _ in DispatchQueue.global().asyncAfter(deadline: .now() + 1000) {} }
    #expect(report.unexplored.count == 1, "\(report)")
    #expect(report.unexplored.first?.hasPrefix("a timer of a global Dispatch queue in real time") == true)
  }

  // LeakSanitizer reports a task that stays suspended.
  #if !ASAN
    @Test("A deadlock of continuations names the task that is left")
    func deadlockOfContinuations() async throws {
      let failure = try await explorationFailure {
        try await exploreOrders { _ in
          let task = Task(name: "loader") {
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
          }
          Task {}
          await task.value
        }
      }
      let text = try #require(failure).description
      #expect(text.contains("It awaits no future: so a continuation, or a task that awaits one."), "\(text)")
      #expect(text.contains("Not released, so suspended or held by a variable: task 1."), "\(text)")
      #expect(text.contains("task 1: Orders/OrderRegressionTests.swift:"), "\(text)")
    }
  #endif

  @Test(
    "R27: a report does not say “all” if a move calls `sync`, of a Dispatch queue or of a stand-in",
    .unlessSanitized
  )
  func sync() async throws {
    let lock = DispatchQueue(label: "lock")
    for isVirtual in [false, true] {
      let report = try await exploreOrders { orders in
        let queue = orders.queue("lock")
        for name in ["a", "b"] {
          orders.context(name).submit { if isVirtual { queue.sync {} } else { lock.sync {} } }
        }
        try await orders.runAll()
      }
      #expect(!report.isExhaustive)
      let start = "2 orders; not explored: other work during `sync` on the Dispatch queue “lock”"
      #expect(report.description.hasPrefix(start), "\(report)")
    }
  }

  @Test("The plain call records a failed requirement once")
  func requirement() async throws {
    let issues = Locked(0)
    let orders = Locked([String]())
    try await withKnownIssue {
      try await exploreOrders { all in
        let run = Recorder<String>()
        for name in ["a", "b", "c"] { all.context(name).submit { run.record(name) } }
        try await all.runAll()
        orders.withLock { $0.append(run.joined) }
        try #require(run.events.first == "a")
      }
    } matching: { issue in
      if issue.error == nil || issue.error is OrderFailure == false { issues.withLock { $0 += 1 } }
      return true
    }
    #expect(issues.withLock(\.self) == 1)
    #expect(orders.withLock(\.self).count { !$0.hasPrefix("a") } == 1)
  }
}
