import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of the reports of a promise, and of the progress of its own future: R18.
struct ProgressReportTests {
  // MARK: - States

  /// One report, of either kind.
  enum Report: Sendable {
    case units(Int64, Int64?)
    case fraction(Double)

    static func random(using generator: inout SplitMix64) -> Report {
      let totals: [Int64?] = [nil, -3, 0, 1, 7, 10, 1_000_000, .max, .min]
      let completed: [Int64] = [.min, .max, .max - 1, .random(in: -2...12, using: &generator)]
      let fractions: [Double] = [.nan, -.infinity, -1, 0, .leastNonzeroMagnitude, 0.5, almostDone, 1, 7, .infinity]
      guard Bool.random(using: &generator) else {
        return .fraction(
          Bool.random(using: &generator)
            ? .random(in: 0..<1, using: &generator) : fractions.randomElement(using: &generator)!
        )
      }
      return .units(
        Bool.random(using: &generator) ? completed[3] : completed.randomElement(using: &generator)!,
        totals.randomElement(using: &generator)!
      )
    }
  }

  @Test("R18: for random reports, also of nonsense, the progress agrees with the rules", arguments: 0..<100)
  func randomReportsAgreeWithRules(seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    let promise = Promise<Int, Never>()
    let log = ProgressLog(promise.future)
    var model = (completed: Int64(0), total: Int64?.none, fraction: 0.0)
    for _ in 0..<30 {
      let report = Report.random(using: &generator)
      switch report {
      case .units(let completed, let total):
        #expect(promise.progress.report(completed: completed, of: total), "\(report)")
        let total = total.map { max(0, $0) }
        let completed = min(max(0, completed), total ?? .max)
        if total == model.total, completed < model.completed { break }
        let fraction = total.map { $0 == 0 ? 0 : Double(completed) / Double($0) } ?? 0
        model = (completed, total, max(model.fraction, min(fraction, almostDone)))
      case .fraction(let fraction):
        #expect(promise.progress.report(fraction: fraction), "\(report)")
        let clamped = fraction.isNaN ? 0 : min(max(0, fraction), 1)
        if min(clamped, almostDone) > model.fraction {
          model = (Int64((clamped * 1e6).rounded()), 1_000_000, min(clamped, almostDone))
        }
      }
      let progress = promise.future.currentProgress
      try #require(progress.completedUnitCount == model.completed, "\(report)")
      try #require(progress.totalUnitCount == model.total, "\(report)")
      try #require(progress.fractionCompleted == model.fraction, "\(report)")
      try #require(log.events.last == progress, "\(report)")
    }
    promise.succeed(1)
    #expect(log.isSound && log.fractions.last == 1)
  }

  // MARK: - The end

  /// The ways in which a future can end.
  enum End: CaseIterable, Sendable {
    case success, failure, cancel, drop

    func end(_ promise: inout Promise<Int, any Error>?) {
      switch self {
      case .success: promise?.succeed(1)
      case .failure: promise?.fail(TestError(1))
      case .cancel: promise?.future.cancel()
      case .drop: promise = nil
      }
    }
  }

  @Test(
    "R18: the fraction is 1 only on success; other endings keep the last state, also unread",
    arguments: End.allCases,
    [false, true]
  )
  func onlySuccessReachesOne(end: End, isReported: Bool) {
    var (promise, unread): (Promise<Int, any Error>?, Promise<Int, any Error>?) = (Promise(), Promise())
    let (future, unreadFuture) = (promise!.future, unread!.future)
    let log = ProgressLog(future)
    let reporter = promise!.progress
    if isReported { reporter.report(completed: 4, of: 4) }
    end.end(&promise)
    end.end(&unread)
    let isSuccess = end == .success
    #expect(future.isResolved)
    #expect(unreadFuture.currentProgress.units == (isSuccess ? "1 of 1" : "0 of ?"))
    let beforeTheEnd = isReported ? [0, almostDone] : [0]
    #expect(log.fractions == beforeTheEnd + (isSuccess ? [1] : []))
    let state = future.currentProgress
    #expect(state.isFinished == isSuccess)
    #expect(state.units == (isReported ? "4 of 4" : isSuccess ? "1 of 1" : "0 of ?"))

    // After the end, no reporter changes the progress.
    for (index, reporter) in ([reporter] + (promise.map { [$0.progress] } ?? [])).enumerated() {
      #expect(!reporter.report(fraction: 0.5), "reporter \(index)")
      #expect(!reporter.report(completed: 5, of: 5), "reporter \(index)")
      reporter.add(Future<Int, Never>.succeeded(1), share: 1)
      reporter.add(Promise<Int, any Error>().future, share: 1)
    }
    #expect(future.currentProgress == state)
    #expect(log.events.last == state && log.isSound)
  }

  @Test("R4, R18: a broken promise that cannot fail with the break keeps its last state and rejects reports")
  func brokenTyped() {
    var promise: Promise<Int, TestError>? = Promise()
    let future = promise!.future
    let log = ProgressLog(future)
    let reporter = promise!.progress
    reporter.report(completed: 1, of: 2)
    promise = nil
    #expect(!future.isResolved)
    #expect(!reporter.report(completed: 2, of: 2))
    #expect(future.currentProgress.units == "1 of 2")
    #expect(log.fractions == [0, 0.5])
    #expect(ProgressLog(future).fractions == [0.5])
    #expect(ProgressLog(future.map { $0 }).fractions.count == 1)
  }

