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

  @Test("A change during a reading does not look like the progress of children")
  func halfRead() {
    let progress = RestlessProgress(parent: nil)
    progress.totalUnitCount = 100
    let work = Work(progress)
    for _ in 0..<5 { #expect(work.now.totalUnitCount == 100) }
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
    case .resolved:
      promise?.succeed(1)
      #expect(future.currentProgress.totalUnitCount == 10)  // read when the following began
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

  // MARK: - Polling

  #if !canImport(ObjectiveC)
    @Test("A followed progress is read 20 times a second while it has a listener")
    func rate() {
      let progress = CountingProgress(parent: nil)
      let work = Work(progress)
      /// Returns the number of readings in a second.
      func readings() -> Int {
        let before = progress.readings
        work.manual.advance(by: .seconds(1))
        return progress.readings - before
      }
      #expect(readings() == 0)
      let registration = work.promise.future.whenProgressed(on: .immediate) { _ in }
      work.promise.future.whenProgressed(on: .immediate) { _ in }.remove()
      #expect(readings() == 20)
      #expect(work.manual.pendingCount == 1)
      registration.remove()
      #expect(readings() == 1)
      #expect(work.manual.pendingCount == 0)
      work.promise.future.map { $0 }.whenProgressed(on: .immediate) { _ in }
      #expect(readings() == 20)
      work.promise.succeed(1)
      #expect(work.manual.pendingCount == 0)
      #expect(readings() == 0)
    }

    @Test("A progress is not read after it finished or was replaced, or after the future was cancelled")
    func stops() {
      let (finished, replaced, cancelled) = (Work(), Work(), Work())
      for work in [finished, replaced, cancelled] {
        work.promise.future.whenProgressed(on: .immediate) { _ in }
        #expect(work.manual.pendingCount == 1)
      }
      finished.progress.totalUnitCount = 1
      finished.progress.completedUnitCount = 1
      finished.manual.advance(by: .milliseconds(50))
      replaced.promise.progress.follow(Progress(totalUnitCount: 1), polling: ManualContext().context)
      cancelled.promise.future.cancel()
      for work in [finished, replaced, cancelled] { #expect(work.manual.pendingCount == 0) }
    }

    @Test("A delay that begins while the future ends is cancelled")
    func endsMeanwhile() {
      let promise = Promise<Int, any Error>()
      let cancelled = Recorder<Int>()
      let context = ExecutionContext { _ in
      } after: { [weak promise] _, _ in
        promise?.succeed(1)
        return { cancelled.record(1) }
      }
      let progress = Progress(totalUnitCount: 10)
      promise.progress.follow(progress, polling: context)
      promise.future.whenProgressed(on: .immediate) { _ in }
      #expect(promise.isResolved)
      #expect(cancelled.events == [1])
    }
  #endif
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

#if !canImport(ObjectiveC)
  /// A progress that counts the calls of the getter of its total; a reading calls the getter twice.
  private final class CountingProgress: Progress, @unchecked Sendable {
    // @unchecked: `Progress` is `@unchecked Sendable`, and the count is locked.
    private let count = Locked(0)

    override var totalUnitCount: Int64 {
      get {
        count.withLock { $0 += 1 }
        return super.totalUnitCount
      }
      set { super.totalUnitCount = newValue }
    }

    var readings: Int { count.withLock { $0 } / 2 }
  }
#endif
