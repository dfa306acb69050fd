import Dispatch
import Foundation
import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

/// One place for what a failure says: a row for each cause and each kind of move.
@Suite("exploreOrders: the order and the text of a failure")
struct OrderFailureTests {
  @Test(arguments: BodyRow.rows)
  func failure(_ row: BodyRow) async throws {
    let found = try await explorationFailure { try await exploreOrders(limit: row.limit, row.body) }
    let failure = try #require(found, "it passes")
    #expect(row.order == nil || row.order == failure.order)
    for text in row.texts { #expect(failure.description.contains(text), "\(failure)") }
  }

  @Test(
    "R27: work outside that the body waits for, or that enters the run",
    .unlessSanitized,
    arguments: BodyRow.outside
  )
  func outside(_ row: BodyRow) async throws { try await failure(row) }

  @Test("A deadlocked body is cancelled; its failure names the awaited future, and has the graph")
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  func deadlock() async throws {
    let ends = Recorder<String>()
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let answer = Promise<Int, any Error>("answer", fileID: "App/Loader.swift", line: 12)
        let doubled = answer.future.map { 2 * $0 }
        orders.context("network").submit {}
        do { _ = try await doubled.value } catch { ends.record("\(error)") }
        answer.succeed(1)
      }
    }
    guard case .deadlock(let waiting)? = failure?.reason else {
      return #expect(Bool(false), "\(String(describing: failure))")
    }
    // Once in the search, and once when the order is repeated.
    #expect(ends.events == ["CancellationError()", "CancellationError()"])
    #expect(waiting == ["\"answer\" App/Loader.swift:12"])
    #expect(failure?.order == ["network"] && failure?.report.knownOrders == 1)
    let text = try #require(failure).description
    #expect(text.contains("promise \"answer\" at App/Loader.swift:12"), "\(text)")
    #expect(text.contains("└─ map (Int → Int)\n   └─ await"), "\(text)")
    #expect(failure?.graph?.nodes.contains { $0.label == "answer" } == true)
  }

  @Test("The table has a column for each context and task, a star at each deviation, and the notes")
  func table() async throws {
    let failure = try #require(
      try await explorationFailure {
        try await exploreOrders(fileID: "Tests/B.swift", line: 8) { orders in
          let log = Recorder<String>()
          let (network, screen) = (orders.context("network"), orders.context("screen"))
          for number in 1...3 { network.submit { log.record("n\(number)") } }
          screen.submit {
            log.record("s")
            orders.note("log: \(log.joined)")
          }
          await orders.step("tap")
          log.record("tap")
          try await orders.runAll()
          try Unexpected.unless(log.joined != "n1 n2 s tap n3", "found")
        }
      }
    )
    #expect(
      failure.description == """
        Fails in this order, found after 14 orders: network(1) ▸ network(2) ▸ screen ▸ tap ▸ network(3)
        It threw: found
          1  network(1)
          2  network(2)
        * 3              screen  — log: n1 n2 s
        * 4                      tap
          5  network(3)
        Run it alone: exploreOrders(repeating: "0.0.1.1.99de") at Tests/B.swift:8
        """
    )
  }

  @Test("A task has its name in the order, and the place that made it")
  func taskPlaces() async throws {
    let line = #line + 8
    let found = try await explorationFailure {
      try await exploreOrders { orders in
        let log = Recorder<String>()
        let first = Task(name: "loader") {
          await orders.step("load")
          log.record("loader")
        }
        let second = Task { log.record("second") }
        _ = await (first.value, second.value)
        try Unexpected.unless(log.events.first != "second", "found")
      }
    }
    let failure = try #require(found)
    #expect(failure.order.contains("loader") && failure.order.contains("task 2") && !failure.order.contains("task 1"))
    #if os(Linux)
      let isThere = failure.taskPlaces.contains { $0.hasPrefix("task 2: ") && $0.hasSuffix("Tests.swift:\(line)") }
      #expect(isThere, "\(failure)")
    #endif
  }
}

private let always = Unexpected(description: "always")

/// The runs of the bodies that are not deterministic.
private let (otherWork, otherResult) = (Recorder<Void>(), Recorder<Void>())

