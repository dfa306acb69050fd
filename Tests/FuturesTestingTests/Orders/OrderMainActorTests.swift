import Dispatch
import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

@Suite("exploreOrders: the main actor", .unlessSanitized)
struct OrderMainActorTests {
  @MainActor private final class Screen {
    var shown: [String] = []
  }

  @Test("A body on the main actor explores its contexts and the work on the main actor")
  @MainActor func bodyOnTheMainActor() async throws {
    var runs: [String] = []
    let report = try await exploreOrders { orders in
      MainActor.assertIsolated()
      let screen = Screen()
      for name in ["a", "b"] {
        Future<String, Never>(on: orders.context(name)) { name }.whenSucceeded(on: .main) { screen.shown.append($0) }
      }
      try await orders.runAll()
      runs.append(screen.shown.joined(separator: " "))
    }
    #expect(Set(runs) == ["a b", "b a"])
    #expect(report.description == "all 4 orders")
  }

  @Test("The main actor waits while a move runs: work that a move submits to it runs after the move")
  @MainActor func mainActorWaits() async throws {
    try await exploreOrders { orders in
      let hasRun = Locked(false)
      let overlapped = Locked(false)
      orders.context("a").submit {
        Future<Void, Never>.succeeded(()).whenResolved(on: .main) { _ in hasRun.withLock { $0 = true } }
        for _ in 1...20_000 where hasRun.withLock(\.self) { overlapped.withLock { $0 = true } }
      }
      try await orders.runAll()
      try Unexpected.unless(hasRun.withLock(\.self), "the main actor did not run the work")
      try Unexpected.unless(!overlapped.withLock(\.self), "the main actor ran during a move")
    }
  }

  @Test("On the main actor, steps and awaits are points where others can run")
  @MainActor func stepsOnTheMainActor() async throws {
    var runs: Set<String> = []
    try await exploreOrders { orders in
      let screen = Screen()
      let task = Task {
        await orders.step("task")
        screen.shown.append("task")
      }
      let loaded = Future<String, Never>(on: orders.context("network")) { "loaded" }
      screen.shown.append(await loaded.value)
      await task.value
      runs.insert(screen.shown.joined(separator: " "))
    }
    #expect(runs == ["loaded task", "task loaded"])
  }

  @Test("A long chain of work on the main queue is no deadlock, in the first run and in later ones")
  @MainActor func chainOnTheMainQueue() async throws {
    var runs = 0
    let report = try await exploreOrders { orders in
      for name in ["a", "b"] { orders.context(name).submit {} }
      try await orders.runAll()
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        @Sendable func submit(_ count: Int) {
          DispatchQueue.main.async { count == 0 ? continuation.resume() : submit(count - 1) }
        }
        submit(1_000)
      }
      runs += 1
    }
    #expect(runs >= 2)
    #expect(report.description == "all 2 orders")
  }

  @Test("The return of a body from the main actor is no move")
  @MainActor func returnFromTheMainActor() async throws {
    do {
      try await exploreOrders { orders in
        MainActor.assertIsolated()
        orders.context("a").submit {}
        try await orders.runAll()
        orders.context("b").submit {}
        throw Unexpected(description: "always")
      }
      Issue.record("The body threw, and the exploration passed.")
    } catch let failure as OrderFailure {
      #expect(failure.order == ["a", "main"])
      #expect(failure.report.orders == 1)
    }
  }

  @Test("A body that is not on the main actor explores hops to it, callbacks on it, and blocks of the main queue")
  func mainActorFromElsewhere() async throws {
    let runs = Recorder<String>()
    let report = try await exploreOrders { orders in
      let run = Recorder<String>()
      Future<Int, Never>(on: orders.context("network")) { 1 }.whenSucceeded(on: .main) { _ in
        MainActor.assertIsolated()
        run.record("callback")
      }
      DispatchQueue.main.async {
        dispatchPrecondition(condition: .onQueue(.main))
        run.record("block")
      }
      Task { @MainActor in run.record("task") }
      try await orders.runAll()
      runs.record(run.joined)
    }
    // The main queue keeps the order of submission.
    #expect(Set(runs.events) == ["block task callback"])
    #expect(report.description == "all 3 orders")
  }

  @Test(
    "R27: a block of the main queue that resolves a promise passes each time, and a failure in it is found each time"
  )
  func outsideBlock() async throws {
    for _ in 1...100 {
      let report = try await exploreOrders { orders in
        let promise = Promise<Int, any Error>()
        DispatchQueue.main.async { promise.succeed(1) }
        try await promise.future.receive(on: orders.context("a")).ignoreValue().value
      }
      try Unexpected.unless(report.description == "the only order", report.description)
    }
  }

  @MainActor private final class News {
    var shown = ""

    /// A late answer replaces a newer one.
    func load(_ text: String, on context: ExecutionContext) {
      Task { shown = await Future<String, Never>(on: context) { text }.value }
    }
  }

  @Test("A late answer in a view model on the main actor is found")
  @MainActor func lateAnswer() async throws {
    do {
      try await exploreOrders { orders in
        let news = News()
        news.load("old", on: orders.context("old"))
        news.load("new", on: orders.context("new"))
        try await orders.runAll()
        try Unexpected.unless(news.shown == "new", news.shown)
      }
      Issue.record("The stale answer passed.")
    } catch let failure as OrderFailure {
      #expect("\(failure.reason)".contains("old"))
    }
  }

  @Test("Two tasks that nonisolated code starts for a body on the main actor run in both orders")
  @MainActor func tasksOfNonisolatedCode() async throws {
    var runs: Set<String> = []
    let report = try await exploreOrders { orders in
      let run = Recorder<String>()
      startTwoTasks(run)
      try await orders.runAll()
      runs.insert(run.joined)
    }
    #expect(runs == ["a b", "b a"])
    #expect(report.description == "all 2 orders")
  }
}

private nonisolated func startTwoTasks(_ run: Recorder<String>) {
  for name in ["a", "b"] {
    Task { run.record(name) }
  }
}

@Suite("exploreOrders: timers of the main context", .unlessSanitized)
struct OrderMainTimerTests {
  @Test("Code that says `on: .main` has its timers in virtual time, without a change")
  @MainActor func timersOfTheMainContext() async throws {
    var runs: Set<String> = []
    let report = try await exploreOrders { orders in
      let run = Recorder<String>()
      Future<Int, any Error>(on: orders.context("network")) { 1 }
        .timeout(after: .seconds(10), on: .main)
        .whenResolved(on: .main) { result in
          MainActor.assertIsolated()
          run.record((try? result.get()) == 1 ? "value" : "timeout")
        }
      Future<Int, any Error>.never.timeout(after: .seconds(5), on: .main).whenResolved(on: .mainImmediate) { _ in
        run.record("5 s")
      }
      try await orders.runAll()
      runs.insert(run.joined)
    }
    #expect(runs == ["value 5 s", "5 s value", "5 s timeout"])
    #expect(report.description.hasPrefix("all "), "\(report)")
  }
}
