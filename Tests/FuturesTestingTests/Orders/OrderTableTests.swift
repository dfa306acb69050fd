import Dispatch
import Foundation
import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

/// A body, the different records of its runs, and the number of its orders where that is the subject.
struct OrderRow: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let records: [String]
  let orders: Int?
  let explore: @Sendable () async throws -> (records: [String], report: OrderReport)

  /// The orders of two sequences with two items each.
  static let interleavings = [
    "a1 a2 b1 b2", "a1 b1 a2 b2", "a1 b1 b2 a2", "b1 a1 a2 b2", "b1 a1 b2 a2", "b1 b2 a1 a2",
  ]
}

extension OrderRow {
  typealias Body = @Sendable (Orders, Recorder<String>) async throws -> Void
  typealias MainBody = @MainActor (Orders, Recorder<String>) async throws -> Void

  init(_ name: String, _ records: [String], orders: Int? = nil, _ body: @escaping Body) {
    self.init(testDescription: name, records: records, orders: orders) {
      try await FuturesTestingTests.explore(body)
    }
  }

  /// A row whose body is on the main actor.
  init(onMain name: String, _ records: [String], orders: Int? = nil, _ body: @escaping MainBody) {
    self.init(testDescription: name, records: records, orders: orders) { try await exploreOnMain(body) }
  }
}

/// One place for what can happen: a row for each kind of work.
///
/// Delays and sleeps are in virtual time, so no row waits.
@Suite("exploreOrders: the orders that can happen, and no others")
struct OrderTableTests {
  @Test(arguments: OrderRow.contexts + OrderRow.tasks + OrderRow.timers)
  func orders(_ row: OrderRow) async throws {
    let (records, report) = try await row.explore()
    #expect(records == row.records)
    #expect(row.orders == nil || row.orders == report.orders, "\(report)")
  }

  @Test(.unlessSanitized, arguments: OrderRow.main + OrderRow.sleeps)
  func replacedWork(_ row: OrderRow) async throws {
    let (records, report) = try await row.explore()
    #expect(records == row.records)
    if let orders = row.orders { #expect(report.description == "all \(orders) orders") }
  }

  @Test("Task-local values of the caller reach the body, its tasks and its callbacks")
  func taskLocalValues() async throws {
    try await Name.$current.withValue("test") {
      let records = try await differentRecords { orders, run in
        run.record(Name.current)
        Task { run.record(Name.current) }
        orders.context("a").submit { run.record(Name.current) }
      }
      #expect(records == ["test test test"])
    }
  }

  private enum Name {
    @TaskLocal static var current = "none"
  }

  @Test("An actor can isolate the caller and the body")
  func isolatedToAnActor() async throws {
    let counter = Counter()
    try await counter.explore()
    #expect(await counter.runs >= 2)
  }

  private actor Counter {
    private(set) var runs = 0

    func explore() async throws {
      try await exploreOrders { orders in
        for name in ["a", "b"] { orders.context(name).submit {} }
        try await orders.runAll()
        runs += 1
      }
    }
  }
}

// MARK: - Contexts and tasks

extension OrderRow {
  fileprivate static let contexts = [
    OrderRow("two contexts with two items each", interleavings, orders: 6) { orders, run in
      for name in ["a", "b"] {
        for number in 1...2 { orders.context(name).submit { run.record("\(name)\(number)") } }
      }
    },
    OrderRow("an await of a future, in the body", ["loaded screen", "screen loaded"]) { orders, run in
      let loaded = Future<String, Never>(on: orders.context("network")) { "loaded" }
      orders.context("screen").submit { run.record("screen") }
      run.record(await loaded.value)
    },
    OrderRow("waiters in the order of a dictionary, which differs in each run", [""], orders: 576) { orders, _ in
      let waiters = Locked([UUID: UnsafeContinuation<Void, Never>]())
      for _ in 1...4 {
        Task {
          await withUnsafeContinuation { continuation in waiters.withLock { $0[UUID()] = continuation } }
        }
      }
      try await orders.runAll()
      for continuation in waiters.withLock({ Array($0.values) }) { continuation.resume() }
    },
  ]

