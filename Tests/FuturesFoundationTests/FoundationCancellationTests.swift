import AllocationCounter
import Foundation
import Futures
import FuturesFoundation
import TestSupport
import Testing

/// Cancelling, in both directions.
@Suite("R26: cancellation and Foundation's progress") struct FoundationCancellationTests {
  @Test("R26: cancelling the progress cancels the future, before it returns")
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

  @Test("R26: so does cancelling an ancestor")
  func ancestor() {
    let promise = Promise<Int, any Error>()
    let (whole, part) = (Progress(totalUnitCount: 1), Progress(totalUnitCount: 1))
    whole.addChild(part, withPendingUnitCount: 1)
    part.addChild(promise.future.foundationProgress(), withPendingUnitCount: 1)
    whole.cancel()
    #expect(promise.future.failsAsCancelled)
  }

  @Test("R26: a progress that is added to a cancelled one cancels its future, whichever way it is added")
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

  @Test("R26: a future that is cancelled elsewhere cancels its progress, and finishes it for the parent, which goes on")
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

  @Test("R26: so does one whose source was cancelled, as far as the error tells")
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
    "R15: where the failure cannot say so, it is cancelled when the future has failed, and not when it has succeeded"
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

  @Test("R15: it shows a success that an onCancel handler made, and was cancelled all the same")
  func savedByHandler() {
    let promise = Promise<Int, any Error>()
    promise.onCancel { [weak promise] in promise?.succeed(1) }
    let progress = promise.future.foundationProgress()
    promise.future.cancel()
    #expect(progress.isFinished)
    #expect(!progress.isCancelled)
    #expect(promise.isResolved)
  }

  @Test("R16: the progress of a derived future leaves a source that others need, and those a shielded future")
  func leavesSource() {
    let promise = Promise<Int, any Error>()
    let other = promise.future.map { $0 }
    promise.future.map { $0 + 1 }.foundationProgress().cancel()
    #expect(!promise.isResolved)
    promise.future.shielded.foundationProgress().cancel()
    other.cancel()
    #expect(promise.isResolved)
  }

  @Test("It is cancelled once, whichever side begins", arguments: [true, false])
  func once(futureBegins: Bool) {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.foundationProgress()
    let child = CancelCounter(parent: nil)
    progress.addChild(child, withPendingUnitCount: 0)
    if futureBegins { promise.future.cancel() } else { progress.cancel() }
    #expect(child.count == 1)
  }

  // MARK: Following

  @Test("R26: cancelling the future cancels the progress that it follows, and not the other way")
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

  @Test("R26: one that is followed after the future was cancelled is cancelled at once")
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

  @Test("R26: one that was left, has finished, or outlived the future, is not cancelled")
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

  @Test("A future that follows what never ends still cancels the progress that it follows")
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

  @Test("R5: and it keeps neither itself nor that", .enabled(if: AllocationCounts.areSupported))
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
    let before = AllocationCounts.ofThread().liveBlocks
    for _ in 0..<100 { drop() }
    #expect(AllocationCounts.ofThread().liveBlocks == before)
  }
}

/// Pausing, which goes from a future's progress to those that its producers follow.
@Suite("Pausing and Foundation's progress") struct FoundationPausingTests {
  /// A future that follows a progress that can be paused.
  struct Work {
    let promise = Promise<Int, any Error>()
    let progress = Progress(totalUnitCount: 2)

    init() {
      progress.isPausable = true
      promise.progress.follow(progress)
    }
  }

