import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

@Suite("Virtual clocks")
struct VirtualClockTests {
  /// Code of the user, which takes a clock.
  private func poll(every interval: Duration, times: Int, on clock: some Clock<Duration>, _ log: Recorder<String>)
    async throws
  {
    for number in 1...times {
      try await clock.sleep(for: interval)
      log.record("\(number)")
    }
  }

  @Test("A sleep on the clock of a manual context is pending work, which ends when the test has moved the time")
  func manualClock() async throws {
    let (manual, log) = (ManualContext(), Recorder<String>())
    let clock = manual.clock
    let ended = Checkpoints()
    let task = Task {
      try await clock.sleep(for: .seconds(5))
      log.record("\(clock.now.offset)")
      ended.pass("slept")
    }
    while manual.pendingCount == 0 { await Task.yield() }
    manual.advance(by: .seconds(4))
    #expect(log.events == [])
    manual.advance(by: .seconds(1))
    await ended.passing("slept").value
    #expect(log.events == ["5.0 seconds"])
    #expect(clock.now.offset == .seconds(5))
    #expect(manual.pendingCount == 0)
    try await task.value
    // A deadline that has passed.
    try await clock.sleep(until: .init(offset: .seconds(5)))
    #expect(clock.measure { manual.advance(by: .seconds(2)) } == .seconds(2))
  }

  @Test("A cancelled sleep throws CancellationError, and its timer goes")
  func cancelledSleep() async throws {
    let manual = ManualContext()
    let clock = manual.clock
    let task = Task { try await clock.sleep(for: .seconds(5)) }
    while manual.pendingCount == 0 { await Task.yield() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(manual.pendingCount == 0)
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("R5, R2a: a sleep ends with BrokenPromise when the manual context goes away, and the time stays")
  func contextGoesAway() async throws {
    var manual: ManualContext? = ManualContext()
    manual?.advance(by: .seconds(1))
    let clock = try #require(manual).clock
    let task = Task { try await clock.sleep(for: .seconds(5)) }
    while manual?.pendingCount == 0 { await Task.yield() }
    manual = nil
    await #expect(throws: BrokenPromise.self) { try await task.value }
    #expect(clock.now.offset == .seconds(1))
    await #expect(throws: BrokenPromise.self) { try await clock.sleep(for: .seconds(1)) }
  }

  @Test("exploreOrders explores sleeps on its clock in the order of their times, before and after other work")
  func clockOfOrders() async throws {
    let runs = Recorder<String>()
    let report = try await exploreOrders { orders in
      let run = Recorder<String>()
      let clock = orders.clock
      Task { try await poll(every: .seconds(10), times: 2, on: clock, run) }
      orders.context("a").submit { run.record("a") }
      try await orders.runAll()
      runs.record(run.joined)
      try Unexpected.unless(clock.now.offset == .seconds(20), "\(clock.now)")
    }
    #expect(report.isExhaustive)
    #expect(Set(runs.events) == ["a 1 2", "1 a 2", "1 2 a"])
  }
}
