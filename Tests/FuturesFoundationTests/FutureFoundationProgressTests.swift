import AllocationCounter
import Foundation
import Futures
import FuturesFoundation
import TestSupport
import Testing

/// Tests of `foundationProgress()`: its state, and pausing and cancelling, which pass to the progresses that producers follow.
struct FutureFoundationProgressTests {
  @Test("R18: the progress counts in the units of the future, and does not finish before the future succeeds")
  func units() {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.foundationProgress()
    let whole = Progress(totalUnitCount: 10)
    whole.addChild(progress, withPendingUnitCount: 10)
    #expect(progress.counts == [0, -1])
    // The counts after each report. A total can grow, shrink and get lost. A total of zero is unknown, or it would be finished.
    let reports: [(completed: Int64, total: Int64?, counts: [Int64])] = [
      (7, nil, [7, -1]), (25, 100, [25, 100]), (100, 100, [99, 100]), (20, 20, [19, 20]), (3, 3, [2, 3]),
      (5_000_000_000, nil, [5_000_000_000, -1]), (7_000_000_000, 7_000_000_000, [6_999_999_999, 7_000_000_000]),
      (0, 0, [0, -1]), (1, 1, [0, 1]),
    ]
    for report in reports {
      promise.progress.report(completed: report.completed, of: report.total)
      #expect(progress.counts == report.counts, "\(report)")
      #expect(progress.isIndeterminate == (report.counts[1] == -1), "\(report)")
      #expect(!progress.isFinished && whole.completedUnitCount == 0, "\(report)")
    }
    promise.succeed(1)
    #expect(progress.isFinished && !progress.isCancelled)
    #expect(progress.fractionCompleted == 1)
    #expect(whole.completedUnitCount == 10)
    #expect(whole.fractionCompleted == 1)
  }

  @Test("R4, R20: every end finishes the progress, so its parent does not wait for it; only a cancellation cancels it")
  func ends() {
    /// Checks progresses that begin before and after `end` drops, resolves or cancels a promise.
    func check<Failure: Error>(_: Failure.Type, _ end: (inout Promise<Int, Failure>?) -> Void) {
      for total: Int64? in [2, nil] {
        var promise: Promise<Int, Failure>? = Promise()
        let future = promise!.future
        let (whole, before) = (Progress(totalUnitCount: 4), future.foundationProgress())
        whole.addChild(before, withPendingUnitCount: 3)
        promise!.progress.report(completed: 1, of: total)
        end(&promise)
        let expected = total ?? 1
        for progress in [before, future.foundationProgress()] {
          #expect(progress.counts == [expected, expected])
          #expect(progress.isFinished && !progress.isCancellable)
          #expect(progress.isCancelled == future.failsAsCancelled)
        }
        #expect(whole.completedUnitCount == 3)
      }
    }
    check((any Error).self) { $0?.succeed(1) }
    check((any Error).self) { $0?.fail(TestError(1)) }
    check((any Error).self) { $0?.future.cancel() }
    check((any Error).self) { $0 = nil }
    check(Never.self) { $0 = nil }
    #expect(Future<Int, any Error>.succeeded(1).foundationProgress().counts == [1, 1])
  }

  @Test("On a context, the progress changes when the context runs, and shows the final state at last")
  func onContext() {
    let held = HeldContext()
    let promise = Promise<Int, any Error>()
    let progress = promise.future.foundationProgress(on: held.context)
    promise.progress.report(completed: 1, of: 4)
    #expect(progress.counts == [0, -1])
    held.runAll()
    #expect(progress.counts == [1, 4])
    promise.progress.report(completed: 2, of: 4)
    promise.progress.report(completed: 4, of: 8)
    promise.fail(TestError(1))
    #expect(progress.counts == [1, 4])
    held.runFirst()
    #expect(progress.counts == [8, 8])
    held.runAll()
    #expect(progress.counts == [8, 8])
  }

  @Test("Futures that report and end on several threads add up correctly in one tree")
  func threads() {
    let count: Int64 = TestTier.choose(standard: 1_000, thorough: 20_000)
    let promises = (0..<4).map { _ in Promise<Int, any Error>() }
    let whole = Progress(totalUnitCount: 400)
    for promise in promises { whole.addChild(promise.future.foundationProgress(), withPendingUnitCount: 100) }
    race(
      promises.map { promise in
        {
          for completed in 1...count { promise.progress.report(completed: completed, of: count) }
          promise.succeed(1)
        }
      }
    )
    #expect(whole.completedUnitCount == 400)
    #expect(whole.fractionCompleted == 1)
  }

  // MARK: - Lifetime

  @Test("R5: a progress that is dropped early leaves nothing behind", .enabled(if: AllocationCounts.areSupported))
  func droppedEarly() {
    let promise = Promise<Int, any Error>()
    promise.progress.report(completed: 1, of: 10)
    weak var dropped: Progress?
    for future in [promise.future, .never] {
      let drop = { dropped = future.foundationProgress() }
      drop()
      #expect(dropped == nil)
      #expect(leastBlocksLeft(count: 100) { for _ in 0..<$0 { drop() } } <= 0)
    }
    #expect(!promise.future.isResolved)
    withExtendedLifetime(promise) {}
  }

