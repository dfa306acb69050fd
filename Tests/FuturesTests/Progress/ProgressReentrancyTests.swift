import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of callbacks that use the future whose progress they get: R3, R20.
struct ProgressReentrancyTests {
  typealias Source = Future<Int, any Error>

  let promise = Promise<Int, any Error>()
  var future: Source { promise.future }

  /// Two listeners, and between them a third that acts once, at `fraction` or more.
  func logs(
    of future: Source? = nil,
    at fraction: Double = 0.5,
    _ body: @escaping @Sendable () -> Void
  ) -> [ProgressLog] {
    let future = future ?? self.future
    let logs = (0..<3).map { _ in ProgressLog() }
    // +1 where the body begins, -1 where it ends.
    let steps = Recorder<Int>()
    for number in 0..<3 {
      future.whenProgressed(on: .immediate) { progress in
        // Calls never overlap, and so they never nest.
        #expect(steps.events.reduce(0, +) == 0, "step \(number)")
        logs[number].note(progress)
        guard number == 1, progress.fractionCompleted >= fraction, steps.events.isEmpty else { return }
        steps.record(1)
        body()
        steps.record(-1)
      }
    }
    return logs
  }

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

  @Test("R19, R20: a callback adds a part; another callback makes the promise follow")
  func callbackAddsPartsAndFollows() {
    let part = Promise<Int, any Error>()
    part.progress.report(fraction: 0.9)
    let logs = logs { [promise] in promise.progress.add(part.future, share: 0.8) }
    promise.progress.report(fraction: 0.5)
    #expect(logs.map { $0.fractions.dropLast() } == [[0, 0.5], [0, 0.5], [0]])
    for log in logs { #expect(abs(log.fractions.last! - 0.82) < 1e-12) }

    let (second, other) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    other.progress.report(fraction: 0.9)
    let followed = ProgressReentrancyTests().logs(of: second.future) { second.follow(other.future) }
    second.progress.report(fraction: 0.5)
    #expect(followed.map(\.fractions) == [[0, 0.5, 0.9], [0, 0.5, 0.9], [0, 0.9]])
    other.succeed(1)
    #expect(followed.allSatisfy { $0.isSound && $0.fractions.last == 1 })
    promise.succeed(1)
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
        ProgressListenerTests.atDepth(depth) {
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
