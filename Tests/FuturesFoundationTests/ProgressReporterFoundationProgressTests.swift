import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

import FuturesFoundation

/// Tests of `ProgressReporter.follow` with a Foundation progress.
///
/// If Foundation does not notify observers, the library polls on a manual context, whose time these tests advance.
struct ProgressReporterFoundationProgressTests {
  /// A promise that follows a progress.
  struct Work {
    let manual = ManualContext()
    let promise = Promise<Int, any Error>()
    let progress: Progress

    init(_ progress: Progress = Progress(totalUnitCount: 10), completed: Int64 = 0) {
      self.progress = progress
      progress.completedUnitCount = completed
      promise.progress.follow(progress, polling: manual.context)
    }

    /// Waits until the library has seen a change, at the latest.
    func wait() { manual.advance(by: .milliseconds(50)) }

    var now: FutureProgress { promise.future.currentProgress }

    /// The completed and the total units of the future.
    var counts: [Int64?] { [now.completedUnitCount, now.totalUnitCount] }
  }

  @Test(
    "R18: the future and its listener get the counts of the progress, but only the promise ends the future",
    arguments: [false, true]
  )
  func counts(isListenerFirst: Bool) {
    let (promise, manual) = (Promise<Int, any Error>(), ManualContext())
    let seen = Recorder<[Int64?]>()
    let listen = {
      _ = promise.future.whenProgressed(on: .immediate) { seen.record([$0.completedUnitCount, $0.totalUnitCount]) }
    }
    if isListenerFirst { listen() }
    let progress = Progress(totalUnitCount: 10)
    progress.completedUnitCount = 1
    promise.progress.follow(progress, polling: manual.context)
    if !isListenerFirst { listen() }
    for completed in [4, 4, 10] as [Int64] {
      progress.completedUnitCount = completed
      manual.advance(by: .milliseconds(50))
    }
    #expect(promise.future.currentProgress.fractionCompleted == 1.0.nextDown)
    #expect(!promise.future.currentProgress.isFinished)
    promise.succeed(1)
    let expected: [[Int64?]] = [[1, 10], [4, 10], [10, 10], [10, 10]]
    #expect(seen.events.suffix(4) == expected)
    #expect(seen.events.dropLast(4) == (isListenerFirst ? [[0, nil]] : []))
    #expect(promise.future.currentProgress.isFinished)
  }

  @Test("foundationHandler reports the counts, or the fraction if children have made progress, and keeps nothing")
  func handler() {
    let promise = Promise<Int, any Error>()
    let handler: (Progress) -> Void = promise.progress.foundationHandler
    weak var released: Progress?
    do {
      let progress = Progress(totalUnitCount: 20)
      released = progress
      handler(progress)
    }
    #expect(released == nil)
    let progress = Progress(totalUnitCount: 10)
    progress.completedUnitCount = 4
    handler(progress)
    progress.completedUnitCount = 5
    #expect(promise.future.currentProgress.completedUnitCount == 4)
    #expect(promise.future.currentProgress.totalUnitCount == 10)
    let child = Progress(totalUnitCount: 2, parent: progress, pendingUnitCount: 4)
    child.completedUnitCount = 1
    handler(progress)
    #expect(abs(promise.future.currentProgress.fractionCompleted - 0.7) < 1e-6)
    promise.future.cancel()
    #expect(!progress.isCancelled)
  }

  @Test("R19, R20: currentProgress reads the followed progress at once, without a clock, also for a derived future")
  func asked() {
    let work = Work()
    let derived = work.promise.future.map { $0 }
    let shown = work.promise.future.flatMap { Future.succeeded($0) }.foundationProgress()
    for completed in 1...3 as ClosedRange<Int64> {
      work.progress.completedUnitCount = completed
      #expect(work.now.completedUnitCount == completed)
    }
    work.progress.completedUnitCount = 4
    #expect(derived.currentProgress.completedUnitCount == 4)
    work.wait()
    #expect(shown.fractionCompleted == 0.2)
    work.promise.succeed(1)
    #expect(shown.isFinished)
  }

