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
    Way("a thread") { Thread(block: $0).start() },
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

  @Test("A move that waits for work outside gets it")
  func moveWaitsForOutsideWork() async throws {
    let report = try await exploreOrders { _ in
      let done = DispatchSemaphore(value: 0)
      Self.queue.async { done.signal() }
      done.wait()
    }
    #expect(report.description.hasPrefix("1 order; not explored: work on the Dispatch queue “images”"), "\(report)")
  }

  @Test("R27: blocks and timers of a run loop are in the report, and a body that waits for one fails with its name")
  func runLoops() async throws {
    let report = try await exploreOrders { _ in
      RunLoop.main.perform {}
      RunLoop.main.add(Timer(timeInterval: 1, repeats: false) { _ in }, forMode: .default)
    }
    #expect(!report.isExhaustive)
    #expect(report.unexplored.first?.hasPrefix("a block of a run loop") == true, "\(report)")
    #expect(report.unexplored.last?.hasPrefix("a timer of a run loop") == true, "\(report)")
    let failure = try await explorationFailure {
      try await exploreOrders { _ in
        let promise = Promise<Int, any Error>()
        RunLoop.main.perform { promise.succeed(1) }
        _ = try await promise.future.value
      }
    }
    #expect(failure?.description.contains("Outside the run there is a block of a run loop") == true, "\(failure!)")
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

  @Test("Work of a suspended queue holds up no search")
  func suspendedQueue() async throws {
    let report = try await exploreOrders { orders in
      let queue = DispatchQueue(label: "asleep")
      queue.suspend()
      queue.async {}
      let context = orders.context("a")
      context.submit {}
      context.submit { queue.resume() }
      try await orders.runAll()
    }
    #expect(report.description.hasPrefix("1 order; not explored: work on the Dispatch queue “asleep”"), "\(report)")
  }

  @Test("A timer in real time does not fire during a run, and a body that waits for it fails at once")
  func realTimer() async throws {
    let runs = Recorder<String>()
    let report = try await exploreOrders { orders in
      let promise = Promise<Int, any Error>()
      Self.queue.asyncAfter(deadline: .now()) { promise.succeed(1) }
      // The queue is serial: without the explorer, the timer fires before this work.
      let isBehindTimer = DispatchSemaphore(value: 0)
      Self.queue.async { isBehindTimer.signal() }
      isBehindTimer.wait()
      try await orders.runAll()
      runs.record("\(promise.isResolved)")
    }
    #expect(runs.events == ["false"])
    #expect(report.description.hasPrefix("1 order; not explored: a timer of the Dispatch queue “images” in real time"))
    let failure = try await explorationFailure {
      try await exploreOrders { _ in
        let promise = Promise<Int, any Error>()
        Self.queue.asyncAfter(deadline: .now() + .seconds(1000)) { promise.succeed(1) }
        _ = try await promise.future.value
      }
    }
    guard case .uncontrolled(let sentence)? = failure?.reason else {
      throw Unexpected(description: "\(String(describing: failure))")
    }
    #expect(sentence.contains("Outside the run there is a timer of the Dispatch queue “images” in real time"))
  }

  @Test("A delay on the main queue is a timer of the run, in virtual time")
  func timerOfTheMainQueue() async throws {
    let runs = Recorder<String>()
    let report = try await exploreOrders { orders in
      let run = Recorder<String>()
      DispatchQueue.main.asyncAfter(deadline: .now() + .seconds(3600)) {
        MainActor.assumeIsolated { run.record("late \(orders.now)") }
      }
      Future<Void, Never>.after(.seconds(7200), on: orders.context("a")).whenResolved(on: .immediate) { _ in
        run.record("later")
      }
      DispatchQueue.main.async { run.record("main") }
      try await orders.runAll()
      runs.record(run.joined)
    }
    #expect(report.isAll(3), "\(report)")
    let late = "late 3600.0 seconds"
    #expect(Set(runs.events) == ["main \(late) later", "\(late) main later", "\(late) later main"])
  }

  @Test("A failure says which work was not explored")
  func failureBesideOutsideWork() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        Self.queue.async {}
        orders.context("screen").submit {}
        try await orders.runAll()
        throw Unexpected(description: "always")
      }
    }
    let description = try #require(failure).description
    #expect(description.contains("\nNot explored: work on the Dispatch queue “images”"), "\(description)")
  }

  @Test("An actor with an executor of its own is outside, and the place is its executor")
  func ownExecutor() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let store = Store()
        let run = Recorder<String>()
        Task {
          await store.fill()
          run.record("filled")
        }
        try await orders.runAll()
      }
    }
    guard case .uncontrolled(let sentence)? = failure?.reason else {
      throw Unexpected(description: "R27: \(failure?.description ?? "passed")")
    }
    #expect(sentence.hasPrefix("Work on the Dispatch queue “store”"), "\(sentence)")
  }

  private final class Executor: SerialExecutor {
    let queue = DispatchQueue(label: "store")

    func enqueue(_ job: UnownedJob) {
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  private actor Store {
    private let executor = Executor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private(set) var count = 0
    func fill() { count += 1 }
  }
}
