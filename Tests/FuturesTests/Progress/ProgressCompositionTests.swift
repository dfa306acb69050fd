import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of the progress of futures that derive from one source: R19.
@Suite("Progress, derived futures")
struct ProgressCompositionTests {
  typealias Source = Future<Int, any Error>

  /// A future type that the library does not know.
  struct Foreign: FutureProtocol {
    let future: Source

    func forward(to completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
      future.whenResolved(on: .immediate, completion)
    }
  }

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
    #expect(logs.map(\.fractions) == Array(repeating: [0, 0.5, 1], count: 4) + [[0, 0.25, 0.5, 0.75, 1]])
    #expect(logs.map(\.isSound) == Array(repeating: true, count: 5))
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
    if endsWithTimer {
      #expect(logs.map(\.fractions) == [[0, 0.25, 0.5, 0.75], [0, 0.25, 0.5, 0.75]])
      #expect(onlyTimers.fractions == [0])
      manual.advance(by: .seconds(1))
    }
    #expect(logs.map(\.fractions) == [[0, 0.25, 0.5, 0.75, 1], [0, 0.25, 0.5, 0.75, 1]])
    #expect((logs + [onlyTimers]).map(\.isSound) == [true, true, true])
  }

  @Test("R19: a progress that is first asked for after the wait counts only the work")
  func askedAfterTheWait() {
    let manual = ManualContext()
    let second = Promise<Int, Never>()
    let derived = Future.after(.seconds(1), on: manual.context).flatMap { second.future }
    manual.advance(by: .seconds(1))
    let log = ProgressLog(derived)
    second.progress.report(fraction: 0.5)
    second.succeed(1)
    #expect(log.fractions == [0, 0.5, 1])
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
    #expect(logs.map(\.fractions) == [[0, 0.25], [0, 0.25, 1], [0, 0.25], [0, 0.25]])
    #expect(fallback.currentProgress.units == "4 of 4")
    #expect([timedOut, cancelled, view].map(\.currentProgress.units) == ["1 of 4", "1 of 4", "1 of 4"])
    needed.remove()
  }

  @Test("R19: a foreign future type has no progress until it has succeeded")
  func foreignFutureReportsOnlyItsEnd() {
    let promise = Promise<Int, any Error>()
    let log = ProgressLog(Source(Foreign(future: promise.future)))
    promise.progress.report(fraction: 0.5)
    promise.succeed(1)
    #expect(log.fractions == [0, 1])
  }

  @Test("R16: a listener is no consumer: a source that all consumers have left is cancelled despite its listeners")
  func listenersKeepNothingRunning() {
    let promise = Promise<Int, any Error>()
    let notified = Recorder<Int>()
    promise.onCancel { notified.record(1) }
    let derived = promise.future.map { $0 }
    let logs = [ProgressLog(promise.future), ProgressLog(derived)]
    derived.cancel()
    #expect(notified.events == [1] && promise.isResolved)
    #expect(logs.map(\.fractions) == [[0], [0]])

    let other = Promise<Int, any Error>()
    other.future.whenProgressed(on: .immediate) { _ in }.remove()
    #expect(!other.isResolved)
  }

  // MARK: - Errors, attempts

  @Test("R19: flatMapError passes the source on, and after its failure the second future, which must catch up")
  func flatMapErrorContinuesWithSecondFuture() {
    let (first, second) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    let future = second.future
    for isPrivate in [false, true] {
      let derived = first.future.flatMapError { _ in isPrivate ? future.map { $0 } : future }
      #expect(derived.currentProgress == first.future.currentProgress, "private: \(isPrivate)")
    }
    let derived = first.future.flatMapError { _ in future.map { $0 } }
    let log = ProgressLog(derived)
    first.progress.report(completed: 3, of: 5)
    second.progress.report(completed: 1, of: 10)
    first.fail(TestError(1))
    second.progress.report(completed: 5, of: 10)
    second.progress.report(completed: 8, of: 10)
    second.succeed(1)
    #expect(log.units == ["0 of ?", "3 of 5", "8 of 10", "10 of 10"])
    #expect(log.fractions == [0, 0.6, 0.8, 1])
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
    #expect(log.fractions == [0, 0.25, 0.5, 0.75, almostDone, 1])
    #expect(log.isSound)
  }

  // MARK: - flatMap

  static let shares: [(given: Double, share: Double)] = [
    (0.5, 0.5), (0, 0), (0.3, 0.3), (1, 1), (.nan, 0), (-1, 0), (2, 1), (.infinity, 1), (0.999, 0.999),
  ]

  /// The second future of a flatMap, made of a promise.
  enum Second: CaseIterable, Sendable {
    case kept, `private`, privateChain, shielded, retried, lazy, followed, inTime, all, race, serial, nothing

    func future(of source: Source, _ manual: ManualContext) -> Source {
      switch self {
      case .kept: source
      case .private: source.map { $0 }
      case .privateChain:
        source.map { $0 }.flatMap(progressShare: 1) { .succeeded($0) }.recover { _ in 1 }.eraseFailure()
      case .shielded: source.shielded
      case .retried: Source.retry(attempts: 1) { source }
      case .lazy: Source.lazy { $0.follow(source) }
      case .followed: Source { $0.follow(source) }
      case .inTime: source.timeout(after: .seconds(1), on: manual.context)
      case .all: Source.all([source]).map { $0[0] }
      case .race: Source.race([source])
      case .serial: Source.serial([1]) { _ in source }.map { $0[0] }
      case .nothing: Source.succeeded(1).flatMap(progressShare: 0) { _ in source }
      }
    }
  }

  static func isNear(_ left: [Double], _ right: [Double]) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { abs($0 - $1) < 1e-12 }
  }

  @Test(
    "R19: flatMap gives its source a share and the second future the rest, also for earlier reports",
    arguments: Second.allCases
  )
  func flatMapSharesProgress(_ second: Second) throws {
    for (given, share) in Self.shares {
      for reportsBefore in [false, true] {
        let manual = ManualContext()
        let (outer, inner) = (Promise<Int, any Error>(), Promise<Int, any Error>())
        let future = inner.future
        let derived = outer.future.flatMap(progressShare: given) { _ in second.future(of: future, manual) }
        let log = ProgressLog(derived)
        func expect(_ fraction: Double, _ comment: String) throws {
          let comment = "\(comment), \(given), \(reportsBefore)"
          try #require(abs(derived.currentProgress.fractionCompleted - fraction) < 1e-12, "\(comment)")
          try #require(log.fractions.last == derived.currentProgress.fractionCompleted, "\(comment)")
        }
        outer.progress.report(fraction: 0.5)
        try expect(share / 2, "the source")
        if reportsBefore { inner.progress.report(fraction: 0.25) }
        try expect(share / 2, "the second before its time")
        outer.succeed(1)
        let rest = share < 1 ? 1 - share : 0
        try expect(share < 1 ? share + (reportsBefore ? rest / 4 : 0) : 0.5, "the end of the source")
        inner.progress.report(fraction: 0.75)
        try expect(share < 1 ? share + rest * 0.75 : 0.75, "the second")
        try #require(
          ProgressLog(derived).fractions == [derived.currentProgress.fractionCompleted],
          "share \(given), reports before: \(reportsBefore)"
        )
        inner.succeed(1)
        try expect(1, "the end")
        try #require(log.isSound, "share \(given), reports before: \(reportsBefore)")
      }
    }
  }

  @Test("R19: flatMap of a resolved source gives it its share at once", arguments: Second.allCases)
  func flatMapOfReady(_ second: Second) throws {
    for (given, share) in Self.shares {
      let manual = ManualContext()
      let inner = Promise<Int, any Error>()
      let future = inner.future
      let derived = Source.succeeded(1).flatMap(progressShare: given) { _ in second.future(of: future, manual) }
      let log = ProgressLog(derived)
      inner.progress.report(fraction: 0.25)
      inner.succeed(1)
      let offset = share < 1 ? share : 0
      let expected = [offset, offset + (1 - offset) / 4, 1]
      try #require(Self.isNear(log.fractions, expected), "\(given): \(log.fractions)")
    }
  }

  @Test("R19: all overloads of flatMap split the progress in the same way")
  func formsOfFlatMap() throws {
    let held = HeldContext()
    let (source, inner) = (Promise<Int, Never>(), Promise<Int, Never>())
    let (first, second) = (source.future.setFailureType(to: (any Error).self), inner.future)
    let typed = second.setFailureType(to: (any Error).self)
    let throwing = first.flatMap(progressShare: 0.25) { value throws(any Error) -> Source in
      try Result<Source, any Error>.success(typed).get()
    }
    let unfailing = first.flatMap(progressShare: 0.25) { _ -> Future<Int, Never> in second }
    let failing = source.future.flatMap(progressShare: 0.25) { _ -> Source in typed }
    let onContext = first.flatMap(on: held.context, progressShare: 0.25) { _ -> Source in typed }
    let ready = Source.succeeded(1).flatMap(on: held.context, progressShare: 0.25) { _ -> Source in typed.map { $0 } }
    let logs = [throwing, unfailing, failing, onContext, ready].map { ProgressLog($0) }
    source.progress.report(fraction: 0.5)
    source.succeed(1)
    held.runAll()
    inner.progress.report(fraction: 0.5)
    inner.succeed(1)
    #expect(logs.map(\.fractions) == Array(repeating: [0, 0.125, 0.25, 0.625, 1], count: 4) + [[0, 0.25, 0.625, 1]])
  }

  @Test(
    "R6, R19: each step of a recursion raises its progress, for each moment of asking",
    arguments: [0.5, 0.1, 0]
  )
  func recursionComesNearerToItsEnd(share: Double) throws {
    for asksAt in [0, 1, 7] {
      let steps = (0..<20).map { _ in Promise<Int, any Error>() }
      let futures = steps.map(\.future)
      @Sendable func run(_ index: Int) -> Source {
        index == futures.count
          ? .succeeded(0) : futures[index].flatMap(progressShare: share) { _ in run(index + 1) }
      }
      let future = run(0)
      var log: ProgressLog?
      for (index, step) in steps.enumerated() {
        if index == asksAt { log = ProgressLog(future) }
        step.progress.report(fraction: 0.5)
        if let log {
          var expected = 1.0
          for _ in 0..<index { expected *= 1 - share }
          expected = 1 - expected * (1 - share / 2)
          try #require(abs(log.fractions.last! - expected) < 1e-12, "\(index)")
        }
        step.succeed(1)
      }
      try #require(log?.isSound == true && log?.fractions.last == 1, "asks at \(asksAt)")
    }
  }

  // MARK: - Following

  @Test("R19: promises that follow each other pass progress on, in any order of following", arguments: [false, true])
  func followChainPassesProgressOn(isDropped: Bool) throws {
    for order in permutations(of: [0, 1, 2]) {
      for asksAt in 0...3 {
        var promises: [Promise<Int, any Error>?] = (0..<3).map { _ in Promise() }
        let source = Promise<Int, any Error>()
        let last = promises[2]!.future
        var log: ProgressLog?
        source.progress.report(completed: 1, of: 4)
        for (number, index) in order.enumerated() {
          if asksAt == number { log = ProgressLog(last) }
          let followed = index == 0 ? source.future : promises[index - 1]!.future
          promises[index]!.follow(followed)
        }
        if isDropped { promises = [nil, nil, nil] }
        if asksAt == 3 { log = ProgressLog(last) }
        try #require(last.currentProgress.units == "1 of 4", "asks at \(asksAt)")
        source.progress.report(completed: 2, of: 4)
        source.succeed(1)
        try #require(log?.fractions == (asksAt == 3 ? [] : [0]) + [0.25, 0.5, 1], "\(order), \(asksAt)")
        withExtendedLifetime(promises) {}
      }
    }
  }

  @Test("R19: a promise keeps its own reports when it follows, and the other future must catch up")
  func followLate() {
    let (promise, source) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    let log = ProgressLog(promise.future.map { $0 })
    promise.progress.report(completed: 5, of: 10)
    promise.follow(source.future.map { $0 })
    source.progress.report(completed: 1, of: 4)
    source.progress.report(completed: 3, of: 4)
    source.succeed(1)
    #expect(log.units == ["0 of ?", "5 of 10", "3 of 4", "4 of 4"])
  }
}
