import Foundation
import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

import FuturesFoundation

/// Tests of `ProgressReporter.follow` with a Foundation progress.
///
/// If Foundation does not notify observers, the library polls on a manual context, whose time these tests advance.
@Suite("Following a Foundation progress") struct ProgressReporterFoundationProgressTests {
  let manual = ManualContext()

  /// Waits until the library has seen a change, at the latest.
  func wait() { manual.advance(by: .milliseconds(50)) }

  @Test("R18: the future and its listener get the counts of the progress, but only the promise ends the future")
  func counts() {
    let promise = Promise<Int, any Error>()
    let progress = Progress(totalUnitCount: 10)
    progress.completedUnitCount = 1
    promise.progress.follow(progress, polling: manual.context)
    let seen = Recorder<[Int64?]>()
    promise.future.whenProgressed(on: .immediate) { seen.record([$0.completedUnitCount, $0.totalUnitCount]) }
    #expect(seen.events == [[1, 10]])
    progress.completedUnitCount = 4
    wait()
    #expect(seen.events == [[1, 10], [4, 10]])
    wait()
    progress.completedUnitCount = 10
    wait()
    #expect(seen.events == [[1, 10], [4, 10], [10, 10]])
    #expect(promise.future.currentProgress.fractionCompleted == 1.0.nextDown)
    #expect(!promise.future.currentProgress.isFinished)
    promise.succeed(1)
    #expect(seen.events == [[1, 10], [4, 10], [10, 10], [10, 10]])
    #expect(promise.future.currentProgress.isFinished)
  }

  @Test("foundationHandler reports the counts, or the fraction if children have made progress")
  func handler() {
    let promise = Promise<Int, any Error>()
    let handler: (Progress) -> Void = promise.progress.foundationHandler
    let progress = Progress(totalUnitCount: 10)
    progress.completedUnitCount = 4
    handler(progress)
    #expect(promise.future.currentProgress.completedUnitCount == 4)
    #expect(promise.future.currentProgress.totalUnitCount == 10)
    let child = Progress(totalUnitCount: 2, parent: progress, pendingUnitCount: 4)
    child.completedUnitCount = 1
    handler(progress)
    #expect(abs(promise.future.currentProgress.fractionCompleted - 0.6) < 1e-6)
    promise.succeed(1)
  }

  @Test("foundationHandler reads the Progress during the call only: it neither keeps nor cancels it")
  func handlerOnlyReads() {
    let promise = Promise<Int, any Error>()
    let handler = promise.progress.foundationHandler
    weak var released: Progress?
    do {
      let progress = Progress(totalUnitCount: 20)
      released = progress
      handler(progress)
    }
    #expect(released == nil)
    #expect(promise.future.currentProgress.totalUnitCount == 20)
    let progress = Progress(totalUnitCount: 10)
    handler(progress)
    progress.completedUnitCount = 9
    #expect(promise.future.currentProgress.completedUnitCount == 0)
    #expect(promise.future.currentProgress.totalUnitCount == 10)
    promise.future.cancel()
    #expect(!progress.isCancelled)
  }

  @Test("R20: currentProgress reads the followed progress at once, without a clock, also for a derived future")
  func asked() {
    let promise = Promise<Int, any Error>()
    let derived = promise.future.map { $0 }
    let progress = Progress(totalUnitCount: 10)
    promise.progress.follow(progress, polling: manual.context)
    for completed in 1...3 as ClosedRange<Int64> {
      progress.completedUnitCount = completed
      #expect(promise.future.currentProgress.completedUnitCount == completed)
    }
    progress.completedUnitCount = 5
    #expect(derived.currentProgress.completedUnitCount == 5)
    progress.completedUnitCount = 6
    wait()
    #expect(derived.currentProgress.completedUnitCount == 6)
    withExtendedLifetime(promise) {}
  }

  @Test("R19: changes of the followed progress reach the Foundation progress of a derived future")
  func derived() {
    let promise = Promise<Int, any Error>()
    let progress = Progress(totalUnitCount: 10)
    promise.progress.follow(progress, polling: manual.context)
    let shown = promise.future.flatMap { Future.succeeded($0) }.foundationProgress()
    progress.completedUnitCount = 4
    wait()
    #expect(shown.fractionCompleted == 0.2)
    promise.succeed(1)
    #expect(shown.isFinished)
  }