extension BodyRow {
  fileprivate static let rows =
    [
      BodyRow(
        "the order of submission, which a limit of 1 does not shrink",
        ["a(1)", "b", "a(2)"],
        limit: 1,
        says: "Fails in this order: a(1) ▸ b ▸ a(2)\nIt threw: always\nRun it alone: exploreOrders(limit: 1) at "
      ) { orders in
        for name in ["a", "b", "a"] { orders.context(name).submit {} }
        try await orders.runAll()
        throw always
      },
      BodyRow(
        "the body, tasks, steps and calls of actors, also of one whose caller is not known",
        ["task 1", "before the call", "hop of task 1", "work of an actor", "body"]
      ) { orders in
        let caller = ActorCaller()
        let task = Task {
          await orders.step("before the call")
          await caller.startOnOtherActor()
        }
        await task.value
        try await orders.runAll()
        throw always
      },
      BodyRow("a task whose only step is in an actor's code", says: "hop of loader") { orders in
        let caller = ActorCaller()
        await Task(name: "loader") { await caller.step(orders) }.value
        throw always
      },
      BodyRow("a failure after 1,000 decisions in the order of submission", says: "exploreOrders(limit: 1)") { orders in
        let isDone = Locked(false)
        Task { while !isDone.withLock(\.self) { await Task.yield() } }
        Future<Void, Never>.after(.seconds(5), on: orders.context("answer")).whenResolved(on: .immediate) { _ in
          isDone.withLock { $0 = true }
        }
        try await orders.runAll()
        throw always
      },
      BodyRow("steps with the names of the explorer's own moves", ["task", "body", "hop"]) { orders in
        for name in ["task", "body", "hop"] { await orders.step(name) }
        throw always
      },
      BodyRow("timers, by their delays", ["timer 0.25 seconds", "timer 10.0 seconds"]) { orders in
        for delay in [Duration.seconds(10), .milliseconds(250)] {
          Future<Void, Never>.after(delay, on: orders.context("clock")).whenResolved(on: .immediate) { _ in }
        }
        try await orders.runAll()
        throw always
      },
      BodyRow(
        "a body with other work in each run",
        says: "The test body is not deterministic: ",
        "At the beginning this run had a, c, and an earlier run a, b."
      ) { orders in
        otherWork.record(())
        orders.context("a").submit {}
        orders.context(otherWork.events.count == 2 ? "c" : "b").submit {}
        try await orders.runAll()
      },
      BodyRow(
        "a body that passes when its order is repeated",
        says:
          "The test body is not deterministic: the order a ▸ b failed, and passed when it was repeated. It threw: always"
      ) { orders in
        otherResult.record(())
        for name in ["a", "b"] { orders.context(name).submit {} }
        try await orders.runAll()
        if otherResult.events.count == 1 { throw always }
      },
      BodyRow(
        "a task that another thread resumes",
        says: " has resumed a task of the test.",
        "Pass contexts of `orders`"
      ) { _ in
        await withCheckedContinuation { continuation in
          DispatchQueue.global().async { continuation.resume() }  // begins after the body has suspended
        }
      },
    ] + suspended

  // LeakSanitizer reports a task that stays suspended.
  #if ASAN
    private static let suspended: [BodyRow] = []
  #else
    private static let suspended = [
      BodyRow(
        "a deadlocked body that cannot be cancelled is left behind",
        says: "The body waits, and nothing is left to run. Awaited: \"stubborn\" "
      ) { _ in
        let never = Promise<Int, Never>("stubborn")
        leftBehind.withLock { $0.append(never) }
        _ = await never.future.value
      },
      BodyRow(
        "a deadlock of continuations",
        says: "It awaits no future, so it waits for a continuation, or for a task that does.",
        "Not released, so suspended or held by a variable: task 1.",
        "task 1: Orders/OrderFailureTests.swift:"
      ) { _ in
        let task = Task(name: "loader") {
          await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
        Task {}
        await task.value
      },
    ]
  #endif

  fileprivate static let outside =
    [
      BodyRow(
        "the return of a body from the main actor is no move",
        ["a", "body on main"],
        says: "Fails in this order: a ▸ body on main\n"
      ) { @MainActor orders in
        MainActor.assertIsolated()
        orders.context("a").submit {}
        try await orders.runAll()
        orders.context("b").submit {}
        throw always
      },
      BodyRow("tasks on the main actor have their names", ["task 1 on main", "main"]) { orders in
        Task { @MainActor in }
        DispatchQueue.main.async {}
        try await orders.runAll()
        throw always
      },
      BodyRow("an actor with an executor of its own", says: "Work on the Dispatch queue “store”") { orders in
        let store = Store()
        let run = Recorder<String>()
        Task {
          await store.fill()
          run.record("filled")
        }
        try await orders.runAll()
      },
      BodyRow("a block of a run loop", says: "Outside the run there is work of a run loop") { _ in
        let promise = Promise<Int, any Error>()
        RunLoop.main.perform { promise.succeed(1) }
        _ = try await promise.future.value
      },
      BodyRow(
        "a timer in real time, which does not fire during a run",
        says: "Outside the run there is a timer of the Dispatch queue “images” in real time"
      ) { _ in
        let promise = Promise<Int, any Error>()
        OrderOutsideTests.queue.asyncAfter(deadline: .now() + .seconds(1000)) { promise.succeed(1) }
        _ = try await promise.future.value
      },
      BodyRow(
        "work outside beside another failure",
        says: "\nNot explored: work on the Dispatch queue “images”"
      ) { orders in
        OrderOutsideTests.queue.async {}
        orders.context("screen").submit {}
        try await orders.runAll()
        throw always
      },
    ] + sleeps

  #if os(Linux) && compiler(>=6.3)
    private static let sleeps = [
      BodyRow("a sleep of the body", ["sleep 0.25 seconds", "body"], says: "It threw: always") { _ in
        try await Task.sleep(for: .milliseconds(250))
        throw always
      }
    ]
  #else
    private static let sleeps: [BodyRow] = []
  #endif
}

/// Objects that a test leaves behind on purpose, visible to the leak detector.
private let leftBehind = Locked<[Promise<Int, Never>]>([])

@globalActor private actor OtherActor {
  static let shared = OtherActor()
}

private actor ActorCaller {
  func startOnOtherActor() { Task { @OtherActor in } }

  func step(_ orders: Orders) async { await orders.step("in the actor") }
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
