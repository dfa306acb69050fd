import Futures
import TestSupport
import Testing

/// Tests of the progress of a future with several inputs: R19.
struct ProgressGatheringTests {
  typealias Source = Future<Int, any Error>

  /// A future with several inputs.
  struct Join: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether the join waits for all inputs, even if one fails.
    var settles = false
    let join: @Sendable ([Source]) -> AnyFuture
  }

  /// The joins whose progress is the average of their inputs; each has four inputs, because the `zip` here needs four.
  static let averages: [Join] = [
    Join(testDescription: "zip") { AnyFuture(Future.zip($0[0], $0[1].map { "\($0)" }, $0[2], $0[3])) },
    Join(testDescription: "all") { AnyFuture(Source.all($0)) },
    Join(testDescription: "all, mapped") { AnyFuture(Source.all($0).map { $0[0] }) },
    Join(testDescription: "reduce") { AnyFuture(Source.reduce(0, $0) { $0 + $1 }) },
    Join(testDescription: "allSettled", settles: true) { AnyFuture(Source.allSettled($0)) },
    Join(testDescription: "allOrErrors", settles: true) { AnyFuture(Source.allOrErrors($0)) },
    Join(testDescription: "allOptional", settles: true) { AnyFuture(Source.allOptional($0)) },
    Join(testDescription: "allSucceeding", settles: true) { AnyFuture(Source.allSucceeding($0)) },
    Join(testDescription: "concurrent") { futures in AnyFuture(Source.concurrent(0..<4, limit: 4) { futures[$0] }) },
    Join(testDescription: "concurrent, limited") { futures in
      AnyFuture(Source.concurrent(0..<4, limit: 2) { futures[$0] })
    },
    Join(testDescription: "serial") { futures in AnyFuture(Source.serial(0..<4) { futures[$0] }) },
  ]

  static func promises(_ count: Int) -> [Promise<Int, any Error>] { (0..<count).map { _ in Promise() } }

  static func isNear(_ left: [Double], _ right: [Double]) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { abs($0 - $1) < 1e-12 }
  }

  // MARK: - Averages

  @Test("R19: resolved inputs count from the beginning", arguments: averages)
  func readyInputs(_ join: Join) throws {
    for ready in 0..<16 {
      let promises = Self.promises(4)
      let joined = join.join(
        promises.indices.map { ready & 1 << $0 == 0 ? promises[$0].future : .succeeded(1) }
      )
      let log = joined.log()
      for index in promises.indices where ready & 1 << index == 0 {
        promises[index].progress.report(fraction: 0.5)
        promises[index].succeed(1)
      }
      try #require(log.isSound && log.fractions.last == 1, "\(ready)")
      let count = ready.nonzeroBitCount
      guard join.testDescription != "serial", !join.testDescription.hasSuffix("limited") else { continue }
      let expected = (count * 2..<8).map { Double($0) / 8 } + [1]
      try #require(Self.isNear(log.fractions, expected), "\(ready): \(log.fractions)")
    }
  }

  @Test("R11, R19: a join without inputs has the progress of a success")
  func noInputsHaveSucceeded() {
    #expect(ProgressLog(Source.all([])).fractions == [1])
    #expect(ProgressLog(Source.serial([Int]()) { .succeeded($0) }).fractions == [1])
    #expect(ProgressLog(Source.allSettled([])).fractions == [1])
  }

  @Test("R12, R19: a join that fails fast keeps its state and takes no more from its inputs", arguments: averages)
  func failedJoinKeepsLastState(_ join: Join) {
    guard !join.settles else { return }
    let promises = Self.promises(4)
    let needed = promises.map { $0.future.whenResolved(on: .immediate) { _ in } }
    let joined = join.join(promises.map(\.future))
    let log = joined.log()
    promises[0].succeed(1)
    promises[1].progress.report(fraction: 0.5)
    promises[1].fail(TestError(1))
    let last = joined.current()
    #expect(joined.isResolved() && !last.isFinished)
    // The failed input counts in full, like every ended input.
    #expect([0.375, 0.5].contains(last.fractionCompleted))
    promises[2].progress.report(fraction: 0.5)
    promises[2].succeed(1)
    promises[3].succeed(1)
    #expect(joined.current() == last && log.events.last == last && log.isSound)
    for registration in needed { registration.remove() }
  }

  @Test("R19: an ended input counts in full, for every ending", arguments: averages)
  func endedInputs(_ join: Join) throws {
    guard join.settles else { return }
    for (asksLate, isReported) in [(false, false), (false, true), (true, false), (true, true)] {
      var promises: [Promise<Int, any Error>?] = Self.promises(4)
      let joined = join.join(promises.map { $0!.future })
      var log = asksLate ? nil : joined.log()
      if isReported { for promise in promises { promise!.progress.report(fraction: 0.25) } }
      promises[0]!.fail(TestError(1))
      promises[1]!.future.cancel()
      promises[2] = nil
      if asksLate { log = joined.log() }
      let comment: Comment = "asks late: \(asksLate), reported: \(isReported)"
      let beforeTheEnd = isReported ? 0.8125 : 0.75
      try #require(joined.current().fractionCompleted == beforeTheEnd, comment)
      promises[3]!.succeed(1)
      let last = join.testDescription == "allOrErrors" ? beforeTheEnd : 1
      try #require(log?.fractions.last == last && log?.isSound == true, comment)
    }
  }

  @Test(
    "R4, R19: an input that breaks without a result counts in full, and one that never resolves not at all",
    arguments: [false, true]
  )
  func brokenInputs(asksLate: Bool) {
    var promises: [Promise<Int, TestError>?] = (0..<3).map { _ in Promise() }
    let futures = promises.map { $0!.future }
    let all = Future.all(futures + [.never])
    let concurrent = Future.concurrent(0..<4, limit: 4) { $0 < 3 ? futures[$0] : .never }
    var logs = asksLate ? [] : [ProgressLog(all), ProgressLog(concurrent)]
    for promise in promises { promise!.progress.report(fraction: 0.5) }
    promises[0] = nil
    promises[1]!.succeed(1)
    if asksLate { logs = [ProgressLog(all)] }
    for (index, log) in logs.enumerated() {
      #expect(log.fractions.last == 0.625, "\(index), \(asksLate)")
      #expect(log.isSound, "join \(index)")
    }
    // No result can come: both stay pending, as if they had no producer.
    promises[2]!.succeed(1)
    for (index, future) in [all, concurrent].enumerated() {
      #expect(!future.isResolved && !future.currentProgress.isFinished, "future \(index)")
    }
  }

  // MARK: - Races

  /// The joins that the first input decides.
  static let races: [Join] = [
    Join(testDescription: "race") { AnyFuture(Source.race($0)) },
    Join(testDescription: "firstSuccess", settles: true) { AnyFuture(Source.firstSuccess($0)) },
  ]

  @Test("R19: a race that ends with a failure keeps its state; a resolved winner decides at once")
  func raceEnds() {
    let promises = Self.promises(2)
    let log = ProgressLog(Source.race(promises.map(\.future)))
    promises[0].progress.report(fraction: 0.5)
    promises[1].fail(TestError(1))
    #expect(log.fractions == [0, 0.5])
    let pending = Promise<Int, any Error>()
    #expect(ProgressLog(Source.race([pending.future, .succeeded(1)])).fractions == [1])
    #expect(pending.isResolved)
    #expect(ProgressLog(Source.race([.never, .failed(TestError(1))])).fractions == [0])
  }

  // MARK: - Cancelling

  @Test("R16, R19: a cancelled join keeps its last state", arguments: averages + races)
  func cancelledJoinKeepsLastState(_ join: Join) {
    let promises = Self.promises(4)
    let joined = join.join(promises.map(\.future))
    let log = joined.log()
    for promise in promises { promise.progress.report(fraction: 0.5) }
    let before = log.events.count
    joined.cancel()
    for promise in promises { #expect(!promise.progress.report(fraction: 0.75) || !promise.isResolved) }
    // The joins that wait for all inputs end like their inputs, which were cancelled.
    let fractions = log.fractions
    #expect(log.isSound && fractions.count >= before)
    #expect((fractions.last == 1) == (joined.current().isFinished))
    if !join.settles { #expect(fractions.count == before) }
  }

  @Test("R19: asking for the progress while an item starts counts that item once")
  func askedInStart() {
    let promises = Self.promises(3)
    let futures = promises.map(\.future)
    let box = Locked<Future<[Int], any Error>?>(nil)
    let log = Recorder<ProgressLog>()
    let serial = Source.serial(0..<3) { item in
      if let serial = box.withLock({ $0 }) { log.record(ProgressLog(serial)) }
      return futures[item]
    }
    box.withLock { $0 = serial }
    for promise in promises {
      promise.progress.report(fraction: 0.5)
      promise.succeed(1)
    }
    box.withLock { $0 = nil }
    #expect(log.events.count == 2)
    let fractions = (2...6).map { Double($0) / 6 }
    #expect(Self.isNear(log.events[0].fractions, fractions), "\(log.events[0].fractions)")
    #expect(Self.isNear(log.events[1].fractions, Array(fractions.dropFirst(2))), "\(log.events[1].fractions)")
  }
}
