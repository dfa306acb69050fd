import AllocationCounter
import Foundation
import Futures
import FuturesFoundation
import TestSupport
import Testing

/// Tests of the state that `foundationProgress()` shows.
@Suite("A future's Foundation progress") struct FutureFoundationProgressTests {
  @Test("R18: the progress counts in the units of the future, and does not finish before the future succeeds")
  func mirrors() {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.foundationProgress()
    #expect(progress.counts == [0, -1])
    #expect(progress.isIndeterminate)
    #expect(progress.fractionCompleted == 0)
    promise.progress.report(completed: 7, of: nil)
    #expect(progress.counts == [7, -1])
    #expect(progress.isIndeterminate)
    promise.progress.report(completed: 25, of: 100)
    #expect(progress.counts == [25, 100])
    #expect(progress.fractionCompleted == 0.25)
    promise.progress.report(completed: 100, of: 100)
    #expect(progress.counts == [99, 100])
    #expect(!progress.isFinished)
    promise.succeed(1)
    #expect(progress.counts == [100, 100])
    #expect(progress.fractionCompleted == 1)
    #expect(progress.isFinished)
    #expect(!progress.isCancelled)
  }

  @Test("R18: the progress takes over a total that grows, shrinks or is lost, and does not finish early")
  func totalChanges() {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.foundationProgress()
    let whole = Progress(totalUnitCount: 10)
    whole.addChild(progress, withPendingUnitCount: 10)
    let totals: [Int64?] = [10, 20, 3, nil, 500, 3_000_000_000, 7_000_000_000, nil, 9_000_000_000, 1]
    for total in totals {
      promise.progress.report(completed: total ?? 5_000_000_000, of: total)
      #expect(progress.totalUnitCount == total ?? -1)
      #expect(progress.completedUnitCount == total.map { $0 - 1 } ?? 5_000_000_000)
      #expect(!progress.isFinished)
      #expect(whole.completedUnitCount == 0)
    }
    promise.succeed(1)
    #expect(whole.completedUnitCount == 10)
    #expect(whole.fractionCompleted == 1)
  }

  @Test("R18: a total of zero counts as an unknown total, so the progress does not finish early")
  func nothingToDo() {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.foundationProgress()
    promise.progress.report(completed: 0, of: 0)
    #expect(progress.counts == [0, -1])
    #expect(!progress.isFinished)
    promise.succeed(1)
    #expect(progress.counts == [1, 1])
    #expect(progress.fractionCompleted == 1)
  }

  @Test("R19: the progress of a future with several inputs counts in millionths")
  func derived() {
    let (first, second) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    let progress = Future.all([first.future, second.future]).foundationProgress()
    first.progress.report(completed: 1, of: 2)
    #expect(progress.counts == [250_000, 1_000_000])
    first.succeed(1)
    second.succeed(2)
    #expect(progress.counts == [1_000_000, 1_000_000])
  }

  @Test("R19: a shielded future passes on progress and units")
  func shielded() {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.shielded.foundationProgress()
    promise.progress.report(completed: 1, of: 4)
    #expect(progress.counts == [1, 4])
    promise.succeed(1)
    #expect(progress.counts == [4, 4])
  }

  @Test("R20: the progress is finished before the callbacks of the future run")
  func beforeCallbacks() {
    let promise = Promise<Int, any Error>()
    let seen = Recorder<Bool>()
    let late = Locked<Progress?>(nil)
    promise.future.whenResolved(on: .immediate) { _ in seen.record(late.withLock { $0?.isFinished ?? false }) }
    let progress = promise.future.foundationProgress()
    late.withLock { $0 = progress }
    promise.succeed(1)
    #expect(seen.events == [true])
  }

  @Test("R20: the progress of a resolved future is finished from the beginning")
  func resolved() {
    for future in [Future<Int, any Error>.succeeded(1), .failed(TestError(1))] {
      let progress = future.foundationProgress()
      #expect(progress.isFinished)
      #expect(!progress.isCancelled)
      #expect(!progress.isCancellable)
    }
    #expect(Future<Int, any Error>.failed(CancellationError()).foundationProgress().isCancelled)
    let promise = Promise<Int, any Error>()
    promise.progress.report(completed: 3, of: 5)
    promise.succeed(1)
    #expect(promise.future.foundationProgress().counts == [5, 5])
  }

  @Test("The progress of a failed future is finished, so its parent does not wait for it")
  func failed() {
    let promise = Promise<Int, any Error>()
    let whole = Progress(totalUnitCount: 4)
    let progress = promise.future.foundationProgress()
    whole.addChild(progress, withPendingUnitCount: 3)
    promise.progress.report(completed: 1, of: 2)
    #expect(whole.fractionCompleted == 0.375)
    promise.fail(TestError(1))
    #expect(progress.counts == [2, 2])
    #expect(!progress.isCancelled)
    #expect(!progress.isCancellable)
    #expect(whole.completedUnitCount == 3)
    #expect(whole.fractionCompleted == 0.75)
  }

