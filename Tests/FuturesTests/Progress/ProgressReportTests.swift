import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of the reports of a promise, and of the progress of its own future: R18.
@Suite("Progress, reports")
struct ProgressReportTests {
  // MARK: - Nonsense

  @Test(
    "R18: invalid units are clamped, and the fraction stays below 1",
    arguments: [
      (-5, 10, "0 of 10", 0), (15, 10, "10 of 10", almostDone), (10, 10, "10 of 10", almostDone),
      (3, 10, "3 of 10", 0.3), (5, -1, "0 of 0", 0), (0, 0, "0 of 0", 0), (5, 0, "0 of 0", 0),
      (.min, .max, "0 of \(Int64.max)", 0), (.max, .max, "\(Int64.max) of \(Int64.max)", almostDone),
      (.max - 1, .max, "\(Int64.max - 1) of \(Int64.max)", almostDone), (.max, .min, "0 of 0", 0),
      (1, .max, "1 of \(Int64.max)", 0x1p-63), (-5, nil, "0 of ?", 0), (.max, nil, "\(Int64.max) of ?", 0),
    ] as [(Int64, Int64?, String, Double)]
  )
  func unitsAreClamped(completed: Int64, total: Int64?, units: String, fraction: Double) {
    let promise = Promise<Int, Never>()
    let log = ProgressLog(promise.future)
    #expect(promise.progress.report(completed: completed, of: total))
    let progress = promise.future.currentProgress
    #expect(progress.units == units)
    #expect(progress.fractionCompleted == fraction)
    promise.succeed(1)
    let last = promise.future.currentProgress
    #expect(last.isFinished && last.fractionCompleted == 1)
    #expect(last.completedUnitCount == last.totalUnitCount)
    #expect(last.totalUnitCount == total.map { max(0, $0) } ?? max(1, completed))
    #expect(log.isSound)
    #expect(log.events.last == last)
  }

