internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Reads `sequence` to its end.
func read<Element>(_ sequence: some AsyncSequence<Element, Never>) async -> [Element] {
  var elements: [Element] = []
  for await element in sequence { elements.append(element) }
  return elements
}

/// Tests what a reader gets; `ProgressReaderTests` covers every order of its steps.
@Suite(.timeLimit(.minutes(20)))
struct ProgressSequenceTests {
  // MARK: - Derived futures

  @Test(
    "R19, R25: a reader of a derived future gets the progress of its inputs, whenever it starts",
    arguments: Derivation.all
  )
  func readerOfDerivedFuture(row: Derivation) {
    let (first, second) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    let future = row.derive(first.future, second.future)
    let early = HeldReader(future.progress)
    early.run()
    first.progress.report(completed: 1, of: 2)
    early.run()
    first.succeed(1)
    early.run()
    let state = future.currentProgress.fractionCompleted
    let late = HeldReader(future.progress)
    late.run()
    second.progress.report(completed: 1, of: 2)
    early.run()
    late.run()
    second.succeed(1)
    early.run()
    late.run()
    #expect(early.fractions == row.fractions)
    #expect(late.fractions == Array(row.fractions.drop { $0 != state }))
  }

  @Test("R25: a suspended reader of a promise that begins to follow a future loses no state")
  func readerOfFollowerLosesNothing() {
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

  static let depth = TestTier.choose(standard: 10_000, thorough: 100_000)

  @Test(
    "R25, R6: reading the progress of a long chain takes no stack, for every ending and for a reader that leaves",
    arguments: Ending.allCases + [nil]
  )
  func longChainIsReadOnSmallStack(ending: Ending?) {
    onThread {
      var promise: Promise<Int, any Error>? = Promise()
      guard var future = promise?.future else { return }
      for _ in 0..<Self.depth { future = future.map { $0 } }
      let reader = HeldReader(future.progress)
      reader.run()
      promise?.progress.report(fraction: 0.5)
      reader.run()
      switch ending {
      case nil: reader.cancel()
      case .cancellation: future.cancel()
      case let ending?: ending.happen(to: &promise, failing: TestError(1))
      }
      // The chain has no other reference than the reader's.
      future = .never
      reader.run()
      #expect(reader.fractions == (ending == .success ? [0, 0.5, 1, nil] : [0, 0.5, nil]))
      withExtendedLifetime(promise) {}
    }
  }

  // MARK: - Readers

  @Test("R25: a report that changes nothing resumes no reader")
  func reportWithoutNewsResumesNoReader() {
    let promise = Promise<Int, any Error>()
    let reader = HeldReader(promise.future.progress)
    promise.progress.report(completed: 5, of: 10)
    reader.run()
    promise.progress.report(completed: 5, of: 10)
    promise.progress.report(completed: 4, of: 10)
    promise.progress.report(fraction: 0.25)
    promise.progress.report(fraction: .nan)
    #expect(reader.resumptions == 0)
    // The units are new, although the fraction does not increase.
    promise.progress.report(completed: 5, of: 20)
    #expect(reader.resumptions == 1)
    promise.fail(TestError(1))
    reader.run()
    #expect(reader.fractions == [0.5, 0.5, nil])
  }

  @Test("R25: a reader begins at the state of its first read, by `next()` or `next(isolation:)`, and so do its copies")
  func bothNexts() async {
    let promise = Promise<Int, any Error>()
    var reader = promise.future.progress.makeAsyncIterator()
    promise.progress.report(fraction: 0.1)
    #expect(await reader.next(isolation: nil)?.fractionCompleted == 0.1)
    promise.progress.report(fraction: 0.25)
    #expect(await reader.next()?.fractionCompleted == 0.25)
    var copy = reader
    promise.progress.report(fraction: 0.5)
    #expect(await reader.next(isolation: nil)?.fractionCompleted == 0.5)
    promise.fail(TestError(1))
    for _ in 0..<3 { #expect(await reader.next(isolation: nil) == nil) }
    #expect(await copy.next()?.fractionCompleted == 0.5)
    for _ in 0..<3 { #expect(await copy.next() == nil) }
  }

  @Test("R25: futures that were made resolved have one state, and one result of their type, for each reader")
  func resolvedFutureHasOneStateAndOneResult() async {
    func check<Failure: Error>(_ future: Future<Int, Failure>, _ state: String, _ result: String) async {
      let (updates, events) = (future.progress, future.events)
      for _ in 0..<2 {
        #expect(await read(updates).map { word(for: $0) } == [state])
        #expect(await read(events).map { word(for: $0) } == [state, result])
      }
    }
    await check(Future<Int, any Error>.succeeded(1), "1.0", "success 1")
    await check(Future<Int, TestError>.resolved(.failure(TestError(1))), "0.0", "failure TestError")
  }

  @Test(
    "R25: a reader of `never` gets one state, then waits until its task or the future is cancelled",
    arguments: [false, true]
  )
  func readerOfNeverWaitsForCancellation(isFutureCancelled: Bool) {
    let future = Future<Int, any Error>.never
    let reader = HeldReader(future.progress)
    reader.run()
    #expect(reader.fractions == [0])
    if isFutureCancelled { future.cancel() } else { reader.cancel() }
    reader.run()
    #expect(reader.fractions == [0, nil])
    #expect(future.isResolved == isFutureCancelled)
  }

  @Test("R25: the first read starts a lazy future, once, unless the future was cancelled before")
  func firstReadStartsLazyFuture() async {
    let promises = Recorder<Promise<Int, any Error>>()
    let future = Future<Int, any Error>.lazy { promise in
      promise.progress.report(fraction: 0.5)
      promises.record(promise)
    }
    var reader = future.progress.makeAsyncIterator()
    var events = future.events.makeAsyncIterator()
    #expect(promises.events.isEmpty)
    #expect(await reader.next()?.fractionCompleted == 0.5)
    #expect(await events.next().map { word(for: $0) } == "0.5")
    promises.events.first?.succeed(1)
    #expect(await reader.next()?.isFinished == true)
    #expect(await read(future.events).count == 2)
    #expect(promises.events.count == 1)

    let cancelled = Future<Int, any Error>.lazy { promises.record($0) }
    cancelled.cancel()
    #expect(await read(cancelled.progress).map(\.fractionCompleted) == [0])
    #expect(promises.events.count == 1)
  }

  @Test("R16, R25: a reader is no consumer, and cancels nothing when it leaves; a cancelled future ends it")
  func readerIsNoConsumer() async {
    let promise = Promise<Int, any Error>()
    let cancelled = Recorder<Int>()
    promise.onCancel { cancelled.record(1) }
    let future = promise.future
    for await _ in future.progress { break }
    for await _ in future.events { break }
    let derived = future.map { $0 }
    let readers = [HeldReader(future.progress), HeldReader(future.progress), HeldReader(derived.progress)]
    for reader in readers { reader.run() }
    readers[0].cancel()
    readers[0].run()
    #expect(cancelled.events.isEmpty)
    derived.cancel()
    #expect(cancelled.events == [1])
    for reader in readers { reader.run() }
    #expect(readers.allSatisfy { $0.fractions == [0, nil] })
  }

  // MARK: - Events

  @Test("R25: a reader that is cancelled after it has read the last state ends without a result")
  func cancelledReaderEndsWithoutResult() async {
    let future = Future<Int, any Error>.succeeded(1)
    let words = await Task.immediate {
      var events = future.events.makeAsyncIterator()
      let last = await events.next().map { word(for: $0) }
      cancelCurrentTask()
      return [last, await events.next().map { word(for: $0) }, await events.next().map { word(for: $0) }]
    }.value
    #expect(words == ["1.0", nil, nil])
  }

  @Test("R4: reading the progress of a broken promise is not reported")
  func readersAreNoWaiters() async {
    await #expect(processExitsWith: .success) {
      let recorder = recordBrokenPromises()
      let (future, promise) = breakable("typed", TestError.self)
      let readers = [HeldReader(future.map { $0 }.events), HeldReader(future.events)]
      let progress = HeldReader(future.progress)
      for reader in readers { reader.run() }
      progress.run()
      promise.drop()
      for reader in readers { reader.run() }
      progress.run()
      #expect(readers.map(\.words) == [["0.0", "end"], ["0.0", "end"]])
      #expect(progress.words == ["0.0", "end"])
      #expect(await read(future.events).count == 1)
      #expect(recorder.events.isEmpty)
    }
  }
}
