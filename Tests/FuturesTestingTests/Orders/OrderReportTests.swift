import Dispatch
import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

@Suite("R27: exploreOrders says “all” only if nothing else could happen")
struct OrderReportTests {
  @Test("Work that the body left behind was not explored, unless it has one order", arguments: [1, 2])
  func workLeftBehind(_ count: Int) async throws {
    let report = try await exploreOrders { orders in
      for number in 1...count { orders.context("\(number)").submit {} }
    }
    #expect(report.isExhaustive == (count == 1))
    #expect(report.description.contains("the work that the body left behind") == (count == 2), "\(report)")
  }

  @Test("Work of another thread that comes after its run was not explored", .unlessSanitized)
  func workAfterItsRun() async throws {
    let first = Locked<ExecutionContext?>(nil)
    let (mayStart, hasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    DispatchQueue(label: "older").async {
      mayStart.wait()
      first.withLock(\.self)?.submit {}
      hasEnded.signal()
    }
    let report = try await exploreOrders { orders in
      let a = orders.context("a")
      let isFirst = first.withLock { context in
        defer { context = context ?? a }
        return context == nil
      }
      if !isFirst {
        mayStart.signal()
        hasEnded.wait()
        hasEnded.signal()
      }
      for context in [a, orders.context("b")] { context.submit {} }
      try await orders.runAll()
    }
    #expect(!report.isExhaustive)
    #expect(
      report.description == "2 orders; not explored: work that another thread has submitted to a run that was over",
      "\(report)"
    )
  }

  @Test("A timer that the body left behind was not explored, if other work could come before it")
  func timerLeftBehind() async throws {
    let report = try await exploreOrders { orders in
      Future<Void, Never>.after(.seconds(1), on: orders.context("a")).whenResolved(on: .immediate) { _ in }
      orders.context("b").submit {}
    }
    #expect(!report.isExhaustive, "\(report)")
  }

  @Test("Task.yield() is no call of an actor")
  func yield() async throws {
    let report = try await exploreOrders { orders in
      Task { await Task.yield() }
      try await orders.runAll()
    }
    #expect(!report.description.contains("actors"), "\(report)")
  }

  @Test("DispatchQueue.main.sync of a move is in the report", .unlessSanitized, arguments: [true, false])
  func mainSync(_ isBarrier: Bool) async throws {
    let report = try await exploreOrders { orders in
      orders.context("a").submit {
        if isBarrier { DispatchQueue.main.sync(flags: .barrier) {} } else { DispatchQueue.main.sync {} }
      }
      try await orders.runAll()
    }
    #expect(
      report.description.hasPrefix("1 order; not explored: other work during `sync` on the main queue, called at "),
      "\(report)"
    )
  }

  @Test(
    "The notification of a group keeps its barrier, in a run and outside",
    .unlessSanitized,
    arguments: [true, false]
  )
  func barrierOfNotification(_ isInRun: Bool) async throws {
    @Sendable func endsBeforeBarrier() -> Bool {
      let queue = DispatchQueue(label: "cache", attributes: .concurrent)
      let (gate, others, barrier) = (
        DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
      )
      let (hasEnded, isInOrder) = (Locked(false), Locked(false))
      queue.async {
        gate.wait()
        hasEnded.withLock { $0 = true }
      }
      DispatchGroup().notify(flags: .barrier, queue: queue) {
        let ended = hasEnded.withLock(\.self)
        isInOrder.withLock { $0 = ended }
        barrier.signal()
      }
      // Gives a notification without its barrier the time to run.
      DispatchGroup().notify(queue: .global()) { others.signal() }
      others.wait()
      gate.signal()
      barrier.wait()
      return isInOrder.withLock(\.self)
    }
    if isInRun {
      try await exploreOrders { _ in
        try Unexpected.unless(endsBeforeBarrier(), "The barrier ran beside other work.")
      }
    } else {
      #expect(endsBeforeBarrier())
    }
  }
}
