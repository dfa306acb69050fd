import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of callbacks that use the future whose progress they get: R3, R20.
struct ProgressReentrancyTests {
  typealias Source = Future<Int, any Error>

  let promise = Promise<Int, any Error>()
  var future: Source { promise.future }

  @Test("R20: a callback that reports on each call runs again until there is no new state, on a small stack")
  func reportsAgainAndAgain() {
    onThread {
      let promise = Promise<Int, any Error>()
      let (total, count) = (Int64(DepthTests.count), Locked(0))
      let log = Locked(0.0)
      promise.future.whenProgressed(on: .immediate) { progress in
        count.withLock { $0 += 1 }
        promise.progress.report(completed: progress.completedUnitCount + 1, of: total)
      }
      promise.future.whenProgressed(on: .immediate) { progress in
        log.withLock { last in
          #expect(progress.fractionCompleted >= last)
          last = progress.fractionCompleted
        }
      }
      #expect(promise.future.currentProgress.completedUnitCount == total)
      #expect(count.withLock { $0 } == Int(total) + 1)
      promise.succeed(1)
      #expect(log.withLock { $0 } == 1)
    }
  }

  @Test("R3, R20: a deinitializer that a released callback triggers can use the same future")
  func reentrantDeinit() {
    final class Reentrant: Sendable {
      let future: Source
      let reporter: ProgressReporter
      let log: Recorder<String>
      init(_ promise: Promise<Int, any Error>, _ log: Recorder<String>) {
        (future, reporter, self.log) = (promise.future, promise.progress, log)
      }
      deinit {
        let isNews = reporter.report(fraction: 0.5)
        log.record("\(isNews), \(future.currentProgress.fractionCompleted)")
        future.whenProgressed(on: .immediate) { [log] in log.record("\($0.fractionCompleted)") }
      }
    }
    let log = Recorder<String>()
    let registration: Registration
    do {
      let object = Reentrant(promise, log)
      registration = future.whenProgressed(on: .immediate) { _ in withExtendedLifetime(object) {} }
    }
    registration.remove()
    #expect(log.events == ["true, 0.5", "0.5"])
    do {
      let object = Reentrant(promise, log)
      future.whenProgressed(on: .immediate) { _ in withExtendedLifetime(object) {} }
    }
    promise.succeed(1)
    #expect(log.events.dropFirst(2).sorted() == ["1.0", "1.0", "false, 1.0"])
  }

  @Test("R20: a wait in a callback first delivers the pending reports of its thread")
  func waitInCallbackDeliversPendingWork() {
    // Deep enough to defer the report. The wait ends only after the delivery of the report.
    onThread {
      for depth in 0..<40 {
        let (promise, other) = (Promise<Int, any Error>(), Promise<Int, any Error>())
        promise.future.whenProgressed(on: .immediate) { progress in
          if progress.fractionCompleted == 0.5 { other.succeed(1) }
        }
        let log = Recorder<Bool>()
        let source = other.future
        nestDeliveries(depth) {
          promise.progress.report(fraction: 0.5)
          log.record(source.wait().isSuccess)
        }
        #expect(log.events == [true], "depth \(depth)")
        withExtendedLifetime(promise) {}
      }
    }
  }
}

extension Result {
  fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
