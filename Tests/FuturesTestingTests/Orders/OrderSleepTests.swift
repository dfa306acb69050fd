import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

#if os(Linux) && compiler(>=6.3)
  @Suite("exploreOrders: sleeping tasks", .unlessSanitized)
  struct OrderSleepTests {
    /// Explores a body, and returns the record of each run, sorted.
    private func records(_ body: @escaping @Sendable (Orders, Recorder<String>) async throws -> Void) async throws
      -> [String]
    {
      let runs = Recorder<String>()
      try await exploreOrders { orders in
        let run = Recorder<String>()
        try await body(orders, run)
        try await orders.runAll()
        runs.record(run.joined)
      }
      return Set(runs.events).sorted()
    }

    @Test("R27: two tasks that sleep equally long wake within the run, in virtual time")
    func twoSleepers() async throws {
      let records = try await records { _, run in
        for name in ["a", "b"] {
          Task {
            try await Task.sleep(for: .seconds(3600))
            run.record(name)
          }
        }
      }
      #expect(records == ["a b", "b a"])
    }

    @Test("Sleeping tasks wake in the order of their times, after a timer that is due before")
    func orderOfTimes() async throws {
      let records = try await records { orders, run in
        Future<Void, Never>.after(.milliseconds(15), on: orders.context("a")).whenResolved(on: .immediate) { _ in
          run.record("timer")
        }
        async let first: Void = {
          try await Task.sleep(nanoseconds: 20_000_000)
          run.record("20@\(orders.now.inMilliseconds)")
        }()
        async let second: Void = {
          try await Task.sleep(until: .now + .milliseconds(10), clock: .continuous)
          run.record("10@\(orders.now.inMilliseconds)")
          try await Task.sleep(until: .now + .milliseconds(5), clock: .suspending)
          run.record("15@\(orders.now.inMilliseconds)")
        }()
        _ = try await (first, second)
      }
      #expect(records.contains("10@10 timer 15@15 20@20"), "\(records)")
      #expect(!records.contains { $0.hasPrefix("20") && !$0.contains("@10") })
    }

    @Test("A failure after a sleep is found, and the order names the sleep")
    func failureAfterASleep() async throws {
      let failure = try await explorationFailure {
        try await exploreOrders { _ in
          try await Task.sleep(for: .milliseconds(250))
          throw Unexpected(description: "after the sleep")
        }
      }
      #expect(failure?.order == ["sleep 0.25 s", "body"])
      #expect(failure?.description.contains("after the sleep") == true)
    }

    @Test("R27: SuspendingClock stands still during a move, and moves with a sleep")
    func suspendingClock() async throws {
      try await exploreOrders { orders in
        let start = SuspendingClock.now
        for _ in 0..<1_000 { try Unexpected.unless(SuspendingClock.now == start, "the clock moved") }
        try await Task.sleep(until: start + .seconds(1), clock: .suspending)
        try Unexpected.unless(SuspendingClock.now - start == .seconds(1), "\(SuspendingClock.now - start)")
      }
    }

    @Test("ContinuousClock stands still during a move, and moves with a sleep")
    func clock() async throws {
      try await exploreOrders { orders in
        let start = ContinuousClock.now
        try Unexpected.unless(ContinuousClock.now == start, "the clock moved")
        try await Task.sleep(for: .seconds(1))
        try Unexpected.unless(ContinuousClock.now - start == .seconds(1), "\(ContinuousClock.now - start)")
      }
    }

    @Test("A cancelled sleep ends at once")
    func cancelledSleep() async throws {
      let records = try await records { orders, run in
        let task = Task {
          do { try await Task.sleep(for: .seconds(1)) } catch { run.record("cancelled") }
        }
        task.cancel()
        await task.value
      }
      #expect(records == ["cancelled"])
    }

    @Test("A sleep on the main actor is in virtual time")
    @MainActor func sleepOnTheMainActor() async throws {
      try await exploreOrders { orders in
        let start = orders.now
        try await Task.sleep(for: .seconds(5))
        MainActor.assertIsolated()
        try Unexpected.unless(orders.now - start == .seconds(5), "\(orders.now)")
        let task = Task { @MainActor in
          try await Task.sleep(for: .seconds(5))
        }
        try await task.value
        try Unexpected.unless(orders.now - start == .seconds(10), "\(orders.now)")
      }
    }
  }

  extension Duration {
    fileprivate var inMilliseconds: Int64 { Int64(self / .milliseconds(1)) }
  }
#endif