  @Test("A progress without units finishes, too, however the future ends", arguments: [true, false])
  func endsWithoutUnits(succeeds: Bool) {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.foundationProgress()
    if succeeds { promise.succeed(1) } else { promise.fail(TestError(1)) }
    #expect(progress.isFinished)
    let counting = Promise<Int, any Error>()
    let counted = counting.future.foundationProgress()
    counting.progress.report(completed: 12, of: nil)
    if succeeds { counting.succeed(1) } else { counting.fail(TestError(1)) }
    #expect(counted.counts == [12, 12])
  }

  @Test("R4: a broken promise finishes the progress, even if the failure type cannot hold the break")
  func broken() {
    func progress<Failure: Error>(_: Failure.Type) -> Progress {
      let promise = Promise<Int, Failure>()
      return promise.future.foundationProgress()
    }
    for progress in [progress((any Error).self), progress(Never.self)] {
      #expect(progress.isFinished)
      #expect(!progress.isCancelled)
    }
    let broken = { () -> Future<Int, Never> in Promise().future }()
    #expect(broken.foundationProgress().isFinished)
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
    let late = promise.future.foundationProgress(on: held.context)
    #expect(late.counts == [0, -1])
    held.runAll()
    #expect(late.isFinished)
  }

  @Test("The progress becomes a child of the progress that is current on the thread")
  func implicitChild() {
    let promise = Promise<Int, any Error>()
    let whole = Progress.discreteProgress(totalUnitCount: 10)
    whole.becomeCurrent(withPendingUnitCount: 5)
    let progress = promise.future.foundationProgress()
    whole.resignCurrent()
    #expect(whole.completedUnitCount == 0)
    promise.progress.report(completed: 1, of: 2)
    #expect(whole.fractionCompleted == 0.25)
    promise.succeed(1)
    #expect(whole.completedUnitCount == 5)
    #expect(progress.isFinished)
  }

  @Test("A parent keeps the progress alive")
  func keptByParent() {
    let promise = Promise<Int, any Error>()
    let whole = Progress(totalUnitCount: 1)
    whole.addChild(promise.future.foundationProgress(), withPendingUnitCount: 1)
    promise.progress.report(completed: 1, of: 2)
    #expect(whole.fractionCompleted == 0.5)
    promise.succeed(1)
    #expect(whole.isFinished)
  }

  @Test("Futures that report and end on several threads add up correctly in one tree")
  func threads() {
    let count: Int64 = TestTier.choose(standard: 5_000, thorough: 20_000)
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
}

/// Tests of references, and of the start of lazy futures.
@Suite("Lifetime of a future's Foundation progress") struct FutureFoundationProgressLifetimeTests {
  @Test("R16: the progress is no consumer: when all consumers have left, the future is cancelled")
  func noConsumer() {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.foundationProgress()
    let derived = promise.future.map { $0 }
    derived.cancel()
    #expect(promise.future.isResolved)
    #expect(progress.isCancelled)
    #expect(progress.isFinished)
  }

  @Test("The progress starts a lazy future, as every progress listener does")
  func startsLazy() {
    let starts = Recorder<Int>()
    let future = Future<Int, any Error>.lazy { promise in
      starts.record(1)
      promise.progress.report(completed: 1, of: 2)
      promise.succeed(1)
    }
    #expect(starts.events.isEmpty)
    #expect(future.foundationProgress().isFinished)
    #expect(starts.events == [1])
  }

  @Test("R5: a progress that is dropped early leaves nothing behind", .enabled(if: AllocationCounts.areSupported))
  func droppedEarly() {
    let promise = Promise<Int, any Error>()
    promise.progress.report(completed: 1, of: 10)
    weak var dropped: Progress?
    func drop() { dropped = promise.future.foundationProgress() }
    drop()
    #expect(dropped == nil)
    #expect(leastBlocksLeft(count: 100) { for _ in 0..<$0 { drop() } } <= 0)
    #expect(!promise.future.isResolved)
    promise.progress.report(completed: 2, of: 10)
    withExtendedLifetime(promise) {}
  }

  @Test("R5: the progress does not keep the result of the future, and the future does not keep the progress")
  func releasesResult() {
    let promise = Promise<Tracked, any Error>()
    let progress = promise.future.foundationProgress()
    weak var dropped: Progress?
    dropped = promise.future.foundationProgress(on: HeldContext().context)
    #expect(dropped == nil)
    weak var value: Tracked?
    do {
      let object = Tracked()
      value = object
      promise.succeed(object)
      #expect(value != nil)
    }
    _ = consume promise
    #expect(value == nil)
    #expect(progress.isFinished)
  }

  @Test("The progress of a future that never ends leaves nothing behind", .enabled(if: AllocationCounts.areSupported))
  func never() {
    func drop() {
      let future = Future<Int, any Error>.never
      _ = future.foundationProgress()
      let progress = future.map { $0 }.foundationProgress()
      progress.cancel()
      #expect(progress.isFinished)
    }
    drop()
    let before = AllocationCounts.ofThread().liveBlocks
    for _ in 0..<100 { drop() }
    // Foundation runs the (empty) handlers later. A few blocks belong to Dispatch.
    #expect(AllocationCounts.ofThread().liveBlocks - before < 20)
  }
}

extension Progress {
  /// The completed and the total units.
  var counts: [Int64] { [completedUnitCount, totalUnitCount] }
}
