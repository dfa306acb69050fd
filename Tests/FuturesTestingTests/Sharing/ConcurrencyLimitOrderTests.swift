import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

@Suite("exploreOrders: a limit of concurrent work, and the latest request")
struct ConcurrencyLimitOrderTests {
  struct Overrun: Error { let running: Int }
  struct LostSlot: Error { let running: Int, waiting: Int }
  struct Stale: Error { let shown: [String] }

  @Test("In every order of three tasks, of which one is cancelled, at most one runs, and no slot is lost")
  func tasks() async throws {
    let report = try await exploreOrders { orders in
      let limit = ConcurrencyLimit(1)
      let running = Recorder<String>()
      let tasks = ["a", "b", "c"].map { name in
        Task {
          try await limit.withSlot {
            running.record("\(limit.runningCount)")
            await orders.step(name)
          }
        }
      }
      await orders.step("cancel b")
      tasks[1].cancel()
      try await orders.runAll()
      for task in tasks { _ = await task.result }
      guard running.events.allSatisfy({ $0 == "1" }) else { throw Overrun(running: 2) }
      guard limit.runningCount == 0, limit.waitingCount == 0 else {
        throw LostSlot(running: limit.runningCount, waiting: limit.waitingCount)
      }
    }
    #expect(report.isExhaustive)
    #expect(report.orders > 20)
  }

  @Test("In every order of futures and a task, with a cancellation and a raised priority, no slot is lost")
  func futuresAndTasks() async throws {
    let report = try await exploreOrders { orders in
      let limit = ConcurrencyLimit(1)
      let first = limit.run { Future<Int, any Error>(on: orders.context("a")) { 1 } }
      let second = limit.run(priority: .low) { Future<Int, any Error>(on: orders.context("b")) { 2 } }
      let task = Task { try await limit.withSlot { 3 } }
      await orders.step("cancel and raise")
      first.cancel()
      limit.raisePriority(of: second, to: .high)
      try await orders.runAll()
      _ = await task.result
      guard limit.runningCount == 0, limit.waitingCount == 0, second.isResolved else {
        throw LostSlot(running: limit.runningCount, waiting: limit.waitingCount)
      }
    }
    #expect(report.isExhaustive)
  }

  @Test(
    "R17a: in every order of two requests and their answers, the screen never shows the first after the second began"
  )
  func latest() async throws {
    let report = try await exploreOrders { orders in
      let screen = orders.context("screen")
      let latest = Latest(timer: screen)
      let shown = Recorder<String>()
      let ask: @Sendable (String) -> Void = { text in
        shown.record("ask \(text)")
        latest.run(on: screen) {
          Future<String, any Error>(on: orders.context("request \(text)")) { text }
        } whenResolved: { result in
          shown.record((try? result.get()) ?? "failed")
        }
      }
      ask("a")
      screen.submit { ask("b") }
      try await orders.runAll()
      let events = shown.events
      guard let second = events.firstIndex(of: "ask b"), !events[second...].contains("a"), events.last == "b" else {
        throw Stale(shown: events)
      }
    }
    #expect(report.isExhaustive)
  }
}