  @Test("The fraction is reported if children have made progress that the counts do not show")
  func composed() {
    let promise = Promise<Int, any Error>()
    let whole = Progress(totalUnitCount: 10)
    let part = Progress(totalUnitCount: 4, parent: whole, pendingUnitCount: 8)
    whole.completedUnitCount = 1
    promise.progress.follow(whole, polling: manual.context)
    var now: FutureProgress { promise.future.currentProgress }
    #expect([now.completedUnitCount, now.totalUnitCount] == [1, 10])
    part.completedUnitCount = 2
    #expect(now.fractionCompleted == 0.5)
    #expect(now.totalUnitCount == 1_000_000)
    part.completedUnitCount = 4
    #expect(whole.completedUnitCount == 9)
    #expect(now.fractionCompleted == 0.9)
    #expect(now.totalUnitCount == 1_000_000)
    whole.completedUnitCount = 10
    #expect(now.completedUnitCount == 1_000_000)
    promise.succeed(1)
    #expect(now.isFinished)
  }

  @Test("R18: counts that make no sense count as unknown or are clamped, and do not trap")
  func nonsense() {
    let most = Int64.max
    let table: [(completed: Int64, total: Int64, expected: [Int64?])] = [
      (0, 0, [0, nil]), (3, 0, [3, nil]), (-3, 0, [0, nil]), (3, -1, [3, nil]), (-3, -3, [0, nil]),
      (-3, 10, [0, nil]), (12, 10, [10, 10]), (most, 1, [1, 1]), (most, most, [most, most]),
      (1, most, [1, most]), (most, -1, [most, nil]), (.min, .min, [0, nil]), (.min, 7, [0, nil]),
    ]
    for (completed, total, expected) in table {
      let promise = Promise<Int, any Error>()
      let progress = Progress(totalUnitCount: total)
      progress.completedUnitCount = completed
      promise.progress.follow(progress, polling: manual.context)
      let shown = promise.future.foundationProgress()
      let now = promise.future.currentProgress
      #expect([now.completedUnitCount, now.totalUnitCount] == expected)
      #expect(now.fractionCompleted < 1)
      promise.succeed(1)
      #expect(shown.isFinished)
    }
  }

  @Test("R18: counts that make sense again are reported again")
  func nonsenseNoMore() {
    let promise = Promise<Int, any Error>()
    let progress = Progress(totalUnitCount: 10)
    promise.progress.follow(progress, polling: manual.context)
    for completed in [-3, 4] as [Int64] {
      progress.completedUnitCount = completed
      _ = promise.future.currentProgress
    }
    #expect(promise.future.currentProgress.completedUnitCount == 4)
    #expect(promise.future.currentProgress.totalUnitCount == 10)
    withExtendedLifetime(promise) {}
  }

  @Test("The total is reported when the following begins, also without a reading before the end")
  func neverAsked() {
    let promise = Promise<Int, any Error>()
    let progress = Progress(totalUnitCount: 10)
    promise.progress.follow(progress, polling: manual.context)
    promise.succeed(1)
    #expect(promise.future.currentProgress.completedUnitCount == 10)
  }

