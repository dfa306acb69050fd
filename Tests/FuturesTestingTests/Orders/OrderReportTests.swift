import Dispatch
import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

/// One place for what a report says beside the number of orders.
@Suite("R27: exploreOrders says “all” only if nothing else could happen", .unlessSanitized)
struct OrderReportTests {
  @Test(arguments: BodyRow.rows)
  func report(_ row: BodyRow) async throws {
    let report = try await exploreOrders(row.body)
    #expect(report.description.hasPrefix(row.texts[0]))
    #expect(report.unexplored.count <= 1, "\(report)")
    #expect(report.isExhaustive == report.unexplored.isEmpty, "\(report)")
  }
}

private let lock = DispatchQueue(label: "lock")

extension BodyRow {
  fileprivate static let rows = [
    BodyRow("work that the body left behind, with one order", says: "the only order") { orders in
      orders.context("1").submit {}
    },
    BodyRow(
      "work that the body left behind, with two orders",
      says: "1 order; not explored: the work that the body left behind"
    ) { orders in
      for name in ["1", "2"] { orders.context(name).submit {} }
    },
    BodyRow(
      "a timer that the body left behind, before which other work can come",
      says: "1 order; not explored: the work that the body left behind"
    ) { orders in
      Future<Void, Never>.after(.seconds(1), on: orders.context("a")).whenResolved(on: .immediate) { _ in }
      orders.context("b").submit {}
    },
    BodyRow("Task.yield() is no call of an actor", says: "the only order") { orders in
      Task { await Task.yield() }
      try await orders.runAll()
    },
    BodyRow(
      "a call of an actor",
      says: "1 order; not explored: other work while a task changes between actors"
    ) { orders in
      let cache = Cache()
      Task { await cache.set(1) }
      try await orders.runAll()
    },
    BodyRow(
      "`sync` on the main queue",
      says: "1 order; not explored: other work during `sync` on the main queue, called at "
    ) { orders in
      orders.context("a").submit { DispatchQueue.main.sync {} }
      try await orders.runAll()
    },
    BodyRow(
      "`sync` with a barrier on the main queue",
      says: "1 order; not explored: other work during `sync` on the main queue, called at "
    ) { orders in
      orders.context("a").submit { DispatchQueue.main.sync(flags: .barrier) {} }
      try await orders.runAll()
    },
    BodyRow(
      "`sync` on a Dispatch queue",
      says: "2 orders; not explored: other work during `sync` on the Dispatch queue “lock”"
    ) { orders in
      for name in ["a", "b"] { orders.context(name).submit { lock.sync {} } }
      try await orders.runAll()
    },
    BodyRow(
      "`sync` on a stand-in for a queue",
      says: "2 orders; not explored: other work during `sync` on the Dispatch queue “lock”"
    ) { orders in
      let queue = orders.queue("lock")
      for name in ["a", "b"] { orders.context(name).submit { queue.sync {} } }
      try await orders.runAll()
    },
    BodyRow(
      "work outside for which a move waits",
      says: "1 order; not explored: work on the Dispatch queue “images”"
    ) { _ in
      let done = DispatchSemaphore(value: 0)
      OrderOutsideTests.queue.async { done.signal() }
      waits(for: done)
    },
    BodyRow(
      "work of a suspended queue holds up no search",
      says: "1 order; not explored: work on the Dispatch queue “asleep”"
    ) { orders in
      let queue = DispatchQueue(label: "asleep")
      queue.suspend()
      queue.async {}
      let context = orders.context("a")
      context.submit {}
      context.submit { queue.resume() }
      try await orders.runAll()
    },
    BodyRow(
      "a task that stays suspended",
      says: "1 order; not explored: tasks that stay suspended, or that a variable still holds"
    ) { _ in
      Task { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    },
    BodyRow("a block of a run loop", says: "1 order; not explored: work of a run loop") { _ in
      RunLoop.main.perform {}
    },
    BodyRow("a timer of a run loop", says: "1 order; not explored: work of a run loop") { _ in
      RunLoop.main.add(Timer(timeInterval: 1, repeats: false) { _ in }, forMode: .default)
    },
  ]
}

// A function, because an async function cannot wait for a semaphore.
private func waits(for semaphore: DispatchSemaphore) { semaphore.wait() }