  @Test("It is pausable while what is followed is, and pausing and resuming go there, once")
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
    work.promise.succeed(1)
    #expect(!progress.isPausable)
    progress.pause()
    #expect(!work.progress.isPaused)
  }

  @Test("They go by way of an ancestor, too")
  func ancestor() {
    let work = Work()
    let whole = Progress(totalUnitCount: 1)
    whole.addChild(work.promise.future.foundationProgress(), withPendingUnitCount: 1)
    whole.pause()
    #expect(work.progress.isPaused)
    whole.resume()
    #expect(!work.progress.isPaused)
  }

  @Test("They go through everything that passes progress on, to all that it is made of")
  func derived() {
    typealias Made = Future<Int, any Error>
    let makers: [(String, ([Made]) -> Made)] = [
      ("map", { $0[0].map { $0 } }),
      ("flatMap", { $0[0].flatMap { _ in .succeeded(1) } }),
      ("the second of flatMap", { works in Made.succeeded(1).flatMap { _ in works[0] } }),
      ("shielded", { $0[0].shielded }),
      ("all", { Future.all($0).map { $0[0] } }),
      ("race", { Future.race($0) }),
      ("twice", { Future.zip($0[0].map { $0 }, $0[0].recover { _ in 1 }.setFailureType()).map { $0.0 } }),
    ]
    for (name, make) in makers {
      let works = [Work(), Work()]
      let future = make(works.map(\.promise.future))
      let progress = future.foundationProgress()
      let expected = name == "all" || name == "race" ? [true, true] : [true, false]
      #expect(progress.isPausable, "\(name)")
      progress.pause()
      #expect(works.map(\.progress.isPaused) == expected, "\(name)")
      progress.resume()
      #expect(works.map(\.progress.isPaused) == [false, false], "\(name)")
    }
  }

  @Test("They go to the parts that a promise has added, and to what flatMap has come to, and not to what it has left")
  func partsAndStages() {
    let (whole, part) = (Promise<Int, any Error>(), Work())
    whole.progress.add(part.promise.future, share: 0.5)
    let progress = whole.future.foundationProgress()
    progress.pause()
    #expect(part.progress.isPaused)

    let (first, second) = (Work(), Work())
    let stages = first.promise.future.flatMap { _ in second.promise.future }.foundationProgress()
    first.promise.succeed(1)
    stages.pause()
    #expect(!first.progress.isPaused)
    #expect(second.progress.isPaused)
    withExtendedLifetime(whole) {}
  }

  @Test("Where nobody follows anything, it is not pausable, and pausing says so and no more")
  func nothingFollowed() {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.map { $0 }.foundationProgress()
    #expect(!progress.isPausable)
    progress.pause()
    #expect(progress.isPaused)
    progress.isPausable = true
    #expect(progress.isPausable)
    promise.succeed(1)
    #expect(progress.isFinished)
  }

  @Test("A future that follows its own progress is pointless, and harmless")
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

  @Test("R6: pausing goes down a long chain without taking stack")
  func longChain() {
    onThread {
      let work = Work()
      var future = work.promise.future
      for _ in 0..<20_000 { future = future.map { $0 } }
      let progress = future.foundationProgress()
      progress.pause()
      #expect(work.progress.isPaused)
      work.promise.succeed(1)
      #expect(progress.isFinished)
    }
  }

  @Test("A future that is reached by many ways is looked at once")
  func manyWays() {
    let work = Work()
    var future = work.promise.future
    for _ in 0..<40 { future = Future.all([future, future]).map { $0[0] } }
    let progress = future.foundationProgress()
    progress.pause()
    #expect(work.progress.isPaused)
    work.promise.succeed(1)
    #expect(progress.isFinished)
  }
}

/// A progress that counts how often it is cancelled.
private final class CancelCounter: Progress, @unchecked Sendable {
  // @unchecked: as the base class says; the count is locked.
  private let calls = Locked(0)

  override func cancel() {
    calls.withLock { $0 += 1 }
    super.cancel()
  }

  var count: Int { calls.withLock { $0 } }
}

/// A failure that can say that it was cancelled, and be compared.
private enum Comparable: CancellableFailure { case cancelled, failed }

/// A failure that can say that it was cancelled, but not be compared.
private struct Incomparable: CancellableFailure {
  static var cancelled: Self { Self() }
}

extension Future {
  /// Whether it has failed with a `CancellationError`.
  var failsAsCancelled: Bool {
    if case .failure(let error)? = peek() { error is CancellationError } else { false }
  }
}
