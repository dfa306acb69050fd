import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

/// R27: a search ends, whatever the body does.
@Suite(.unlessSanitized)
struct OrderBoundTests {
  typealias Body = @Sendable @isolated(any) (Orders) async throws -> Void

  /// Explores an endless body, and returns its failure.
  private func endless(repeating order: String? = nil, _ body: @escaping Body) async throws -> OrderFailure {
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

  private static let isLeft = "The body returned, but the work that it left did not end"

  static let bodies = [
    BodyRow("work that submits work", says: "moves and did not end.") { orders in
      let (poll, other) = (orders.context("poll"), orders.context("other"))
      @Sendable func next() { poll.submit { next() } }
      @Sendable func nextOther() { other.submit { nextOther() } }
      next()
      nextOther()
      try await orders.runAll()
    },
    BodyRow("calls of runAll()", says: "The body made 0 moves and did not end.") { orders in
      while !Task.isCancelled { try? await orders.runAll() }
    },
    BodyRow("changes between executors", says: "did not end") { _ in
      let task = Task { while !Task.isCancelled { await nothing() } }
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
    },
    BodyRow("Task.yield()", says: "did not end") { _ in
      let task = Task { while !Task.isCancelled { await Task.yield() } }
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
    },
    BodyRow("tasks that start tasks", says: "moves can come next: these are too many to explore.") { orders in
      @Sendable func start() {
        for _ in 1...2 {
          Task { if !Task.isCancelled { start() } }
        }
      }
      start()
      try await orders.runAll()
    },
    BodyRow("work that is dropped after the end, and submits work again", says: "did not end") { orders in
      let context = orders.context("n")
      @Sendable func load() -> Future<Int, any Error> {
        Future<Int, any Error>(on: context) { throw Unexpected(description: "offline") }.flatMapError { _ in load() }
      }
      _ = load()
    },
    BodyRow("a loop of delays that is left", says: isLeft) { orders in
      let context = orders.context("poll")
      @Sendable func poll() {
        Future<Int, any Error>.succeeded(1).delay(by: .seconds(1), on: context).whenResolved(on: .immediate) { _ in
          poll()
        }
      }
      poll()
    },
    BodyRow("a loop of delays in a task that is left", says: isLeft) { orders in
      let context = orders.context("poll")
      Task {
        while true { _ = try? await Future<Int, any Error>.succeeded(1).delay(by: .seconds(1), on: context).value }
      }
    },
    BodyRow("a loop of steps that is left", says: isLeft) { orders in
      Task { while true { await orders.step("step") } }
    },
  ]

  @Test("R27: an endless body fails after one order, and a short text says so", arguments: bodies)
  func endlessBody(_ row: BodyRow) async throws {
    let failure = try await endless(row.body)
    #expect(failure.description.contains(row.texts[0]), "\(failure)")
  }

  @Test("R27: the string of an endless order repeats it")
  func repeatingAnEndlessOrder() async throws {
    let body: Body = { orders in
      let (a, b) = (orders.context("a"), orders.context("b"))
      let isSecond = Locked(false)
      @Sendable func next() { a.submit { next() } }
      a.submit { if isSecond.withLock(\.self) { next() } }
      b.submit { isSecond.withLock { $0 = true } }
      try await orders.runAll()
    }
    let failure = try await explorationFailure { try await exploreOrders(body) }
    _ = try await endless(repeating: #require(failure).repeating, body)
  }

  @Test(
    "R27: a loop that another item ends is no failure in an order in which that item comes late",
    arguments: 0...2
  )
  func unfairOrder(_ kind: Int) async throws {
    let report = try await exploreOrders(limit: 100) { orders in
      let isDone = Locked(false)
      let clock = orders.clock
      Task {
        while !isDone.withLock(\.self) {
          switch kind {
          case 0: await Task.yield()
          case 1: try? await clock.sleep(for: .seconds(10))
          default: try? await Task.sleep(for: .seconds(10))
          }
        }
      }
      Future<Void, Never>.after(.seconds(5), on: orders.context("answer"))
        .whenResolved(on: orders.context("answer")) { _ in isDone.withLock { $0 = true } }
      try await orders.runAll()
    }
    #expect(!report.isExhaustive)
    #expect(!report.description.hasPrefix("all"), "\(report)")
  }

  @Test("R2a: timers and sleeps that are left when the body returns break, and their tasks end within the run")
  func tasksOfLeftTimers() async throws {
    let runs = Recorder<String>()
    let report = try await exploreOrders { orders in
      let (context, clock) = (orders.context("poll"), orders.clock)
      Task {
        do {
          while true { try await Future<Void, any Error>.succeeded(()).delay(by: .seconds(1), on: context).value }
        } catch {
          runs.record("timer \((error as? BrokenPromise)?.cause == .workDropped)")
        }
        do {
          while true { try await clock.sleep(for: .seconds(1)) }
        } catch {
          runs.record("sleep \(error is BrokenPromise)")
        }
      }
    }
    #expect(report.description == "the only order")
    #expect(runs.events == ["timer true", "sleep true"])
  }
}

// Not inlined: an optimised caller would not change executors.
@inline(never)
@concurrent
private func nothing() async {}
