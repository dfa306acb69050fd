import Futures
import FuturesTesting
import TestSupport
import Testing

/// Operations that end while they start the timer, or the registration, that could end them.
struct InterruptionTests {
  typealias Ending = Locked<(@Sendable () -> Void)?>

  /// An operation with a timer, which ends when `ending` runs.
  enum Operation: CaseIterable, Sendable {
    case timeout, failingTimeout, cancelledTimeout, delay, tokenSource

    func run(on context: ExecutionContext, capturing object: Tracked, ending: Ending) {
      let promise = Promise<Tracked?, any Error>()
      switch self {
      case .timeout, .failingTimeout:
        let result: Result<Tracked?, any Error> = self == .timeout ? .success(nil) : .failure(TestError(1))
        ending.withLock { $0 = { promise.resolve(result) } }
        let derived = promise.future.timeout(after: .seconds(1), on: context, fallback: object)
        #expect(derived.isResolved)
      case .cancelledTimeout:
        ending.withLock { $0 = { promise.future.cancel() } }
        let derived = promise.future.timeout(after: .seconds(1), on: context, fallback: object)
        #expect(throws: CancellationError.self) { try derived.peek()?.get() }
      case .delay:
        let derived = promise.future.delay(by: .seconds(1), on: context)
        ending.withLock { $0 = { derived.cancel() } }
        promise.succeed(object)
        #expect(throws: CancellationError.self) { try derived.peek()?.get() }
      case .tokenSource:
        let source = CancellationTokenSource()
        source.token.register { object.use() }
        ending.withLock { $0 = { source.cancel() } }
        source.cancel(after: .seconds(1), on: context)
        #expect(source.isCancelled)
      }
    }
  }

  @Test(
    "R12, R14: a timer that starts while its operation ends is cancelled once, and released",
    arguments: Operation.allCases
  )
  func endedDuringStart(operation: Operation) {
    let log = Recorder<String>()
    let ending = Ending(nil)
    let context = ExecutionContext(execute: { work in work() }) { _, work in
      log.record("started")
      let end = ending.withLock { $0.take() }
      end?()
      return {
        log.record("cancelled")
        withExtendedLifetime(work) {}
      }
    }
    let (captured, _) = withTracked { operation.run(on: context, capturing: $0, ending: ending) }
    #expect(log.events == ["started", "cancelled"])
    #expect(captured.isReleased)
  }

  @Test("R5, R12: a deadline that has passed releases its timer, also after the source has broken")
  func passedDeadlineReleasesTimer() {
    let timer = Ending(nil)
    var future = Future<Int, TestError>.never
    let (captured, _) = withTracked { object in
      let context = ExecutionContext(execute: { work in work() }) { _, work in
        timer.withLock { $0 = work }
        return { object.use() }
      }
      // Recorded by `brokenPromises`, because the timeout of a dropped promise causes a report (R4).
      _ = brokenPromises(madeIn: #fileID) {
        future = Promise<Int, TestError>().future.timeout(after: .seconds(1), on: context, fallback: 1)
      }
    }
    #expect(!captured.isReleased)
    timer.withLock { $0.take() }?()
    #expect(future.peek() == .success(1))
    #expect(captured.isReleased)
  }

  @Test("R14: a lazy future that succeeds when `cancelled(by:)` attaches to it leaves nothing with the token")
  func resolvedBeforeRegistration() {
    let source = CancellationTokenSource()
    let (captured, _) = withTracked { object in
      let derived = Future<Tracked, any Error>.lazy { $0.succeed(object) }.cancelled(by: source.token)
      #expect(derived.isResolved)
    }
    #expect(captured.isReleased)
    withExtendedLifetime(source) {}
  }
}
