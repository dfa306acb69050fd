import Dispatch
import Foundation
import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

@Suite("R27: exploreOrders sees work that leaves a run", .unlessSanitized)
struct OrderOutsideTests {
  static let queue = DispatchQueue(label: "images")
  static let concurrent = DispatchQueue(label: "files", attributes: .concurrent)

  /// A way to submit work that no run controls, and a part of its description.
  struct Way: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let line: Int
    let submit: @Sendable (@escaping @Sendable () -> Void) -> Void

    init(_ name: String, line: Int = #line, _ submit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
      (testDescription, self.line, self.submit) = (name, line, submit)
    }
  }

  static let ways = [
    Way("work on a global Dispatch queue") { DispatchQueue.global().async(execute: $0) },
    Way("work on the Dispatch queue “images”") { queue.async(execute: $0) },
    Way("work on the Dispatch queue “files”") { concurrent.async(flags: .barrier, execute: $0) },
    Way("work on the Dispatch queue “images”") { queue.async(group: DispatchGroup(), execute: $0) },
    Way("the notification of a Dispatch group on a global Dispatch queue") {
      DispatchGroup().notify(queue: .global(), execute: $0)
    },
    Way("work on the Dispatch queue “files”") {
      concurrent.async(execute: DispatchWorkItem(flags: .barrier, block: $0))
    },
    Way("work on the Dispatch queue “images”") { work in
      queue.async { queue.async { work() } }
    },
  ]

  @Test("Work that enters a run is a failure each time, and the sentence names its kind and its place", arguments: ways)
  func enters(_ way: Way) async throws {
    for _ in 1...5 {
      let failure = try await explorationFailure {
        try await exploreOrders { orders in
          let promise = Promise<Int, any Error>()
          way.submit { promise.succeed(1) }
          // The body does not wait for the work, so the work enters the run only by chance.
          promise.future.whenResolved(on: orders.context("screen")) { _ in }
          try await orders.runAll()
        }
      }
      guard case .uncontrolled(let sentence)? = failure?.reason else {
        throw Unexpected(description: failure?.description ?? "R27: passed")
      }
      #expect(sentence.hasSuffix("has submitted work to the context “screen”."))
      #expect(sentence.dropFirst().hasPrefix(way.testDescription.dropFirst()), "R27: \(sentence)")
      #if DEBUG
        let lines = way.line...way.line + 1
        let names = lines.contains { sentence.contains("Orders/OrderOutsideTests.swift:\($0) has") }
        #expect(names, "R27: \(sentence)")
      #endif
    }
  }

  @Test("Work that does not enter a run is in the report, which does not say “all”", arguments: ways)
  func staysOutside(_ way: Way) async throws {
    let runs = Recorder<String>()
    let report = try await exploreOrders { orders in
      let seen = Locked(false)
      way.submit { seen.withLock { $0 = true } }
      runs.record("before: \(seen.withLock(\.self))")
      for name in ["a", "b"] { orders.context(name).submit {} }
      try await orders.runAll()
      runs.record("after: \(seen.withLock(\.self))")
    }
    #expect(!report.isExhaustive)
    #expect(report.orders == 2)
    #expect(report.unexplored.count >= 1 && report.unexplored[0].hasPrefix(way.testDescription), "\(report)")
    #expect(report.description.hasPrefix("2 orders; not explored: \(way.testDescription)"), "\(report)")
    // The work runs directly after the move that submits it, each time.
    #expect(Set(runs.events) == ["before: false", "after: true"])
  }

  @Test("R27: a block of the main queue that resolves a promise passes each time")
  func blockOfTheMainQueue() async throws {
    for _ in 1...100 {
      let report = try await exploreOrders { orders in
        let promise = Promise<Int, any Error>()
        DispatchQueue.main.async { promise.succeed(1) }
        try await promise.future.receive(on: orders.context("a")).ignoreValue().value
      }
      try Unexpected.unless(report.description == "the only order", report.description)
    }
  }

  @Test("The notification of a group comes after the move that empties the group, each time")
  func notification() async throws {
    let runs = Recorder<String>()
    for queue in [DispatchQueue.global(), .main] {
      let report = try await exploreOrders { orders in
        let (group, seen) = (DispatchGroup(), Locked(false))
        group.enter()
        group.notify(queue: queue) { seen.withLock { $0 = true } }
        let context = orders.context("a")
        context.submit { runs.record("before: \(seen.withLock(\.self))") }
        context.submit { group.leave() }
        context.submit { runs.record("after: \(seen.withLock(\.self))") }
        try await orders.runAll()
      }
      #expect(report.unexplored.first?.hasPrefix("the notification of a Dispatch group on ") == true, "\(report)")
    }
    #expect(Set(runs.events) == ["before: false", "after: true"])
  }

  @Test("A timer in real time does not fire during a run, although it is due at once")
  func realTimer() async throws {
    let report = try await exploreOrders { orders in
      let promise = Promise<Int, any Error>()
      Self.queue.asyncAfter(deadline: .now()) { promise.succeed(1) }
      // The queue is serial: without the explorer, the timer fires before this work.
      let isBehindTimer = DispatchSemaphore(value: 0)
      Self.queue.async { isBehindTimer.signal() }
      isBehindTimer.wait()
      try await orders.runAll()
      try Unexpected.unless(!promise.isResolved, "the timer has fired")
    }
    #expect(report.description.hasPrefix("1 order; not explored: a timer of the Dispatch queue “images” in real time"))
  }

  @Test("The notification of a group keeps its barrier, in a run and outside", arguments: [true, false])
  func barrierOfNotification(_ isInRun: Bool) async throws {
    if isInRun {
      try await exploreOrders { _ in try endBeforeBarrier() }
    } else {
      try endBeforeBarrier()
    }
  }
}

/// Throws unless the notification of a group, with a barrier, waits for earlier work of its queue.
private func endBeforeBarrier() throws {
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
  try Unexpected.unless(isInOrder.withLock(\.self), "The barrier ran beside other work.")
}
