import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of the progress of futures that derive from one source: R19.
struct ProgressCompositionTests {
  typealias Source = Future<Int, any Error>

  @Test(
    "R19: operators that pass progress on keep its units, for each order of reporting and asking",
    arguments: Operator.passingProgressOn,
    0..<3
  )
  func operatorsPassUnitsOn(_ operation: Operator, listensAt: Int) throws {
    for (reportsBefore, isDerivedSource, succeeds) in (0..<8).map({ ($0 & 1 == 0, $0 & 2 == 0, $0 & 4 == 0) }) {
      let row: Comment = "reports before: \(reportsBefore), derived source: \(isDerivedSource), succeeds: \(succeeds)"
      let it = Surroundings()
      let promise = Promise<Int, any Error>()
      if reportsBefore { promise.progress.report(completed: 3, of: 10) }
      let derived = operation.derive(isDerivedSource ? promise.future.map { $0 } : promise.future, it)
      var log = listensAt == 0 ? derived.log() : nil
      let reports: [(Int64, Int64?)] = [(3, 10), (7, nil), (12, 20)]
      for (number, report) in reports.enumerated() {
        promise.progress.report(completed: report.0, of: report.1)
        if listensAt == number + 1 { log = derived.log() }
        if log != nil { try #require(derived.current() == promise.future.currentProgress, row) }
      }
      try #require(derived.current().units == "12 of 20" && derived.current().fractionCompleted == 0.6, row)
      try #require(log?.events.last == derived.current(), row)
      promise.resolve(succeeds ? .success(1) : .failure(TestError(1)))
      it.manual.advance(by: .seconds(200))
      try #require(derived.isResolved(), row)
      let isFinished = succeeds || operation.traits.contains(.recovers)
      try #require(derived.current().isFinished == isFinished, row)
      try #require(derived.current().units == (isFinished ? "20 of 20" : "12 of 20"), row)
      try #require(log?.events.last == derived.current() && log?.isSound == true, row)
      guard listensAt == 0 else { continue }
      let units = ["3 of 10", "7 of ?", "12 of 20"] + (isFinished ? ["20 of 20"] : [])
      try #require(log?.units == (reportsBefore ? [] : ["0 of ?"]) + units, row)
    }
  }

  @Test("R19: each caller of shared work has its fraction", arguments: Operator.shared)
  func sharedWorkPassesFractionOn(_ operation: Operator) {
    let promise = Promise<Int, any Error>()
    let log = operation.derive(promise.future, Surroundings()).log()
    promise.progress.report(fraction: 0.5)
    let half = [0, 0.5]
    #expect(log.fractions == half)
    promise.succeed(1)
    #expect(log.fractions.last == 1 && log.isSound)
  }

  @Test("R19: a stage that only waits has no share; work before it has its share")
  func waitsHaveNoShare() {
    let manual = ManualContext()
    let (context, second) = (manual.context, Promise<Int, any Error>())
    let work = Promise<Int, any Error>()
    let next = { @Sendable (_: Int) in second.future }
    let logs = [
      Future.after(.seconds(1), on: context).setFailureType(to: (any Error).self).flatMap { second.future },
      Source.succeeded(1).delay(by: .seconds(1), on: context).flatMap(next),
      Source.succeeded(1).receive(on: context).flatMap(next),
      Source.succeeded(1).delay(by: .seconds(1), on: context).receive(on: context).flatMap(on: context, next),
      work.future.delay(by: .seconds(1), on: context).flatMap(next),
    ].map { ProgressLog($0) }
    work.progress.report(fraction: 0.5)
    work.succeed(1)
    manual.advance(by: .seconds(1))
    second.progress.report(fraction: 0.5)
    second.succeed(1)
    let secondOnly = [0, 0.5, 1]
    let both = [0, 0.25, 0.5, 0.75, 1]
    #expect(logs.map(\.fractions) == [secondOnly, secondOnly, secondOnly, secondOnly, both])
    #expect(logs.allSatisfy { $0.isSound })
  }

  @Test("R19: a timer is no part of zip and all; the progress is 1 only at the end", arguments: [true, false])
  func waitingInputsAreNoParts(endsWithTimer: Bool) {
    let manual = ManualContext()
    let (first, second) = (Promise<Int, Never>(), Promise<Int, Never>())
    let timer = Future.after(.seconds(1), on: manual.context)
    let logs = [
      ProgressLog(Future.zip(timer, first.future, second.future).map { $1 + $2 }),
      ProgressLog(Future.all([timer, first.future.ignoreValue(), second.future.ignoreValue()]).map { $0.count }),
    ]
    let onlyTimers = ProgressLog(Future.zip(timer, timer).map { _ in 0 })
    if !endsWithTimer { manual.advance(by: .seconds(1)) }
    first.progress.report(fraction: 0.5)
    first.succeed(1)
    second.progress.report(fraction: 0.5)
    second.succeed(2)
    let beforeTheEnd = [0, 0.25, 0.5, 0.75]
    if endsWithTimer {
      #expect(logs.allSatisfy { $0.fractions == beforeTheEnd })
      #expect(onlyTimers.fractions == [0])
      manual.advance(by: .seconds(1))
    }
    #expect(logs.allSatisfy { $0.fractions == beforeTheEnd + [1] && $0.isSound })
    #expect(onlyTimers.isSound)
  }

  @Test("R19: an interrupted stage keeps its last state and takes no more from its source")
  func interruptedStageKeepsLastState() {
    let it = Surroundings()
    let promise = Promise<Int, any Error>()
    let needed = promise.future.whenResolved(on: .immediate) { _ in }
    let timedOut = promise.future.timeout(after: .seconds(1), on: it.manual.context)
    let fallback = promise.future.timeout(after: .seconds(1), on: it.manual.context, fallback: 7)
    let cancelled = promise.future.cancelled(by: it.tokens.token)
    let view = promise.future.shielded
    let logs = [ProgressLog(timedOut), ProgressLog(fallback), ProgressLog(cancelled), ProgressLog(view)]
    promise.progress.report(completed: 1, of: 4)
    it.manual.advance(by: .seconds(1))
    it.tokens.cancel()
    view.cancel()
    promise.progress.report(completed: 2, of: 4)
    promise.succeed(1)
    let quarter = [0, 0.25]
    #expect(logs.map(\.fractions) == [quarter, quarter + [1], quarter, quarter])
    #expect(fallback.currentProgress.units == "4 of 4")
    #expect([timedOut, cancelled, view].allSatisfy { $0.currentProgress.units == "1 of 4" })
    needed.remove()
  }

  @Test("R19: an attempt of retry counts once it is further than the earlier ones", arguments: [false, true])
  func retryCountsFurthestAttempt(isDelayed: Bool) {
    let it = Surroundings()
    let attempts = (0..<3).map { _ in Promise<Int, any Error>() }
    let made = Locked(0)
    let future = Source.retry(attempts: 3, delay: isDelayed ? .constant(.seconds(1)) : .none, on: it.manual.context) {
      let number = made.withLock { made in
        defer { made += 1 }
        return made
      }
      return attempts[number].future
    }
    let log = ProgressLog(future)
    for (number, attempt) in attempts.enumerated() {
      attempt.progress.report(fraction: 0.25)
      attempt.progress.report(fraction: Double(2 + number) / 4)
      #expect(attempt.resolve(number == 2 ? .success(1) : .failure(TestError(number))), "attempt \(number)")
      it.manual.advance(by: .seconds(1))
      it.manual.runAll()
    }
    let fractions = [0, 0.25, 0.5, 0.75, almostDone, 1]
    #expect(log.fractions == fractions && log.isSound)
  }

  /// Shares, given to flatMap, with the fractions of the derived future: of a pending source, and of a resolved one.
  static let shares: [(share: Double, ofPending: [Double], ofReady: [Double])] = [
    (0.25, [0, 0.125, 0.25, 0.8125, 1], [0, 0.25, 0.8125, 1]), (7, [0, 0.5, 0.75, 1], [0, 0.75, 1]),
    (-1, [0, 0.75, 1], [0, 0.75, 1]), (.nan, [0, 0.75, 1], [0, 0.75, 1]),
  ]

  @Test("R19: each overload of flatMap gives its source the share of the progress, clamped to 0...1", arguments: shares)
  @MainActor
  func flatMapSplitsProgress(share: Double, ofPending: [Double], ofReady: [Double]) {
    let held = HeldContext()
    let (source, inner) = (Promise<Int, Never>(), Promise<Int, Never>())
    let (first, second) = (source.future.setFailureType(to: (any Error).self), inner.future)
    let typed = second.setFailureType(to: (any Error).self)
    let throwing = first.flatMap(progressShare: share) { _ throws(any Error) -> Source in typed }
    let unfailing = first.flatMap(progressShare: share) { _ -> Future<Int, Never> in second }
    let failing = source.future.flatMap(progressShare: share) { _ -> Source in typed }
    let onContext = first.flatMap(on: held.context, progressShare: share) { _ -> Source in typed }
    let onMain = first.flatMap(on: .mainImmediate, progressShare: share) { _ -> Source in typed }
    let throwingOnMain = first.flatMap(on: .mainImmediate, progressShare: share) { _ throws(any Error) -> Source in
      typed
    }
    let unfailingOnMain = first.flatMap(on: .mainImmediate, progressShare: share) { _ -> Future<Int, Never> in second }
    let failingOnMain = source.future.flatMap(on: .mainImmediate, progressShare: share) { _ -> Source in typed }
    let ready = Source.succeeded(1).flatMap(on: held.context, progressShare: share) { _ -> Source in typed.map { $0 } }
    let derived = [throwing, unfailing, failing, onContext, onMain, throwingOnMain, unfailingOnMain, failingOnMain]
    let (logs, readyLog) = (derived.map { ProgressLog($0) }, ProgressLog(ready))
    source.progress.report(fraction: 0.5)
    source.succeed(1)
    held.runAll()
    inner.progress.report(fraction: 0.75)
    inner.succeed(1)
    for (index, log) in logs.enumerated() { #expect(log.fractions == ofPending, "overload \(index)") }
    #expect(readyLog.fractions == ofReady)
  }
}
