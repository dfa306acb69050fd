import Futures
import TestSupport
import Testing

/// Tests of the progress of a future with several inputs: R19.
@Suite("Progress, several futures")
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
    ProgressCompositionTests.isNear(left, right)
  }

  // MARK: - Averages

  @Test("R19, R20: a late listener sees the same state as an early one", arguments: averages)
  func askedLate(_ join: Join) throws {
    for asksAt in 0...8 {
      let promises = Self.promises(4)
      let joined = join.join(promises.map(\.future))
      var log: ProgressLog?
      func askIfDue(_ step: Int) throws {
        if step == asksAt { log = joined.log() }
        guard let log else { return }
        try #require(abs(log.fractions.last! - Double(step) / 8) < 1e-12, "\(asksAt)")
      }
      for (number, promise) in promises.enumerated() {
        try askIfDue(2 * number)
        promise.progress.report(fraction: 0.5)
        try askIfDue(2 * number + 1)
        promise.succeed(1)
      }
      try askIfDue(8)
      try #require(log?.fractions.last == 1 && log?.isSound == true, "asks at \(asksAt)")
    }
  }

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
      try #require(
        Self.isNear(log.fractions, (count * 2..<8).map { Double($0) / 8 } + [1]),
        "\(ready): \(log.fractions)"
      )
    }
  }

  @Test("R19: an item that is resolved when it starts counts as done", arguments: [1, 2])
  func readyItems(limit: Int) {
    let promises = Self.promises(2)
    let futures = [promises[0].future, .succeeded(1), .succeeded(1), promises[1].future, .succeeded(1)]
    let log = ProgressLog(Source.concurrent(0..<5, limit: limit) { futures[$0] })
    promises[0].progress.report(fraction: 0.5)
    promises[0].succeed(1)
    promises[1].progress.report(fraction: 0.5)
    promises[1].succeed(1)
    // If one call changes the progress several times, a listener gets each change, or only the last.
    let expected = limit == 1 ? [0, 0.1, 0.6, 0.7, 1] : [0.4, 0.5, 0.8, 0.9, 1]
    let missing = expected.filter { fraction in !log.fractions.contains { abs($0 - fraction) < 1e-12 } }
    #expect(missing.isEmpty, "\(log.fractions)")
    #expect(log.isSound && log.fractions.dropLast().allSatisfy { $0 < 0.999 }, "\(log.fractions)")
  }

  @Test(
    "R19: many inputs add up, and reach 1 only at the end",
    arguments: [1, 2, 3, 7, 10, 49, 1_000],
    [false, true]
  )
  func manyInputsAddUp(count: Int, isSerial: Bool) throws {
    let promises = Self.promises(count)
    let futures = promises.map(\.future)
    let joined = isSerial ? Source.serial(0..<count) { futures[$0] } : Source.all(futures)
    let log = ProgressLog(joined)
    for (number, promise) in promises.enumerated() {
      try #require(
        abs(joined.currentProgress.fractionCompleted - Double(number) / Double(count)) < 1e-12,
        "input \(number)"
      )
      promise.progress.report(fraction: 1)
      promise.succeed(1)
    }
    try #require(log.isSound && log.fractions.last == 1)
    #expect(log.fractions.dropLast().last! >= Double(count - 1) / Double(count) - 1e-12)
  }

  @Test("R11, R19: a join without inputs has the progress of a success")
  func noInputsHaveSucceeded() {
    #expect(ProgressLog(Source.all([])).fractions == [1])
    #expect(ProgressLog(Source.serial([Int]()) { .succeeded($0) }).fractions == [1])
    #expect(ProgressLog(Source.allSettled([])).fractions == [1])
  }

  @Test("R19: a future that is given twice counts twice")
  func repeatedInputCountsTwice() {
    let promises = Self.promises(2)
    let (a, b) = (promises[0].future, promises[1].future)
    let log = ProgressLog(Source.all([a, b, a, a]))
    promises[0].progress.report(fraction: 0.5)
    promises[0].succeed(1)
    promises[1].succeed(1)
    #expect(log.fractions.last == 1 && log.isSound)
    #expect(log.fractions.contains(0.375) && log.fractions.contains(0.75))
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
      try #require(
        joined.current().fractionCompleted == (isReported ? 0.8125 : 0.75),
        "asks late: \(asksLate), reported: \(isReported)"
      )
      promises[3]!.succeed(1)
      try #require(
        log?.fractions.last == (join.testDescription == "allOrErrors" ? (isReported ? 0.8125 : 0.75) : 1),
        "asks late: \(asksLate), reported: \(isReported)"
      )
      try #require(log?.isSound == true, "asks late: \(asksLate), reported: \(isReported)")
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

  @Test("R19: a race has the progress of its furthest input", arguments: races, [false, true])
  func furthestInputDecidesProgress(_ join: Join, asksLate: Bool) {
    let promises = Self.promises(3)
    let joined = join.join(promises.map(\.future))
    let log = asksLate ? ProgressLog() : joined.log()
    for (index, fraction) in [(0, 0.5), (1, 0.25), (2, 0.75), (0, 0.6), (1, 0.8)] {
      promises[index].progress.report(fraction: fraction)
    }
    #expect(joined.current().fractionCompleted == 0.8)
    promises[0].succeed(1)
    #expect(joined.current().isFinished)
    #expect(log.fractions == (asksLate ? [] : [0, 0.5, 0.75, 0.8, 1]))
    for promise in promises { #expect(!promise.progress.report(fraction: 1)) }
  }

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

  @Test("R19: an item that a callback of the progress starts counts too")
  func startedInCallback() {
    let promises = Self.promises(3)
    let futures = promises.map(\.future)
    let started = Recorder<Int>()
    let serial = Source.serial(0..<3) { item in
      started.record(item)
      return futures[item]
    }
    let log = ProgressLog(serial)
    serial.whenProgressed(on: .immediate) { progress in
      if progress.fractionCompleted > 0.1, started.events.count == 1 { promises[0].succeed(1) }
    }
    promises[0].progress.report(fraction: 0.5)
    #expect(started.events == [0, 1])
    promises[1].progress.report(fraction: 0.5)
    #expect(Self.isNear([serial.currentProgress.fractionCompleted], [0.5]))
    promises[1].succeed(1)
    promises[2].succeed(1)
    #expect(Self.isNear(log.fractions, [0, 1.0 / 6, 1.0 / 3, 0.5, 2.0 / 3, 1]))
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
    #expect(Self.isNear(log.events[0].fractions, [1.0 / 3, 0.5, 2.0 / 3, 5.0 / 6, 1]), "\(log.events[0].fractions)")
    #expect(Self.isNear(log.events[1].fractions, [2.0 / 3, 5.0 / 6, 1]), "\(log.events[1].fractions)")
  }
}
