internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R25: the progress of derived futures as an asynchronous sequence", .timeLimit(.minutes(20)))
struct ProgressUpdatesDerivedTests {
  @Test("R25, R19: a reader of a stage such as `map` gets the reports of the source")
  func passingOn() {
    let promise = Promise<Int, any Error>()
    let future = promise.future
    let source = CancellationTokenSource()
    let derived: [Future<Int, any Error>] = [
      future.map { $0 }, future.map { $0 }.map { $0 }, future.mapError { $0 }, future.eraseFailure(),
      future.tap(on: .immediate) { _ in }, future.receive(on: .immediate), future.shielded, future.map { $0 }.shielded,
      future.flatMapError { .failed($0) }, future.recover { _ in 0 }.setFailureType(),
      future.timeout(after: .seconds(1_000)), future.cancelled(by: source.token), future.ignoreValue().map { 1 },
      future.materialize().map { _ in 1 }.setFailureType(), Future.retry(attempts: 2) { future },
      Future { $0.follow(future) }, Future.lazy { $0.follow(future) },
    ]
    let readers = derived.map { HeldReader($0.progress) }
    for reader in readers { reader.run() }
    promise.progress.report(completed: 1, of: 4)
    for reader in readers { reader.run() }
    promise.progress.report(completed: 3, of: 4)
    promise.succeed(1)
    for (number, reader) in readers.enumerated() {
      reader.run()
      #expect(reader.fractions == [0, 0.25, 1, nil], "\(number)")
      #expect(reader.elements[1]?.totalUnitCount == 4, "\(number)")
    }
  }

  @Test("R25, R19: a reader of `flatMap` gets the share of the first future, and then the rest")
  func flatMap() {
    for share in [nil, 0.25] {
      let (first, second) = (Promise<Int, any Error>(), Promise<Int, any Error>())
      let next = second.future
      let derived =
        if let share { first.future.flatMap(progressShare: share) { _ in next } } else {
          first.future.flatMap { _ in next }
        }
      let reader = HeldReader(derived.progress)
      reader.run()
      first.progress.report(fraction: 0.5)
      reader.run()
      first.succeed(1)
      reader.run()
      second.progress.report(fraction: 0.5)
      reader.run()
      second.succeed(1)
      reader.run()
      #expect(
        reader.fractions == (share == nil ? [0, 0.25, 0.5, 0.75, 1, nil] : [0, 0.125, 0.25, 0.625, 1, nil]),
        "share \(share as Any)"
      )
    }
  }

  @Test("R25, R19: a private second future of a `flatMap` reaches the reader")
  func privateFutureReachesReader() {
    let (first, second) = (Promise<Int, any Error>(), Recorder<Promise<Int, any Error>>())
    let derived = first.future.flatMap { _ in
      Future<Int, any Error> { second.record($0) }.map { $0 }.map { $0 }
    }
    let early = HeldReader(derived.progress)
    early.run()
    first.progress.report(fraction: 0.5)
    first.succeed(1)
    early.run()
    let late = HeldReader(derived.progress)
    late.run()
    #expect(second.events[0].progress.report(fraction: 0.5))
    early.run()
    late.run()
    second.events[0].succeed(1)
    early.run()
    late.run()
    #expect(early.fractions == [0, 0.5, 0.75, 1, nil])
    #expect(late.fractions == [0.5, 0.75, 1, nil])
  }

  @Test("R25: a reader of followed futures, and of a promise that follows, loses no state")
  func readerOfFollowersLosesNothing() {
    let (source, follower) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    let reader = HeldReader(follower.future.progress)
    reader.run()
    follower.progress.report(fraction: 0.25)
    reader.run()
    follower.follow(source.future)
    source.progress.report(fraction: 0.5)
    reader.run()
    source.fail(TestError(1))
    reader.run()
    #expect(reader.fractions == [0, 0.25, 0.5, nil])
  }

  @Test("R25, R19: a reader of `all` gets the average, and a reader of `race` gets the maximum")
  func readerOfJoinGetsAverage() {
    let promises = (0..<2).map { _ in Promise<Int, any Error>() }
    let all = HeldReader(Future.all(promises.map(\.future)).progress)
    let race = HeldReader(Future.race(promises.map(\.future)).progress)
    all.run()
    race.run()
    promises[0].progress.report(fraction: 0.5)
    all.run()
    race.run()
    promises[1].progress.report(fraction: 0.25)
    all.run()
    race.run()
    #expect(race.resumptions == 0)
    for promise in promises { promise.succeed(1) }
    all.run()
    race.run()
    #expect(all.fractions == [0, 0.25, 0.375, 1, nil])
    #expect(race.fractions == [0, 0.5, 1, nil])
  }

  @Test(
    "R19, R20: a future's last report before its failure reaches its derived futures, for each order of delivery",
    arguments: [false, true]
  )
  func failingInsideCallback(isReadingSource: Bool) {
    let promise = Promise<Int, any Error>()
    // Runs before the derived future is notified.
    promise.future.whenProgressed(on: .immediate) { if $0.fractionCompleted == 0.5 { promise.fail(TestError(1)) } }
    let derived = promise.future.map { $0 }
    let reader = HeldReader(derived.progress)
    reader.run()
    let sourceReader = HeldReader(promise.future.progress)
    if isReadingSource { sourceReader.run() }
    promise.progress.report(completed: 5, of: 10)
    reader.run()
    sourceReader.run()
    #expect(sourceReader.fractions == (isReadingSource ? [0, 0.5, nil] : [0.5, nil]))
    #expect(reader.fractions == [0, 0.5, nil])
    #expect(derived.currentProgress == promise.future.currentProgress)
  }

  @Test("R25, R6: reading the progress of a long chain takes no stack, for every ending", arguments: Ending.allCases)
  func longChainIsReadOnSmallStack(ending: Ending) {
    onThread {
      var promise: Promise<Int, any Error>? = Promise()
      defer { withExtendedLifetime(promise) {} }
      guard var future = promise?.future else { return }
      for _ in 0..<Self.depth { future = future.map { $0 } }
      let reader = HeldReader(future.progress)
      reader.run()
      promise?.progress.report(fraction: 0.5)
      reader.run()
      if ending == .cancellation { future.cancel() } else { ending.happen(to: &promise, failing: TestError(1)) }
      reader.run()
      #expect(reader.fractions == (ending == .success ? [0, 0.5, 1, nil] : [0, 0.5, nil]))
    }
  }

  @Test(
    "R25, R6: cancelling the readers of a long chain that never resolves releases it on a small stack",
    arguments: [false, true]
  )
  func deepOrphans(isNever: Bool) {
    onThread {
      var typed: Promise<Int, TestError>? = isNever ? nil : Promise()
      var future = typed?.future ?? Future.never
      for _ in 0..<Self.depth { future = future.map { $0 } }
      let reader = HeldReader(future.progress)
      reader.run()
      typed = nil
      reader.cancel()
      reader.run()
      #expect(reader.fractions == [0, nil])
    }
  }

  static let depth = TestTier.choose(standard: 10_000, thorough: 100_000)
}
