import Dispatch
import Futures
import FuturesAsync
import FuturesTesting
import Testing

@Suite("exploreOrders: the main actor")
struct OrderMainActorTests {
  @MainActor private final class Screen {
    var shown: [String] = []
  }

  @Test("A body on the main actor explores its contexts; work on the main actor is no choice")
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
    #expect(runs == ["a b", "b a"])
    #expect(report.isExhaustive)
  }

  @Test("The main actor waits while a move runs: work that a move submits to it runs after the move")
  @MainActor func mainActorWaits() async throws {
    try await exploreOrders { orders in
      let hasRun = Shared(false)
      let overlapped = Shared(false)
      orders.context("a").run {
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
      for name in ["a", "b"] { orders.context(name).run {} }
      try await orders.runAll()
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        @Sendable func submit(_ count: Int) {
          DispatchQueue.main.async { count == 0 ? continuation.resume() : submit(count - 1) }
        }
        submit(10_000)
      }
      runs += 1
    }
    #expect(runs == 2)
    #expect(report.description == "all 2 orders")
  }

  @Test("The return of a body from the main actor is no move")
  @MainActor func returnFromTheMainActor() async throws {
    do {
      try await exploreOrders { orders in
        MainActor.assertIsolated()
        orders.context("a").run {}
        try await orders.runAll()
        orders.context("b").run {}
        throw Unexpected(description: "always")
      }
      Issue.record("The body threw, and the exploration passed.")
    } catch let failure as OrderFailure {
      #expect(failure.order == ["a"])
      #expect(failure.report.orders == 1)
    }
  }

  @Test("A main-actor callback in a body that is not on the main actor is a failure that says so")
  func mainActorFromElsewhere() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let shown = Promise<Void, any Error>("shown")
        Future<Int, Never>(on: orders.context("network")) { 1 }.whenSucceeded(on: .main) { _ in shown.succeed() }
        try await shown.future.value
      }
    }
    guard case .uncontrolled? = failure?.reason else { return #expect(Bool(false), "\(String(describing: failure))") }
    #expect(failure?.description.contains("main actor") == true)
  }
}