  @Test("R5: the progress does not keep the result of the future, and the future does not keep the progress")
  func releasesResult() {
    let promise = Promise<Tracked, any Error>()
    let progress = promise.future.foundationProgress()
    weak let dropped = promise.future.foundationProgress(on: HeldContext().context)
    #expect(dropped == nil)
    let value = withTracked { promise.succeed($0) }.0
    #expect(!value.isReleased)
    _ = consume promise
    #expect(value.isReleased)
    #expect(progress.isFinished)
  }

  // MARK: - Pausing

  /// A future that follows a progress that can be paused.
  struct Work {
    let promise = Promise<Int, any Error>()
    let progress = Progress(totalUnitCount: 2)

    init() {
      progress.isPausable = true
      promise.progress.follow(progress)
    }
  }

  @Test("The progress is pausable while the followed progress is, and passes pause and resume on to it")
  func direct() {
    let work = Work()
    let progress = work.promise.future.foundationProgress()
    #expect(progress.isPausable)
    work.progress.isPausable = false
    #expect(!progress.isPausable)
    progress.pause()
    #expect(progress.isPaused)
    #expect(work.progress.isPaused)
    progress.resume()
    #expect(!work.progress.isPaused)
    progress.isPausable = true
    #expect(progress.isPausable)
    progress.isPausable = false
    work.promise.succeed(1)
    #expect(!progress.isPausable)
    progress.pause()
    #expect(!work.progress.isPaused)
  }

  @Test("Pausing and resuming pass from a parent through derived futures to all their inputs that have not ended")
  func pausesInputs() {
    typealias Made = Future<Int, any Error>
    let (whole, first) = (Promise<Int, any Error>(), Work())
    whole.progress.add(first.promise.future, share: 0.5)
    let makers: [(String, expected: [Bool], make: ([Made]) -> Made)] = [
      ("a part", [true, false], { _ in whole.future }),
      ("shielded", [true, false], { $0[0].shielded }),
      ("all", [true, true], { Future.all($0).map { $0[0] } }),
      ("race", [true, true], { Future.race($0) }),
      ("a path twice", [true, false], { Future.zip($0[0].map { $0 }, $0[0].flatMap { .succeeded($0) }).map { $0.0 } }),
      ("the second of flatMap", [false, true], { works in Made.succeeded(1).flatMap { _ in works[1] } }),
    ]
    for (name, expected, make) in makers {
      let works = [first, Work()]
      let (progress, parent) = (make(works.map(\.promise.future)).foundationProgress(), Progress(totalUnitCount: 1))
      parent.addChild(progress, withPendingUnitCount: 1)
      #expect(progress.isPausable, "\(name)")
      parent.pause()
      #expect(works.map(\.progress.isPaused) == expected, "\(name)")
      parent.resume()
      #expect(works.map(\.progress.isPaused) == [false, false], "\(name)")
    }
    withExtendedLifetime(whole) {}
  }

  @Test("A future that follows its own progress still works")
  func circle() {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.foundationProgress()
    promise.progress.follow(progress)
    progress.pause()
    #expect(progress.isPaused)
    progress.resume()
    promise.progress.report(completed: 1, of: 2)
    #expect(progress.counts == [1, 2])
    progress.cancel()
    #expect(promise.future.failsAsCancelled)
  }

  @Test("R6: pausing takes no stack in a long chain, and visits a future once, even if many paths lead to it")
  func longChain() {
    onThread {
      let work = Work()
      var (chain, net) = (work.promise.future, work.promise.future)
      for _ in 0..<10_000 { chain = chain.map { $0 } }
      for _ in 0..<40 { net = Future.all([net, net]).map { $0[0] } }
      for future in [chain, net] {
        let progress = future.foundationProgress()
        progress.pause()
        #expect(work.progress.isPaused)
        progress.resume()
        #expect(!work.progress.isPaused)
      }
      work.promise.succeed(1)
      #expect(chain.isResolved && net.isResolved)
    }
  }

  // MARK: - Cancellation in both directions

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

  @Test("R3: a tree that releases the progress of a pending future releases the future without a lock")
  func releaseWaits() {
    let (root, leaf, other) = (Promise<Int, any Error>(), Promise<Int, any Error>(), Promise<Int, any Error>())
    let (whole, separate) = (root.future.foundationProgress(), other.future.foundationProgress())
    do {
      let dropped = Promise<Int, any Error>()  // its release runs the callback
      dropped.future.whenFailed(on: .immediate) { _ in race([{ other.succeed(1) }]) }
      let pending = Future<Int, any Error>.never.map { value in withExtendedLifetime(dropped) { value } }
      let middle = pending.foundationProgress()
      whole.addChild(middle, withPendingUnitCount: 1)
      middle.totalUnitCount = 1
      middle.addChild(leaf.future.foundationProgress(), withPendingUnitCount: 1)
    }
    leaf.succeed(1)
    #expect(separate.isFinished)
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

extension Progress {
  /// The completed and the total units.
  var counts: [Int64] { [completedUnitCount, totalUnitCount] }
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
