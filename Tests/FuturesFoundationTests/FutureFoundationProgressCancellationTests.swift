import AllocationCounter
import Foundation
import Futures
import FuturesFoundation
import TestSupport
import Testing

/// Tests of cancellation in both directions.
@Suite("R26: cancellation and Foundation's progress") struct FutureFoundationProgressCancellationTests {
  @Test("R26: cancelling the progress cancels the future before the call returns")
  func progressToFuture() {
    let promise = Promise<Int, any Error>()
    let cancelled = Recorder<Int>()
    promise.onCancel { cancelled.record(1) }
    let progress = promise.future.foundationProgress()
    #expect(progress.isCancellable)
    progress.cancel()
    #expect(cancelled.events == [1])
    #expect(promise.future.failsAsCancelled)
    #expect(progress.isCancelled)
    #expect(progress.isFinished)
    #expect(!progress.isCancellable)
    progress.cancel()
    #expect(cancelled.events == [1])
  }

  @Test("R26: cancelling an ancestor of the progress cancels the future")
  func ancestor() {
    let promise = Promise<Int, any Error>()
    let (whole, part) = (Progress(totalUnitCount: 1), Progress(totalUnitCount: 1))
    whole.addChild(part, withPendingUnitCount: 1)
    part.addChild(promise.future.foundationProgress(), withPendingUnitCount: 1)
    whole.cancel()
    #expect(promise.future.failsAsCancelled)
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

  @Test("R26: cancelling the future cancels and finishes its progress, while the parent continues")
  func futureToProgress() {
    let promise = Promise<Int, any Error>()
    let whole = Progress(totalUnitCount: 2)
    let progress = promise.future.foundationProgress()
    whole.addChild(progress, withPendingUnitCount: 1)
    promise.future.cancel()
    #expect(progress.isCancelled)
    #expect(progress.isFinished)
    #expect(whole.completedUnitCount == 1)
    #expect(!whole.isCancelled)
  }

  @Test("R26: cancelling the source cancels the progress of a derived future, as far as the error shows it")
  func cancelledSource() {
    func progress<Failure: Error>(
      _: Failure.Type,
      _ transform: (Future<Int, Failure>) -> Future<Int, Failure>
    ) -> Progress {
      let promise = Promise<Int, Failure>()
      let progress = transform(promise.future).foundationProgress()
      promise.future.cancel()
      #expect(progress.isFinished)
      return progress
    }
    #expect(progress((any Error).self) { $0.map { $0 } }.isCancelled)
    #expect(progress(CancellationError.self) { $0.map { $0 } }.isCancelled)
    #expect(progress(Comparable.self) { $0.map { $0 } }.isCancelled)
    #expect(progress(Incomparable.self) { $0 }.isCancelled)
    #expect(!progress(Incomparable.self) { $0.map { $0 } }.isCancelled)
    let failed = Promise<Int, Comparable>()
    let other = failed.future.foundationProgress()
    failed.fail(.failed)
    #expect(!other.isCancelled)
  }

  @Test(
    "R15: without a cancelled case, the progress of a cancelled future is cancelled only if the future fails"
  )
  func cannotSay() {
    let (failing, succeeding) = (Promise<Int, TestError>(), Promise<Int, TestError>())
    let progresses = [failing.future.foundationProgress(), succeeding.future.foundationProgress()]
    failing.future.cancel()
    succeeding.future.cancel()
    #expect(progresses.allSatisfy { !$0.isCancelled && !$0.isFinished })
    failing.fail(TestError(1))
    succeeding.succeed(1)
    #expect(progresses.map(\.isCancelled) == [true, false])
    #expect(progresses.map(\.isFinished) == [true, true])
  }

  @Test("R15: if an onCancel handler succeeds, the progress is finished, not cancelled")
  func savedByHandler() {
    let promise = Promise<Int, any Error>()
    promise.onCancel { [weak promise] in promise?.succeed(1) }
    let progress = promise.future.foundationProgress()
    promise.future.cancel()
    #expect(progress.isFinished)
    #expect(!progress.isCancelled)
    #expect(promise.isResolved)
  }

  @Test("R16: cancelling the progress of a derived or shielded future keeps a source with other consumers")
  func leavesSource() {
    let promise = Promise<Int, any Error>()
    let other = promise.future.map { $0 }
    promise.future.map { $0 + 1 }.foundationProgress().cancel()
    #expect(!promise.isResolved)
    other.cancel()
    #expect(promise.isResolved)

    let shielded = Promise<Int, any Error>()
    shielded.future.shielded.foundationProgress().cancel()
    #expect(!shielded.isResolved)
  }

  @Test("The progress is cancelled once, whichever side begins", arguments: [true, false])
  func once(futureBegins: Bool) {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.foundationProgress()
    let child = CancelCounter(parent: nil)
    progress.addChild(child, withPendingUnitCount: 0)
    if futureBegins { promise.future.cancel() } else { progress.cancel() }
    #expect(child.count == 1)
  }

  // MARK: Following

  @Test("R26: cancelling the future cancels the progress that it follows, but not the reverse")
  func followed() {
    let (promise, other) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    let (first, second) = (Progress(totalUnitCount: 2), Progress(totalUnitCount: 2))
    promise.progress.follow(first)
    other.progress.follow(second)
    promise.future.map { $0 }.cancel()
    #expect(first.isCancelled)
    second.cancel()
    #expect(!other.isResolved)
    #expect(promise.future.failsAsCancelled)
  }

  @Test("R26: a progress that a cancelled future begins to follow is cancelled at once")
  func followedLate() {
    let (promise, silent) = (Promise<Int, any Error>(), Promise<Int, TestError>())
    let reporters = [promise.progress, silent.progress]
    promise.future.cancel()
    silent.future.cancel()
    for reporter in reporters {
      let progress = Progress(totalUnitCount: 2)
      reporter.follow(progress)
      #expect(progress.isCancelled)
    }
    let late = Progress(totalUnitCount: 2)
    promise.progress.follow(late)
    #expect(late.isCancelled)
  }

  @Test("R26: a replaced or finished progress, or the progress of a resolved future, is not cancelled")
  func notCancelled() {
    let promise = Promise<Int, any Error>()
    let progresses = (0..<3).map { _ in Progress(totalUnitCount: 2) }
    promise.progress.follow(progresses[0])
    promise.progress.follow(progresses[1])
    progresses[1].completedUnitCount = 2
    #expect(promise.future.currentProgress.completedUnitCount == 2)
    promise.future.cancel()
    let resolved = Promise<Int, any Error>()
    resolved.progress.follow(progresses[2])
    resolved.succeed(1)
    resolved.future.cancel()
    #expect(progresses.allSatisfy { !$0.isCancelled })
  }

  @Test("A future that follows `never` still cancels the progress that it follows")
  func orphan() {
    let promise = Promise<Int, any Error>()
    let progress = Progress(totalUnitCount: 2)
    promise.progress.follow(progress)
    promise.follow(.never)
    let future = promise.future
    _ = consume promise
    future.cancel()
    #expect(progress.isCancelled)
  }

  @Test("R5: a dropped future that follows `never` is released", .enabled(if: AllocationCounts.areSupported))
  func orphanReleased() {
    weak var dropped: Progress?
    func drop() {
      let promise = Promise<Int, any Error>()
      let progress = Progress(totalUnitCount: 2)
      dropped = progress
      promise.progress.follow(progress)
      promise.follow(.never)
    }
    drop()
    #expect(dropped == nil)
    #expect(leastBlocksLeft(count: 100) { for _ in 0..<$0 { drop() } } <= 0)
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
