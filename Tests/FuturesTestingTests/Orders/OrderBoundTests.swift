import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

@Suite("R27: exploreOrders ends, whatever the body does", .unlessSanitized)
struct OrderBoundTests {
  /// Explores an endless body, and returns its failure.
  private func endless(
    repeating order: String? = nil,
    _ body: @escaping @Sendable (Orders) async throws -> Void
  ) async throws -> OrderFailure {
    let runs = Locked(0)
    let failure = try await explorationFailure {
      try await exploreOrders(repeating: order) { orders in
        runs.withLock { $0 += 1 }
        try await body(orders)
      }
    }
    let found = try #require(failure, "the body passes")
    guard case .endless = found.reason else { throw found }
    #expect(runs.withLock(\.self) == 1, "R27: one order is enough")
    #expect(found.description.utf8.count < 10_000, "R27: the text has \(found.description.utf8.count) bytes")
    return found
  }

  @Test("R27: a body that always submits more work fails, and a short text says so")
  func endlessWork() async throws {
    let failure = try await endless { orders in
      let (poll, other) = (orders.context("poll"), orders.context("other"))
      @Sendable func next() { poll.run { next() } }
      @Sendable func nextOther() { other.run { nextOther() } }
      next()
      nextOther()
      try await orders.runAll()
    }
    #expect(failure.description.contains("The body made 100,000 moves and did not end."))
    #expect(failure.description.contains("… (99,940 more) …"))
    #expect(failure.order.count == 100_000)
    #expect(failure.repeating == "")
  }

  @Test("R27: the string of an endless order has the decisions up to the last that is not the first move")
  func repeatingAnEndlessOrder() async throws {
    let body: @Sendable (Orders) async throws -> Void = { orders in
      let (a, b) = (orders.context("a"), orders.context("b"))
      let isSecond = Shared(false)
      @Sendable func next() { a.run { next() } }
      a.run { if isSecond.withLock(\.self) { next() } }
      b.run { isSecond.withLock { $0 = true } }
      try await orders.runAll()
    }
    let failure = try await explorationFailure { try await exploreOrders(body) }
    #expect(failure?.repeating == "b1")
    _ = try await endless(repeating: "b1", body)
  }

  @Test("R27: a body that only calls runAll fails")
  func endlessRunAll() async throws {
    let failure = try await endless { orders in
      while true {
        try? await orders.runAll()
        if Task.isCancelled { return }
      }
    }
    #expect(failure.description.contains("The body made 0 moves in 200,000 turns and did not end."))
  }

  @Test("R27: a task that only changes between executors, or only yields, fails", arguments: [false, true])
  func endlessChanges(yields: Bool) async throws {
    let count = Shared(0)
    _ = try await endless { _ in
      let task = Task {
        while !Task.isCancelled,
          count.withLock({
            $0 += 1; return $0 < 500_000
          })
        {
          if yields { await Task.yield() } else { await nothing() }
        }
      }
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
    }
    #expect(count.withLock(\.self) < 250_000)
  }

  @Test("R27: tasks that start ever more tasks fail")
  func everMoreTasks() async throws {
    let failure = try await endless { orders in
      @Sendable func start() {
        for _ in 1...2 {
          Task { if !Task.isCancelled { start() } }
        }
      }
      start()
      try await orders.runAll()
    }
    #expect(failure.description.contains("moves can come next: these are too many to explore."))
  }

  @Test("R27: a loop of delays that is left when the body returns is a failure, with a sentence")
  func loopOfTimers() async throws {
    let failure = try await endless { orders in
      let context = orders.context("poll")
      @Sendable func poll() {
        Future<Int, any Error>.succeeded(1).delay(by: .seconds(1), on: context)
          .whenResolved(on: .immediate) { _ in poll() }
      }
      poll()
    }
    #expect(failure.description.contains("The body returned, but the work that it left did not end"))
  }

  @Test("R27: a loop of delays on a context, in a task, or of steps is a failure as well", arguments: 0..<3)
  func otherLoops(_ kind: Int) async throws {
    let failure = try await endless { orders in
      let context = orders.context("poll")
      @Sendable func poll() {
        Future<Int, any Error>.succeeded(1).delay(by: .seconds(1), on: context).whenResolved(on: context) { _ in poll()
        }
      }
      switch kind {
      case 0: poll()
      case 1:
        Task {
          while true { _ = try? await Future<Int, any Error>.succeeded(1).delay(by: .seconds(1), on: context).value }
        }
      default:
        Task {
          while true { await orders.step("step") }
        }
      }
    }
    #expect(failure.description.contains("The body returned, but the work that it left did not end"))
  }

  @Test("R2a: timers that are left when the body returns break, and their tasks end within the run")
  func tasksOfLeftTimers() async throws {
    let runs = RunRecord()
    let report = try await exploreOrders { orders in
      let context = orders.context("poll")
      Task {
        do {
          while true {
            try await Future<Void, any Error>.succeeded(()).delay(by: .seconds(1), on: context).value
            runs.add("fired")
          }
        } catch {
          runs.add("\((error as? BrokenPromise)?.cause == .workDropped)")
        }
      }
    }
    #expect(report.description == "the only order")
    #expect(runs.all == ["true"])
  }

  @Test(
    "R27: a body with long orders stops after a million moves, and the report says that there are more",
    .enabled(if: TestTier.choose(standard: false, thorough: true))
  )
  func longOrders() async throws {
    let runs = Locked(0)
    let report = try await exploreOrders(limit: 1_000) { orders in
      runs.withLock { $0 += 1 }
      let context = orders.context("long")
      let left = Locked(50_000)
      @Sendable func next() {
        let isLast = left.withLock { left in
          left -= 1
          return left == 0
        }
        if !isLast { context.run { next() } }
      }
      next()
      for name in ["a", "b"] { orders.context(name).run {} }
      try await orders.runAll()
    }
    #expect(runs.withLock(\.self) == 20)
    #expect(report.orders == 20)
    #expect(!report.isExhaustive)
  }
}

// Not inlined: an optimised caller would not change executors.
@inline(never)
@concurrent
private func nothing() async {}
