import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

@Suite("exploreOrders: a limit of concurrent work, and the latest request")
struct ConcurrencyLimitOrderTests {
  struct Overrun: Error { let running: Int }
  struct LostSlot: Error { let running: Int, waiting: Int }
  struct Stale: Error { let shown: [Int] }

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

  /// An object that four callers share.
  struct SharedObject: Sendable, CustomTestStringConvertible {
    typealias Work = @Sendable () -> Future<Int, any Error>

    let testDescription: String
    /// Returns a closure that asks for the result of the work.
    let make: @Sendable (@escaping Work) -> Work
  }

  static let objects = [
    SharedObject(testDescription: "FutureCache") { work in
      let cache = FutureCache<SingleKey, Int, any Error>()
      return { cache.future(work) }
    },
    SharedObject(testDescription: "PendingPromises") { work in
      let pending = PendingPromises<SingleKey, Int, any Error>()
      return { pending.shared(work) }
    },
    SharedObject(testDescription: "ConcurrencyLimit") { work in
      let limit = ConcurrencyLimit(1)
      return { limit.run(work) }
    },
  ]

  @Test(
    "R16: in every order of four callers of which the first one leaves, work never overlaps, and the other callers get its result",
    arguments: objects
  )
  func fourCallers(object: SharedObject) async throws {
    let report = try await exploreOrders(limit: 10_000) { orders in
      let (log, futures) = (Recorder<String>(), Recorder<Future<Int, any Error>>())
      let ask = object.make {
        log.record("start")
        let isRunning = Locked(true)
        let end: @Sendable () -> Void = {
          let ends = isRunning.withLock { isRunning in
            defer { isRunning = false }
            return isRunning
          }
          if ends { log.record("end") }
        }
        return Future { promise in
          promise.onCancel(end)
          orders.context("work").submit {
            end()
            promise.succeed(1)
          }
        }
      }
      for number in 0..<4 { orders.context("caller \(number)").submit { futures.record(ask()) } }
      orders.context("caller 3").submit { futures.events[0].cancel() }
      try await orders.runAll()
      let events = log.events
      let isPaired = events.indices.allSatisfy { events[$0] == ($0 % 2 == 0 ? "start" : "end") }
      try Unexpected.unless(isPaired && events.last == "end", "\(events)")
      let values = futures.events.map { try? $0.peek()?.get() }
      let served = values.dropFirst().allSatisfy { $0 == 1 }
      try Unexpected.unless(served && futures.events[0].isResolved, "\(values)")
    }
    #expect(report.isExhaustive, "\(report)")
  }

  @Test(
    "R17a: in every order of four requests and their answers, the screen shows no request after a later one began"
  )
  func latest() async throws {
    let report = try await exploreOrders(limit: 10_000) { orders in
      let screen = orders.context("screen")
      let latest = Latest(timer: screen)
      let shown = Recorder<Int>()
      let newest = Locked(0)
      for number in 1...4 {
        screen.submit {
          newest.withLock { $0 = number }
          latest.run(on: screen) {
            Future<Int, any Error>(on: orders.context("request \(number)")) { number }
          } whenResolved: { result in
            let value = try? result.get()
            shown.record(value == newest.withLock(\.self) ? number : -number)
          }
        }
      }
      try await orders.runAll()
      guard shown.events.allSatisfy({ $0 > 0 }), shown.events.last == 4 else { throw Stale(shown: shown.events) }
    }
    #expect(report.isExhaustive)
  }
}