  @Test("A change during a reading does not look like the progress of children")
  func halfRead() {
    let promise = Promise<Int, any Error>()
    let progress = RestlessProgress(parent: nil)
    progress.totalUnitCount = 100
    promise.progress.follow(progress, polling: manual.context)
    for _ in 0..<5 { #expect(promise.future.currentProgress.totalUnitCount == 100) }
    withExtendedLifetime(promise) {}
  }

  @Test("R18: the fraction never decreases, whatever the progress does")
  func backwards() {
    let promise = Promise<Int, any Error>()
    let progress = Progress(totalUnitCount: 10)
    promise.progress.follow(progress, polling: manual.context)
    progress.completedUnitCount = 8
    #expect(promise.future.currentProgress.fractionCompleted == 0.8)
    progress.completedUnitCount = 2
    #expect(promise.future.currentProgress.completedUnitCount == 8)
    progress.totalUnitCount = 100
    #expect(promise.future.currentProgress.fractionCompleted == 0.8)
    #expect(promise.future.currentProgress.totalUnitCount == 100)
    withExtendedLifetime(promise) {}
  }

  @Test("R19: the followed progress counts for the share that no part has")
  func parts() {
    let (promise, child) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    promise.progress.add(child.future, share: 0.5)
    let progress = Progress(totalUnitCount: 10)
    progress.completedUnitCount = 5
    promise.progress.follow(progress, polling: manual.context)
    #expect(promise.future.currentProgress.fractionCompleted == 0.25)
    child.succeed(1)
    #expect(promise.future.currentProgress.fractionCompleted == 0.75)
    withExtendedLifetime(promise) {}
  }

  @Test("Following another progress releases the first one")
  func replaced() {
    let promise = Promise<Int, any Error>()
    weak var first: Progress?
    do {
      let progress = Progress(totalUnitCount: 10)
      first = progress
      promise.progress.follow(progress, polling: manual.context)
    }
    #expect(first != nil)
    let second = Progress(totalUnitCount: 20)
    promise.progress.follow(second, polling: manual.context)
    #expect(first == nil)
    second.completedUnitCount = 5
    #expect(promise.future.currentProgress.completedUnitCount == 5)
    withExtendedLifetime(promise) {}
  }

  @Test("The progress is released when it has finished or the future has ended, while the reporter is kept")
  func released() {
    func progress(_ reporter: ProgressReporter) -> Progress {
      let progress = Progress(totalUnitCount: 10)
      reporter.follow(progress, polling: manual.context)
      return progress
    }
    let (finishing, ending, broken) = (Promise<Int, any Error>(), Promise<Int, any Error>(), Promise<Int, Never>())
    let reporters = [finishing.progress, ending.progress, broken.progress]
    weak var first: Progress?
    weak var second: Progress?
    weak var third: Progress?
    do {
      let progress = progress(finishing.progress)
      first = progress
      progress.completedUnitCount = 10
      #expect(finishing.future.currentProgress.completedUnitCount == 10)
    }
    #expect(first == nil)
    second = progress(ending.progress)
    #expect(second != nil)
    ending.succeed(1)
    #expect(second == nil)
    third = progress(broken.progress)
    let future = broken.future
    _ = consume broken
    #expect(third == nil)
    third = progress(reporters[1])
    #expect(third == nil)
    #expect(manual.pendingCount == 0)
    withExtendedLifetime((reporters, future, finishing)) {}
  }

  @Test("R5: a reporter that follows does not keep the promise")
  func promiseNotKept() {
    var promise: Promise<Int, any Error>? = Promise()
    let future = promise!.future
    let progress = Progress(totalUnitCount: 10)
    promise!.progress.follow(progress, polling: manual.context)
    future.whenProgressed(on: .immediate) { _ in }
    promise = nil
    #expect(future.isResolved)
    #expect(manual.pendingCount == 0)
    progress.completedUnitCount = 5
    wait()
    #expect(future.currentProgress.completedUnitCount == 0)
  }

  @Test("R25: a reading task gets the changes of the progress")
  func reader() async {
    let promise = Promise<Int, any Error>()
    let progress = Progress(totalUnitCount: 3)
    promise.progress.follow(progress, polling: manual.context)
    var updates = promise.future.progress.makeAsyncIterator()
    #expect(await updates.next()?.completedUnitCount == 0)
    for completed in 1...2 as ClosedRange<Int64> {
      progress.completedUnitCount = completed
      // A new reader gets the current state. The clock drives the rest.
      #expect(await updates.next()?.completedUnitCount == completed)
    }
    promise.succeed(1)
    #expect(await updates.next()?.isFinished == true)
    #expect(await updates.next() == nil)
    #expect(manual.pendingCount == 0)
  }
}

/// A progress that advances with each reading of its count.
private final class RestlessProgress: Progress, @unchecked Sendable {
  // @unchecked: `Progress` is `@unchecked Sendable`, and only one thread uses this object.
  override var completedUnitCount: Int64 {
    get {
      defer { super.completedUnitCount += 1 }
      return super.completedUnitCount
    }
    set { super.completedUnitCount = newValue }
  }
}
