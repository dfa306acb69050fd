import Foundation
import Futures
import FuturesFoundation
import TestSupport
import Testing

/// Tests of cancellation in both directions.
struct FutureFoundationProgressCancellationTests {
  @Test(
    "R26: cancelling the progress or its parent cancels the future before the call returns, and the progress once",
    arguments: [true, false]
  )
  func progressToFuture(isParent: Bool) {
    let promise = Promise<Int, any Error>()
    let cancelled = Recorder<Int>()
    promise.onCancel { cancelled.record(1) }
    let (whole, progress) = (Progress(totalUnitCount: 1), promise.future.foundationProgress())
    whole.addChild(progress, withPendingUnitCount: 1)
    let child = CancelCounter(parent: nil)
    progress.addChild(child, withPendingUnitCount: 0)
    #expect(progress.isCancellable)
    (isParent ? whole : progress).cancel()
    #expect(child.count == 1)
    (isParent ? whole : progress).cancel()
    #expect(cancelled.events == [1])
    #expect(promise.future.failsAsCancelled)
    #expect(progress.isCancelled && progress.isFinished && !progress.isCancellable)
  }

  @Test("R3: the cancellation of a tree calls the handler of a promise without a lock, so it can wait for other trees")
  func handlerWaits() {
    let (root, promise, other) = (Promise<Int, any Error>(), Promise<Int, any Error>(), Promise<Int, any Error>())
    let (whole, separate) = (root.future.foundationProgress(), other.future.foundationProgress())
    whole.addChild(promise.future.foundationProgress(), withPendingUnitCount: 1)
    let cancelled = Recorder<Int>()
    promise.onCancel {
      race([{ other.succeed(1) }])
      cancelled.record(1)
    }
    whole.cancel()
    #expect(cancelled.events == [1])
    #expect(separate.isFinished)
    #expect(promise.future.failsAsCancelled)
    #expect(root.future.failsAsCancelled)
  }

  @Test("R26: adding a progress to a cancelled parent, explicitly or implicitly, cancels its future")
  func cancelledParent() {
    let (added, implied) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    let whole = Progress.discreteProgress(totalUnitCount: 2)
    whole.cancel()
    whole.addChild(added.future.foundationProgress(), withPendingUnitCount: 1)
    whole.becomeCurrent(withPendingUnitCount: 1)
    let progress = implied.future.foundationProgress()
    whole.resignCurrent()
    #expect(added.future.failsAsCancelled)
    #expect(implied.future.failsAsCancelled)
    #expect(progress.isCancelled)
    #expect(whole.isFinished)
  }

  @Test("R26: cancelling the future cancels its progress once, while the parent continues, as far as its end shows it")
  func futureToProgress() {
    /// Returns whether the progress of a future is cancelled after the cancellation of its source.
    func isCancelled<Failure: Error>(
      _ promise: Promise<Int, Failure>,
      _ derive: (Future<Int, Failure>) -> Future<Int, Failure> = { $0 },
      end: (Promise<Int, Failure>) -> Void = { _ in }
    ) -> Bool {
      let (whole, progress) = (Progress(totalUnitCount: 2), derive(promise.future).foundationProgress())
      let child = CancelCounter(parent: nil)
      whole.addChild(progress, withPendingUnitCount: 1)
      progress.addChild(child, withPendingUnitCount: 0)
      promise.future.cancel()
      #expect(progress.isFinished == promise.future.isResolved)
      end(promise)
      #expect(progress.isFinished)
      #expect(whole.completedUnitCount == 1 && !whole.isCancelled)
      #expect(child.count == (progress.isCancelled ? 1 : 0))
      return progress.isCancelled
    }
    let saved = Promise<Int, any Error>()
    saved.onCancel { [weak saved] in saved?.succeed(1) }
    #expect(isCancelled(Promise<Int, any Error>()))
    #expect(!isCancelled(saved))
    #expect(isCancelled(Promise<Int, any Error>()) { $0.map { $0 } })
    #expect(isCancelled(Promise<Int, CancellationError>()) { $0.map { $0 } })
    #expect(isCancelled(Promise<Int, Comparable>()) { $0.map { $0 } })
    #expect(isCancelled(Promise<Int, Incomparable>()))
    #expect(!isCancelled(Promise<Int, Incomparable>()) { $0.map { $0 } })
    // R15: a failure type without a cancelled case, so the future continues.
    #expect(isCancelled(Promise<Int, TestError>(), end: { $0.fail(TestError(1)) }))
    #expect(!isCancelled(Promise<Int, TestError>(), end: { $0.succeed(1) }))
    let failed = Promise<Int, Comparable>()
    let progress = failed.future.foundationProgress()
    failed.fail(.failed)
    #expect(!progress.isCancelled)
  }

  // MARK: Following

  @Test("R26: cancelling the future cancels the progress that it follows, now or later, but not the reverse")
  func followed() {
    let (promise, other, silent) = (Promise<Int, any Error>(), Promise<Int, any Error>(), Promise<Int, TestError>())
    let progresses = (0..<4).map { _ in Progress(totalUnitCount: 2) }
    promise.progress.follow(progresses[0])
    promise.future.map { $0 }.cancel()
    #expect(promise.future.failsAsCancelled)
    silent.future.cancel()
    promise.progress.follow(progresses[1])
    silent.progress.follow(progresses[2])
    other.progress.follow(progresses[3])
    #expect(progresses.map(\.isCancelled) == [true, true, true, false])
    progresses[3].cancel()
    #expect(!other.isResolved)
  }

  @Test("R26: a replaced or finished progress, or the progress of a resolved future, is not cancelled")
  func notCancelled() {
    let (promise, resolved) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    let progresses = (0..<3).map { _ in Progress(totalUnitCount: 2) }
    promise.progress.follow(progresses[0])
    promise.progress.follow(progresses[1])
    progresses[1].completedUnitCount = 2
    #expect(promise.future.currentProgress.completedUnitCount == 2)
    promise.future.cancel()
    resolved.progress.follow(progresses[2])
    resolved.succeed(1)
    resolved.future.cancel()
    #expect(progresses.allSatisfy { !$0.isCancelled })
  }

  @Test(
    "R5, R26: a future that follows `never` cancels the progress that it follows, and is released when it is dropped"
  )
  func orphan() {
    weak var dropped: Progress?
    func follow(isCancelled: Bool) {
      let promise = Promise<Int, any Error>()
      let progress = Progress(totalUnitCount: 2)
      dropped = progress
      promise.progress.follow(progress)
      promise.follow(.never)
      let future = promise.future
      _ = consume promise
      if isCancelled { future.cancel() }
      #expect(progress.isCancelled == isCancelled)
    }
    for isCancelled in [true, false] {
      follow(isCancelled: isCancelled)
      #expect(dropped == nil)
    }
  }
}

/// A progress that counts its cancellations.
private final class CancelCounter: Progress, @unchecked Sendable {
  // @unchecked: `Progress` is `@unchecked Sendable`, and the count is locked.
  private let calls = Locked(0)

  override func cancel() {
    calls.withLock { $0 += 1 }
    super.cancel()
  }

  var count: Int { calls.withLock { $0 } }
}

/// A failure that can represent cancellation, and is `Equatable`.
private enum Comparable: CancellableFailure { case cancelled, failed }

/// A failure that can represent cancellation, but is not `Equatable`.
private struct Incomparable: CancellableFailure {
  static var cancelled: Self { Self() }
}

extension Future {
  /// Whether the future has failed with a `CancellationError`.
  var failsAsCancelled: Bool {
    if case .failure(let error)? = peek() { error is CancellationError } else { false }
  }
}
