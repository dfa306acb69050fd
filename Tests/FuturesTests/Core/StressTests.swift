import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

/// The table tests under real threads, for ThreadSanitizer.
struct StressTests {
  static let rounds = 300

  @Test("R1, R2: attaching, resolving and dropping race, and each callback runs once")
  func attachResolveDrop() {
    for _ in 0..<Self.rounds {
      let runs = Locked(0)
      let promise = Promise<Int, any Error>()
      let future = promise.future
      race([
        { for _ in 0..<10 { future.whenResolved(on: .immediate) { _ in runs.withLock { $0 += 1 } } } },
        { for _ in 0..<10 { future.map { $0 + 1 }.whenResolved(on: .immediate) { _ in runs.withLock { $0 += 1 } } } },
        { promise.succeed(1) },
      ])
      #expect(runs.withLock { $0 } == 20)
    }
  }

  @Test("R2: callbacks that race with the resolution keep the order of each attaching thread on a serial queue")
  func orderUnderRace() {
    for _ in 0..<Self.rounds {
      let queue = DispatchQueue(label: "serial")
      let log = Recorder<(thread: Int, number: Int)>()
      let promise = Promise<Int, Never>()
      let attach = { @Sendable (thread: Int) in
        for number in 0..<10 {
          promise.future.whenResolved(on: .queue(queue)) { _ in log.record((thread, number)) }
        }
      }
      race([{ attach(0) }, { attach(1) }, { promise.succeed(1) }])
      queue.sync {}
      for thread in 0..<2 {
        #expect(log.events.filter { $0.thread == thread }.map(\.number) == Array(0..<10), "thread \(thread)")
      }
    }
  }

  @Test("R6: a stage moves on to a private future that resolves meanwhile, and no result is lost")
  func privateRace() {
    for round in 0..<Self.rounds {
      let (outer, inner) = (Promise<Int, any Error>(), Promise<Int, any Error>())
      let log = Recorder<Int>()
      let derived = outer.future.flatMap { value in inner.future.map { $0 + value } }
      race([
        { outer.succeed(round) },
        { inner.succeed(1) },
        { derived.whenSucceeded(on: .immediate) { log.record($0) } },
      ])
      #expect(log.events == [round + 1], "round \(round)")
    }
  }

  @Test("R4: dropping the promise races with attaching and waiting")
  func dropRace() {
    for _ in 0..<Self.rounds {
      let log = Recorder<Bool>()
      let box = Locked<Promise<Int, any Error>?>(Promise())
      let future = box.withLock { $0!.future }
      race([
        {
          _ = box.withLock { $0.take() }
        },
        { future.whenFailed(on: .immediate) { log.record($0 is BrokenPromise) } },
        { log.record((try? future.wait().get()) == nil) },
      ])
      #expect(log.events == [true, true])
    }
  }
}
