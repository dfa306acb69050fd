import Futures
import FuturesTesting
import TestSupport
import Testing

@Suite("exploreOrders: timers")
struct OrderTimerTests {
  /// Explores a body, and returns the record of each run, sorted.
  private func records(_ body: @escaping @Sendable (Orders, Recorder<String>) -> Void) async throws -> [String] {
    let runs = Recorder<String>()
    try await exploreOrders { orders in
      let run = Recorder<String>()
      body(orders, run)
      try await orders.runAll()
      runs.record(run.joined)
    }
    return Set(runs.events).sorted()
  }

  @Test("A race of a timeout and a value is two orders")
  func timeoutAgainstValue() async throws {
    let records = try await records { orders, run in
      Future<String, any Error>(on: orders.context("network")) { "value" }
        .timeout(after: .seconds(10), on: orders.context("clock"))
        .whenResolved(on: .immediate) { result in run.record((try? result.get()) ?? "timeout") }
    }
    #expect(records == ["timeout", "value"])
  }

  @Test("Timers fire in the order of their times, and of the same time in the order in which they were set")
  func orderOfTimers() async throws {
    let records = try await records { orders, run in
      for (context, seconds) in [("a", 3), ("b", 1), ("c", 2), ("d", 1)] {
        Future<Void, Never>.after(.seconds(seconds), on: orders.context(context))
          .whenResolved(on: .immediate) { _ in run.record("\(context)\(seconds)@\(orders.now.components.seconds)") }
      }
    }
    #expect(records == ["b1@1 d1@1 c2@2 a3@3"])
  }

  @Test("A timer fires at any point relative to other work")
  func timerAmongWork() async throws {
    let records = try await records { orders, run in
      Future<Void, Never>.after(.seconds(3600), on: orders.context("clock")).whenResolved(on: .immediate) { _ in
        run.record("timer")
      }
      for number in 1...2 { orders.context("a").submit { run.record("\(number)") } }
    }
    #expect(records == ["1 2 timer", "1 timer 2", "timer 1 2"])
  }

  @Test("A timer runs after the items that its context had when it was set, and can overtake later ones")
  func timerInItsContext() async throws {
    let records = try await records { orders, run in
      let context = orders.context("a")
      context.submit { run.record("before") }
      Future<Void, Never>.after(.seconds(1), on: context).whenResolved(on: .immediate) { _ in run.record("timer") }
      context.submit { run.record("after") }
    }
    #expect(records == ["before after timer", "before timer after"])
  }

  @Test("A timer that a timer sets is due later by its own delay")
  func timerAfterTimer() async throws {
    let records = try await records { orders, run in
      let context = orders.context("a")
      Future<Void, Never>.after(.seconds(2), on: context).whenResolved(on: .immediate) { _ in
        Future<Void, Never>.after(.seconds(2), on: context).whenResolved(on: .immediate) { _ in run.record("second") }
      }
      Future<Void, Never>.after(.seconds(3), on: context).whenResolved(on: .immediate) { _ in run.record("three") }
    }
    #expect(records == ["three second"])
  }

  @Test("A cancelled timer does not fire")
  func cancelledTimer() async throws {
    let records = try await records { orders, run in
      let timer = Future<Void, CancellationError>.succeeded(()).delay(by: .seconds(1), on: orders.context("clock"))
      timer.whenSucceeded(on: .immediate) { run.record("timer") }
      orders.context("a").submit {
        run.record("cancel")
        timer.cancel()
      }
    }
    #expect(records == ["cancel", "timer cancel"])
  }

  @Test(
    "The name of a timer is its delay in seconds",
    arguments: [(Duration.seconds(10), "10 s"), (.milliseconds(250), "0.25 s")]
  )
  func name(_ delay: Duration, _ name: String) async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        Future<Void, Never>.after(delay, on: orders.context("clock")).whenResolved(on: .immediate) { _ in }
        try await orders.runAll()
        throw Unexpected(description: "always")
      }
    }
    #expect(failure?.order == ["timer \(name)"])
  }
}