  fileprivate static let tasks = [
    OrderRow("unstructured tasks with a step", interleavings) { orders, run in
      for name in ["a", "b"] {
        Task {
          run.record("\(name)1")
          await orders.step(name)
          run.record("\(name)2")
        }
      }
    },
    OrderRow("unstructured tasks that yield", interleavings) { _, run in
      for name in ["a", "b"] {
        Task {
          run.record("\(name)1")
          await Task.yield()
          run.record("\(name)2")
        }
      }
    },
    OrderRow(
      "the task of a future",
      ["b task callback", "task b callback", "task callback b"]
    ) { orders, run in
      Future { run.record("task") }.whenResolved(on: orders.context("a")) { _ in run.record("callback") }
      orders.context("b").submit { run.record("b") }
    },
    OrderRow("the children of a group", ["a b c", "a c b", "b a c", "b c a", "c a b", "c b a"]) { _, run in
      await withTaskGroup { group in
        for name in ["a", "b", "c"] { group.addTask { run.record(name) } }
      }
    },
    OrderRow("async let", ["body child", "child body"]) { orders, run in
      async let child: Void = run.record("child")
      await orders.step("step")
      run.record("body")
      await child
    },
    OrderRow("calls of an actor by unstructured tasks", ["a", "a b", "b", "b a"]) { _, run in
      let cache = Cache()
      for name in ["a", "b"] { Task { await cache.fill(name, run) } }
    },
    OrderRow("methods of an actor that yield", ["2"]) { orders, run in
      let cache = Cache()
      for _ in 1...2 { Task { await cache.yieldTwice() } }
      try await orders.runAll()
      run.record("\(await cache.value ?? 0)")
    },
    OrderRow("tasks that change between executors without a suspension", [""], orders: 2) { _, _ in
      for _ in 1...2 {
        Task {
          await nothing()
          await nothing()
        }
      }
    },
  ]
}

actor Cache {
  private(set) var value: Int?
  func set(_ value: Int) { self.value = value }

  /// Sets a missing value by two calls, so that another task can come between them.
  nonisolated func fill(_ name: String, _ run: Recorder<String>) async {
    guard await value == nil else { return }
    run.record(name)
    await set(1)
  }

  func yieldTwice() async {
    await Task.yield()
    value = (value ?? 0) + 1
    await Task.yield()
  }

  func sleep() async throws {
    try await Task.sleep(for: .seconds(3600))
    value = 1
  }
}

@concurrent private func nothing() async {}

// MARK: - Timers

extension ExecutionContext {
  /// Calls `work` after a delay of this context.
  fileprivate func after(_ seconds: Int, _ work: @escaping @Sendable () -> Void) {
    Future<Void, Never>.after(.seconds(seconds), on: self).whenResolved(on: .immediate) { _ in work() }
  }
}

extension OrderRow {
  fileprivate static let timers = [
    OrderRow("a timeout and a value", ["timeout", "value"]) { orders, run in
      Future<String, any Error>(on: orders.context("network")) { "value" }
        .timeout(after: .seconds(10), on: orders.context("clock"))
        .whenResolved(on: .immediate) { result in run.record((try? result.get()) ?? "timeout") }
    },
    OrderRow("timers, two of them with the same time", ["b1@1 d1@1 c2@2 a3@3"]) { orders, run in
      for (context, seconds) in [("a", 3), ("b", 1), ("c", 2), ("d", 1)] {
        orders.context(context).after(seconds) {
          run.record("\(context)\(seconds)@\(orders.now.components.seconds)")
        }
      }
    },
    OrderRow(
      "a timer and work of its own context, which it overtakes if that came later",
      ["before after timer", "before timer after"]
    ) { orders, run in
      let context = orders.context("a")
      context.submit { run.record("before") }
      context.after(1) { run.record("timer") }
      context.submit { run.record("after") }
    },
    OrderRow("a timer that a timer sets", ["three second"]) { orders, run in
      let context = orders.context("a")
      context.after(2) { context.after(2) { run.record("second") } }
      context.after(3) { run.record("three") }
    },
    OrderRow("a timer that other work cancels", ["cancel", "timer cancel"]) { orders, run in
      let timer = Future<Void, CancellationError>.succeeded(()).delay(by: .seconds(1), on: orders.context("clock"))
      timer.whenSucceeded(on: .immediate) { run.record("timer") }
      orders.context("a").submit {
        run.record("cancel")
        timer.cancel()
      }
    },
  ]
}

// MARK: - The main actor, and sleeps

extension OrderRow {
  fileprivate static let main = [
    OrderRow(onMain: "callbacks on the main actor", ["a b", "b a"], orders: 4) { orders, run in
      for name in ["a", "b"] {
        Future<String, Never>(on: orders.context(name)) { name }.whenSucceeded(on: .main) { run.record($0) }
      }
    },
    OrderRow(onMain: "a call within the main actor, and one off it", ["call block off", "call off block"]) { _, run in
      DispatchQueue.main.async { run.record("block") }
      await { @MainActor () async in run.record("call") }()
      await { @concurrent () async in run.record("off") }()
    },
    OrderRow(onMain: "work that a move submits to the main actor runs after the move", ["true false"]) { orders, run in
      let (hasRun, overlapped) = (Locked(false), Locked(false))
      orders.context("a").submit {
        Future<Void, Never>.succeeded(()).whenResolved(on: .main) { _ in hasRun.withLock { $0 = true } }
        for _ in 1...20_000 where hasRun.withLock(\.self) { overlapped.withLock { $0 = true } }
      }
      try await orders.runAll()
      run.record("\(hasRun.withLock(\.self)) \(overlapped.withLock(\.self))")
    },
    OrderRow(onMain: "a step and an await on the main actor", ["loaded task", "task loaded"]) { orders, run in
      let task = Task {
        await orders.step("task")
        run.record("task")
      }
      let loaded = Future<String, Never>(on: orders.context("network")) { "loaded" }
      run.record(await loaded.value)
      await task.value
    },
    OrderRow(onMain: "tasks off the main actor", ["a b", "b a"], orders: 2) { _, run in
      for name in ["a", "b"] { Task { @concurrent in run.record(name) } }
    },
    OrderRow(onMain: "a late answer in a view model", ["new", "old"]) { orders, run in
      let news = News()
      for text in ["old", "new"] { news.load(text, on: orders.context(text)) }
      try await orders.runAll()
      run.record(news.shown)
    },
    OrderRow(onMain: "a long chain of blocks of the main queue is no deadlock", [""], orders: 2) { orders, _ in
      for name in ["a", "b"] { orders.context(name).submit {} }
      try await orders.runAll()
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        @Sendable func submit(_ count: Int) {
          DispatchQueue.main.async { count == 0 ? continuation.resume() : submit(count - 1) }
        }
        submit(1_000)
      }
    },
    // The main queue keeps the order of submission.
    OrderRow(
      "a callback, a block and a task on the main actor, from elsewhere",
      ["block task callback"],
      orders: 3
    ) { orders, run in
      Future<Int, Never>(on: orders.context("network")) { 1 }.whenSucceeded(on: .main) { _ in
        MainActor.assertIsolated()
        run.record("callback")
      }
      DispatchQueue.main.async {
        dispatchPrecondition(condition: .onQueue(.main))
        run.record("block")
      }
      Task { @MainActor in run.record("task") }
    },
    OrderRow(onMain: "timers of the main context", ["5 s timeout", "5 s value", "value 5 s"]) { orders, run in
      Future<Int, any Error>(on: orders.context("network")) { 1 }
        .timeout(after: .seconds(10), on: .main)
        .whenResolved(on: .main) { result in
          MainActor.assertIsolated()
          run.record((try? result.get()) == 1 ? "value" : "timeout")
        }
      Future<Int, any Error>.never.timeout(after: .seconds(5), on: .main).whenResolved(on: .mainImmediate) { _ in
        run.record("5 s")
      }
    },
    OrderRow(
      "a delay of the main queue, in virtual time",
      ["late@3600 later main", "late@3600 main later", "main late@3600 later"],
      orders: 3
    ) { orders, run in
      DispatchQueue.main.asyncAfter(deadline: .now() + .seconds(3600)) {
        MainActor.assumeIsolated { run.record("late@\(orders.now.components.seconds)") }
      }
      orders.context("a").after(7200) { run.record("later") }
      DispatchQueue.main.async { run.record("main") }
    },
  ]