  @Test("The fraction is reported if children have made progress that the counts do not show")
  func composed() {
    let whole = Progress(totalUnitCount: 10)
    let part = Progress(totalUnitCount: 4, parent: whole, pendingUnitCount: 8)
    let work = Work(whole, completed: 1)
    #expect(work.counts == [1, 10])
    part.completedUnitCount = 2
    #expect(work.counts == [500_000, 1_000_000])
    part.completedUnitCount = 4
    #expect(whole.completedUnitCount == 9)
    #expect(work.counts == [900_000, 1_000_000])
    whole.completedUnitCount = 10
    #expect(work.now.completedUnitCount == 1_000_000)
    work.promise.succeed(1)
    #expect(work.now.isFinished)
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
      let work = Work(Progress(totalUnitCount: total), completed: completed)
      let shown = work.promise.future.foundationProgress()
      #expect(work.counts == expected)
      #expect(work.now.fractionCompleted < 1)
      work.promise.succeed(1)
      #expect(shown.isFinished)
    }
  }

  @Test("R18: the fraction never decreases, and counts that make sense again are reported again")
  func backwards() {
    let work = Work()
    let steps: [(completed: Int64, total: Int64, fraction: Double, expected: [Int64?])] = [
      (-3, 10, 0, [0, 10]), (8, 10, 0.8, [8, 10]), (2, 10, 0.8, [8, 10]), (2, 100, 0.8, [2, 100]),
    ]
    for (completed, total, fraction, expected) in steps {
      work.progress.totalUnitCount = total
      work.progress.completedUnitCount = completed
      #expect(work.now.fractionCompleted == fraction, "\(completed) of \(total)")
      if completed >= 0 { #expect(work.counts == expected, "\(completed) of \(total)") }
    }
  }

  @Test("The total is reported when the following begins, also without a reading before the end")
  func neverAsked() {
    let work = Work()
    work.promise.succeed(1)
    #expect(work.counts == [10, 10])
  }

  @Test("A change during a reading does not look like the progress of children")
  func halfRead() {
    let progress = RestlessProgress(parent: nil)
    progress.totalUnitCount = 100
    let work = Work(progress)
    for _ in 0..<5 { #expect(work.now.totalUnitCount == 100) }
  }

  @Test("R19: the followed progress counts for the share that no part has")
  func parts() {
    let (promise, child) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    promise.progress.add(child.future, share: 0.5)
    let progress = Progress(totalUnitCount: 10)
    progress.completedUnitCount = 5
    promise.progress.follow(progress, polling: ManualContext().context)
    #expect(promise.future.currentProgress.fractionCompleted == 0.25)
    child.succeed(1)
    #expect(promise.future.currentProgress.fractionCompleted == 0.75)
  }

  /// The event that ends the following.
  enum End: CaseIterable { case replaced, finished, resolved, broken }

  @Test(
    "R5: the progress is released when it is replaced or has finished, or when the future has ended or is broken",
    arguments: End.allCases
  )
  func released(end: End) {
    let manual = ManualContext()
    var promise: Promise<Int, Never>? = Promise()
    let (future, reporter) = (promise!.future, promise!.progress)
    weak var released: Progress?
    do {
      let progress = Progress(totalUnitCount: 10)
      released = progress
      reporter.follow(progress, polling: manual.context)
      if end == .finished { progress.completedUnitCount = 10 }
    }
    #expect(released != nil)
    switch end {
    case .replaced: reporter.follow(Progress(totalUnitCount: 20), polling: manual.context)
    case .finished: #expect(future.currentProgress.completedUnitCount == 10)
    case .resolved: promise?.succeed(1)
    case .broken: promise = nil
    }
    #expect(released == nil)
    #expect(manual.pendingCount == 0)
    guard end == .resolved else { return withExtendedLifetime((promise, reporter)) {} }
    do {
      let late = Progress(totalUnitCount: 10)
      released = late
      reporter.follow(late, polling: manual.context)
    }
    #expect(released == nil)
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