  @Test(
    "R18: invalid fractions are clamped, and NaN changes nothing",
    arguments: [
      (.nan, 0), (-.nan, 0), (.signalingNaN, 0), (-1, 0), (-0.0, 0), (-.infinity, 0), (.infinity, almostDone),
      (2, almostDone), (1, almostDone), (almostDone, almostDone), (.greatestFiniteMagnitude, almostDone),
      (1.0.nextUp, almostDone), (.leastNonzeroMagnitude, .leastNonzeroMagnitude), (0.5, 0.5),
    ] as [(Double, Double)]
  )
  func fractionsAreClamped(reported: Double, fraction: Double) {
    let promise = Promise<Int, Never>()
    let log = ProgressLog(promise.future)
    for _ in 0..<2 {
      #expect(promise.progress.report(fraction: reported), "reported \(reported)")
      #expect(promise.future.currentProgress.fractionCompleted == fraction, "reported \(reported)")
    }
    for nonsense: Double in [.nan, -1, 0, -.infinity] { #expect(promise.progress.report(fraction: nonsense)) }
    #expect(promise.future.currentProgress.fractionCompleted == fraction)
    promise.succeed(1)
    #expect(log.fractions == (fraction == 0 ? [0, 1] : [0, fraction, 1]))
    #expect(log.isSound)
  }

  // MARK: - No decrease

  /// One report, of either kind.
  enum Report: Sendable {
    case units(Int64, Int64?)
    case fraction(Double)

    static func random(using generator: inout SeededGenerator) -> Report {
      let totals: [Int64?] = [nil, -3, 0, 1, 7, 10, 1_000_000]
      let fractions = [Double.nan, -1, 0, 0.1, 0.5, 1, 7, .infinity]
      guard Bool.random(using: &generator) else {
        return .fraction(
          Bool.random(using: &generator)
            ? .random(in: 0..<1, using: &generator) : fractions.randomElement(using: &generator)!
        )
      }
      return .units(.random(in: -2...12, using: &generator), totals.randomElement(using: &generator)!)
    }
  }

  @Test("R18: for random reports, the progress agrees with the rules", arguments: 0..<100)
  func randomReportsAgreeWithRules(seed: Int) throws {
    var generator = SeededGenerator(seed: seed)
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
  enum End: CaseIterable, Sendable { case success, failure, cancel, drop }

  @Test(
    "R18: the fraction is 1 only on success; other endings keep the last state",
    arguments: End.allCases,
    [false, true]
  )
  func onlySuccessReachesOne(end: End, isReported: Bool) {
    var promise: Promise<Int, any Error>? = Promise()
    let future = promise!.future
    let log = ProgressLog(future)
    let reporter = promise!.progress
    if isReported { reporter.report(completed: 4, of: 4) }
    switch end {
    case .success: promise!.succeed(1)
    case .failure: promise!.fail(TestError(1))
    case .cancel: future.cancel()
    case .drop: promise = nil
    }
    #expect(future.isResolved)
    let last = isReported ? almostDone : 0
    #expect(log.fractions == (isReported ? [0, last] : [0]) + (end == .success ? [1] : []))
    #expect(future.currentProgress.isFinished == (end == .success))
    #expect(future.currentProgress.fractionCompleted == (end == .success ? 1 : last))
    #expect(future.currentProgress.units == (isReported ? "4 of 4" : end == .success ? "1 of 1" : "0 of ?"))

    // After the end, no reporter changes the progress.
    let state = future.currentProgress
    for (index, reporter) in ([reporter] + (promise.map { [$0.progress] } ?? [])).enumerated() {
      #expect(!reporter.report(fraction: 0.5), "reporter \(index)")
      #expect(!reporter.report(completed: 5, of: 5), "reporter \(index)")
      reporter.add(Future<Int, Never>.succeeded(1), share: 1)
      reporter.add(Promise<Int, any Error>().future, share: 1)
    }
    #expect(future.currentProgress == state)
    #expect(log.events.last == state && log.isSound)
  }

  @Test("R18: a future whose progress was never read shows how it ended", arguments: End.allCases)
  func endsUnasked(end: End) {
    var promise: Promise<Int, any Error>? = Promise()
    let future = promise!.future
    switch end {
    case .success: promise!.succeed(1)
    case .failure: promise!.fail(TestError(1))
    case .cancel: future.cancel()
    case .drop: promise = nil
    }
    #expect(future.currentProgress.units == (end == .success ? "1 of 1" : "0 of ?"))
    #expect(ProgressLog(future).fractions == [end == .success ? 1 : 0])
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

  @Test("R15, R18: a cancelled future without a cancelled case continues, and so do its reports")
  func cancelledTyped() {
    let promise = Promise<Int, TestError>()
    let log = ProgressLog(promise.future)
    promise.future.cancel()
    #expect(promise.progress.report(fraction: 0.5))
    promise.succeed(1)
    #expect(log.fractions == [0, 0.5, 1])
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
    "The reporter of a promise does not keep the promise, and is released when the future ends",
    arguments: End.allCases
  )
  func reporterKeepsNoPromise(end: End) {
    var promise: Promise<Int, any Error>? = Promise()
    let future = promise!.future
    weak let reporter = promise!.progress
    #expect(reporter != nil && promise!.progress === promise!.progress)
    switch end {
    case .success: promise!.succeed(1)
    case .failure: promise!.fail(TestError(1))
    case .cancel: future.cancel()
    case .drop: promise = nil
    }
    #expect(reporter == nil)
    #expect(future.isResolved)
  }

  @Test("R18: work can report before its future is returned")
  func reportsAtStart() {
    let future = Future<Int, any Error> { promise in
      promise.progress.report(completed: 3, of: 4)
      promise.succeed(1)
    }
    #expect(future.currentProgress.units == "4 of 4")
    #expect(ProgressLog(future).fractions == [1])
  }

  // MARK: - Futures without a producer

  @Test("R18, R20: a future that was made resolved reports its state once")
  func readyMade() {
    #expect(Future.succeeded(1).currentProgress.units == "1 of 1")
    #expect(Future.succeeded(1).currentProgress.isFinished)
    #expect(Future<Int, TestError>.failed(TestError(1)).currentProgress.units == "0 of ?")
    #expect(!Future<Int, TestError>.failed(TestError(1)).currentProgress.isFinished)
    #expect(ProgressLog(Future.succeeded(1)).fractions == [1])
    #expect(ProgressLog(Future<Int, TestError>.failed(TestError(1))).fractions == [0])
    #expect(ProgressLog(Future<Int, Never>.succeeded(1).map { $0 }).fractions == [1])
  }

  @Test("R18: the progress of never stays at 0, also when it is cancelled, and its listeners are released")
  func neverStaysAtZero() {
    weak var captured: Tracked?
    do {
      let never = Future<Int, any Error>.never
      let derived = never.map { $0 }.flatMap { .succeeded($0) }
      let (log, derivedLog, object) = (ProgressLog(never), ProgressLog(derived), Tracked())
      captured = object
      derived.whenProgressed(on: .immediate) { _ in object.use() }
      never.whenProgressed(on: .immediate) { _ in object.use() }
      #expect(never.currentProgress.units == "0 of ?")
      derived.cancel()
      #expect(derived.isResolved && !never.isResolved)
      never.cancel()
      #expect(never.isResolved)
      #expect(log.fractions == [0] && derivedLog.fractions == [0])
    }
    #expect(captured == nil)
    do {
      let (never, object) = (Future<Int, Never>.never, Tracked())
      captured = object
      never.whenProgressed(on: .immediate) { _ in object.use() }
      never.map { $0 }.whenProgressed(on: .immediate) { _ in object.use() }
      #expect(captured != nil)
    }
    #expect(captured == nil)
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

  @Test("R2b: a lazy future that is resolved as it starts reports its first and its last state")
  func lazyAtOnce() {
    let lazy = Future<Int, any Error>.lazy { $0.succeed(1) }
    #expect(ProgressLog(lazy).fractions == [0, 1])
    #expect(ProgressLog(lazy).fractions == [1])
  }

  @Test("R2b: a listener does not start a lazy future that was cancelled before its start")
  func lazyCancelled() {
    let started = Recorder<Int>()
    let lazy = Future<Int, any Error>.lazy { _ in started.record(1) }
    let typed = Future<Int, TestError>.lazy { _ in started.record(2) }
    lazy.cancel()
    typed.cancel()
    #expect(ProgressLog(lazy).fractions == [0])
    #expect(ProgressLog(typed).fractions == [0])
    #expect(typed.currentProgress.fractionCompleted == 0)
    #expect(started.events.isEmpty)
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
}