  #if os(Linux) && compiler(>=6.3)
    fileprivate static let sleeps = [
      OrderRow("a timer that is due before a sleep", ["timer sleep"]) { orders, run in
        orders.context("a").after(1) { run.record("timer") }
        Task {
          try await Task.sleep(for: .seconds(2))
          run.record("sleep")
        }
      },
      OrderRow("each way to sleep", ["20 30 35"]) { orders, run in
        try await Task.sleep(nanoseconds: 20_000_000)
        run.record("\(orders.now.inMilliseconds)")
        try await Task.sleep(until: .now + .milliseconds(10), clock: .continuous)
        run.record("\(orders.now.inMilliseconds)")
        try await Task.sleep(until: .now + .milliseconds(5), clock: .suspending)
        run.record("\(orders.now.inMilliseconds)")
      },
      OrderRow("the clocks stand still during a move, and move with a sleep", ["1.0 seconds 1.0 seconds"]) { _, run in
        let (continuous, suspending) = (ContinuousClock.now, SuspendingClock.now)
        for _ in 0..<1_000 {
          try Unexpected.unless(ContinuousClock.now == continuous && SuspendingClock.now == suspending, "a clock moved")
        }
        try await Task.sleep(until: suspending + .seconds(1), clock: .suspending)
        run.record("\(ContinuousClock.now - continuous) \(SuspendingClock.now - suspending)")
      },
      OrderRow("a cancelled sleep", ["cancelled"]) { _, run in
        let task = Task {
          do { try await Task.sleep(for: .seconds(1)) } catch { run.record("cancelled") }
        }
        task.cancel()
        await task.value
      },
      OrderRow("a sleep of an actor's method", ["1 true"]) { orders, run in
        let cache = Cache()
        Task { try await cache.sleep() }
        try await orders.runAll()
        run.record("\(await cache.value ?? 0) \(orders.now >= .seconds(3600))")
      },
      OrderRow(onMain: "sleeps on the main actor", ["5.0 seconds 10.0 seconds"]) { orders, run in
        try await Task.sleep(for: .seconds(5))
        MainActor.assertIsolated()
        run.record("\(orders.now)")
        try await Task { @MainActor in try await Task.sleep(for: .seconds(5)) }.value
        run.record("\(orders.now)")
      },
    ]
  #else
    fileprivate static let sleeps: [OrderRow] = []
  #endif
}

extension Duration {
  fileprivate var inMilliseconds: Int64 { Int64(self / .milliseconds(1)) }
}

@MainActor private final class News {
  var shown = ""

  /// A late answer replaces a newer one.
  func load(_ text: String, on context: ExecutionContext) {
    Task { shown = await Future<String, Never>(on: context) { text }.value }
  }
}