  @Test("R15, R18: a report in an onCancel handler comes before the end")
  func reportOnCancel() {
    let promise = Promise<Int, any Error>()
    let log = ProgressLog(promise.future)
    let answers = Recorder<Bool>()
    let progress = promise.progress
    promise.onCancel { answers.record(progress.report(fraction: 0.5)) }
    promise.future.cancel()
    #expect(answers.events == [true])
    #expect(log.fractions == [0, 0.5])
    #expect(!progress.report(fraction: 0.6))
  }

  @Test("R2a, R18: a promise that follows can report until the other future is resolved; the furthest counts")
  func followingPromiseReportsUntilResolved() {
    let (promise, other) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    let log = ProgressLog(promise.future)
    promise.progress.report(fraction: 0.25)
    promise.follow(other.future)
    #expect(promise.progress.report(fraction: 0.5))
    other.progress.report(fraction: 0.4)
    other.progress.report(fraction: 0.75)
    #expect(promise.progress.report(fraction: 0.6))
    other.succeed(1)
    #expect(!promise.progress.report(fraction: 0.8))
    #expect(log.fractions == [0, 0.25, 0.5, 0.75, 1])
    #expect(log.isSound)
  }

  // MARK: - The reporter

  @Test(
    "R4: a reporter or its handler does not keep the promise, and is released when the future ends",
    arguments: End.allCases
  )
  func reporterKeepsNoPromise(end: End) {
    var promise: Promise<Int, any Error>? = Promise()
    let future = promise!.future
    weak let reporter = promise!.progress
    var handler: ((Double) -> Void)? = promise!.progress.fractionHandler
    #expect(reporter != nil && promise!.progress === promise!.progress)
    end.end(&promise)
    #expect(future.isResolved)
    handler?(0.5)
    handler = nil
    #expect(reporter == nil)
  }

  // MARK: - Lazy futures

  @Test("R2b: reading the progress of a lazy future starts nothing; listening starts it once, after the first call")
  func listeningStartsLazyFuture() {
    let log = Recorder<String>()
    let promises = Recorder<Promise<Int, any Error>>()
    let lazy = Future<Int, any Error>.lazy { promise in
      log.record("start")
      promise.progress.report(fraction: 0.5)
      promises.record(promise)
    }
    let whole = Promise<Int, any Error>()
    whole.progress.add(lazy, share: 0.5)
    #expect(lazy.currentProgress.fractionCompleted == 0)
    #expect(whole.future.currentProgress.fractionCompleted == 0)
    whole.future.whenProgressed(on: .immediate) { log.record("whole \($0.fractionCompleted)") }
    #expect(log.events == ["whole 0.0"])
    for name in ["a", "b"] { lazy.whenProgressed(on: .immediate) { log.record("\(name) \($0.fractionCompleted)") } }
    #expect(log.events == ["whole 0.0", "a 0.0", "start", "a 0.5", "whole 0.25", "b 0.5"])
    promises.events[0].succeed(1)
    #expect(lazy.currentProgress.isFinished)
    #expect(whole.future.currentProgress.fractionCompleted == 0.5)
  }

  @Test("R2b: a dropped lazy future whose progress was only read, or added, stays unstarted and is released")
  func lazyDropped() {
    let whole = Promise<Int, any Error>()
    let started = Recorder<Int>()
    weak var captured: Tracked?
    func makeLazy() -> Future<Int, any Error> {
      let object = Tracked()
      captured = object
      return .lazy { _ in
        object.use()
        started.record(1)
      }
    }
    do {
      let lazy = makeLazy()
      #expect(lazy.currentProgress.fractionCompleted == 0)
      #expect(captured != nil)
    }
    #expect(captured == nil)
    do {
      let lazy = makeLazy()
      whole.progress.add(lazy, share: 0.5)
      whole.succeed(1)
      #expect(captured != nil)
    }
    #expect(captured == nil && started.events.isEmpty)
  }

  // MARK: - Handlers

  @Test("Each handler reports its arguments; a total below zero is unknown")
  func reports() {
    let calls: [(String, Double, (ProgressReporter) -> Void)] = [
      ("3 of 10", 0.3, { $0.unitCountHandler(3, 10) }),
      ("3 of ?", 0, { $0.unitCountHandler(3, -1) }),
      ("3 of 10", 0.3, { $0.countHandler(3, 10) }),
      ("3 of ?", 0, { $0.countHandler(3, -1) }),
      ("500000 of 1000000", 0.5, { $0.fractionHandler(0.5) }),
      ("500000 of 1000000", 0.5, { $0.floatFractionHandler(0.5) }),
      ("3 of 10", 0.3, { $0.report(completed: Int(3), of: 10) }),
      ("3 of ?", 0, { $0.report(completed: Int(3), of: nil) }),
    ]
    for (units, fraction, report) in calls {
      let promise = Promise<Int, Never>()
      report(promise.progress)
      #expect(promise.future.currentProgress.units == units)
      #expect(promise.future.currentProgress.fractionCompleted == fraction)
      promise.succeed(1)
    }
  }
}
