import AllocationCounter
import Foundation
import Futures
import FuturesFoundation
import TestSupport
import Testing

/// Tests of the state that `foundationProgress()` shows.
struct FutureFoundationProgressTests {
  /// A report, and the counts that the progress then has.
  struct Report: Sendable {
    let completed: Int64
    let total: Int64?
    let counts: [Int64]

    init(_ completed: Int64, _ total: Int64?, _ counts: [Int64]) {
      self.completed = completed
      self.total = total
      self.counts = counts
    }

    // A total can grow, shrink and get lost. A total of zero is unknown, because it would be finished at once.
    static let all: [Report] = [
      Report(7, nil, [7, -1]), Report(25, 100, [25, 100]), Report(100, 100, [99, 100]), Report(20, 20, [19, 20]),
      Report(3, 3, [2, 3]), Report(5_000_000_000, nil, [5_000_000_000, -1]),
      Report(7_000_000_000, 7_000_000_000, [6_999_999_999, 7_000_000_000]), Report(0, 0, [0, -1]),
      Report(1, 1, [0, 1]),
    ]
  }

  @Test("R18: the progress counts in the units of the future, and does not finish before the future succeeds")
  func units() {
    let promise = Promise<Int, any Error>()
    let progress = promise.future.foundationProgress()
    let whole = Progress(totalUnitCount: 10)
    whole.addChild(progress, withPendingUnitCount: 10)
    #expect(progress.counts == [0, -1])
    for report in Report.all {
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

  @Test("R19: the progress of several inputs counts in millionths, and a shielded future passes on its units")
  func derived() {
    let (first, second) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    let all = Future.all([first.future, second.future]).foundationProgress()
    let shielded = first.future.shielded.foundationProgress()
    first.progress.report(completed: 1, of: 2)
    #expect(all.counts == [250_000, 1_000_000])
    #expect(shielded.counts == [1, 2])
    first.succeed(1)
    second.succeed(2)
    #expect(all.counts == [1_000_000, 1_000_000])
    #expect(shielded.counts == [2, 2])
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
    for future in [Future<Int, any Error>.succeeded(1), .failed(TestError(1)), .failed(CancellationError())] {
      let progress = future.foundationProgress()
      #expect(progress.isFinished && !progress.isCancellable)
      #expect(progress.isCancelled == future.failsAsCancelled)
    }
    let promise = Promise<Int, any Error>()
    promise.progress.report(completed: 3, of: 5)
    promise.succeed(1)
    #expect(promise.future.foundationProgress().counts == [5, 5])
  }

  @Test("The progress of a failed future is finished, so its parent does not wait for it, also without a known total")
  func failed() {
    for total: Int64? in [2, nil] {
      let promise = Promise<Int, any Error>()
      let (whole, progress) = (Progress(totalUnitCount: 4), promise.future.foundationProgress())
      whole.addChild(progress, withPendingUnitCount: 3)
      promise.progress.report(completed: 1, of: total)
      promise.fail(TestError(1))
      let expected = total ?? 1
      #expect(progress.counts == [expected, expected])
      #expect(!progress.isCancelled && !progress.isCancellable)
      #expect(whole.completedUnitCount == 3)
    }
  }

  @Test("R4: a broken promise finishes the progress, even if the failure type cannot hold the break")
  func broken() {
    func progress<Failure: Error>(_: Failure.Type) -> (before: Progress, after: Progress) {
      var promise: Promise<Int, Failure>? = Promise()
      let future = promise!.future
      let progress = future.foundationProgress()
      promise = nil
      return (progress, future.foundationProgress())
    }
    for (before, after) in [progress((any Error).self), progress(Never.self)] {
      #expect(before.isFinished && !before.isCancelled)
      #expect(after.isFinished)
    }
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

  @Test("The progress becomes a child of the progress that is current on the thread, which keeps it alive")
  func implicitChild() {
    let promise = Promise<Int, any Error>()
    let whole = Progress.discreteProgress(totalUnitCount: 10)
    whole.becomeCurrent(withPendingUnitCount: 5)
    _ = promise.future.foundationProgress()
    whole.resignCurrent()
    #expect(whole.completedUnitCount == 0)
    promise.progress.report(completed: 1, of: 2)
    #expect(whole.fractionCompleted == 0.25)
    promise.succeed(1)
    #expect(whole.completedUnitCount == 5)
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
    func drop() { dropped = promise.future.foundationProgress() }
    drop()
    #expect(dropped == nil)
    #expect(leastBlocksLeft(count: 100) { for _ in 0..<$0 { drop() } } <= 0)
    #expect(!promise.future.isResolved)
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
