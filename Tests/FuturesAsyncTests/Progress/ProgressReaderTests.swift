internal import AllocationCounter
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

// A reader is a task that runs only when the test lets it. So the orders of the steps are all interleavings of a reader
// with reports, resolutions and cancellations. Further tests below cover the interleavings inside `next`.

@Suite(.timeLimit(.minutes(20)))
struct ProgressReaderTests {
  typealias Step = ReaderModel.Step

  /// Every order of two runs, two reports, a cancellation and the end, once.
  static let orders = Set(permutations(of: [Step.run, .run, .report, .report, .cancel, .end]))

  /// Plays `steps` with a future and two readers, one of which is never cancelled.
  ///
  /// Compares each step with the model. The code that resumes a task uses the future, so no lock can be held there (R3).
  func play<Failure: Error, Element: Sendable>(
    _ steps: [Step],
    _ ending: Ending,
    failing failure: Failure,
    result: [String],
    _ sequence: (Future<Int, Failure>) -> some AsyncSequence<Element, Never> & Sendable
  ) {
    var promise: Promise<Int, Failure>? = Promise()
    defer { withExtendedLifetime(promise) {} }
    guard let future = promise?.future, let reporter = promise?.progress else { return }
    let sequence = sequence(future)
    let readers = (0..<2).map { _ in HeldReader(sequence) { Self.use(future) } }
    var models = [ReaderModel(result: result), ReaderModel(result: result)]
    var fraction = 0.25
    let endsFuture = ending != .cancellation || Failure.self != TestError.self
    for step in steps + [Step.end, .run] {
      switch step {
      case .run:
        for reader in readers { reader.run() }
        for number in models.indices { models[number].run() }
      case .report:
        reporter.report(fraction: fraction)
        for number in models.indices { models[number].report(fraction) }
        fraction += 0.25
      case .cancel:
        readers[0].cancel()
        models[0].cancel()
      case .end:
        ending.happen(to: &promise, failing: failure)
        // A failure type that cannot represent cancellation: the future and its readers continue.
        for number in models.indices where endsFuture { models[number].end(ending) }
      }
      for (reader, model) in zip(readers, models) {
        #expect(reader.words == model.words, "\(ending): \(steps), after \(step)")
        #expect(reader.resumptions == (model.isResumed ? 1 : 0), "\(ending): \(steps), after \(step)")
      }
    }
    #expect(readers.allSatisfy { $0.words.last == "end" } || !endsFuture, "\(ending): \(steps)")
    for reader in readers { reader.end() }
  }

  /// Takes the lock of `future`.
  private static func use<Failure>(_ future: Future<Int, Failure>) {
    _ = (future.currentProgress, future.peek())
    future.whenProgressed(on: .immediate) { _ in }.remove()
    future.whenResolved(on: .immediate) { _ in }.remove()
  }

  @Test(
    "R3, R25: in every order, a reader gets the newest states, then the result if it reads events, then the end",
    arguments: Ending.allCases
  )
  func readerInEveryOrder(ending: Ending) {
    for steps in Self.orders {
      play(steps, ending, failing: TestError(1) as any Error, result: [], \.progress)
      play(steps, ending, failing: TestError(1) as any Error, result: [ending.word], \.events)
      play(steps, ending, failing: Interruption.failed, result: [], \.progress)
      play(steps, ending, failing: TestError(1), result: [], \.progress)
      // Events of a broken promise end without a result if the failure type cannot hold the break.
      play(steps, ending, failing: TestError(1), result: ending == .brokenPromise ? [] : [ending.word], \.events)
    }
  }

  // MARK: - Inside `next`

  enum Moment: CaseIterable { case attach, abandon, report, end }

  /// Performs `moments` in this order on a reader that has read the present state and found no newer one.
  ///
  /// Such a reader is inside `next`, between its check for a newer state and its suspension. There another thread can
  /// perform the other moments.
  func waitForNews(_ moments: [Moment], _ ending: Ending) throws {
    var promise: Promise<Int, any Error>? = Promise()
    defer { withExtendedLifetime(promise) {} }
    let future = try #require(promise?.future)
    let reporter = promise?.progress
    let state = future.progressState
    guard case .unread(_, let version) = state.progressNews(since: nil) else {
      Issue.record("The first state was not there.")
      return
    }
    guard case .none = state.progressNews(since: version) else {
      Issue.record("There was more than one state.")
      return
    }
    let executor = HeldExecutor { Self.use(future) }
    let suspended = Recorder<UnsafeContinuation<Void, Never>>()
    let ends = Recorder<Bool>()
    _ = Task(executorPreference: executor) {
      await withUnsafeContinuation { suspended.record($0) }
      ends.record(true)
    }
    executor.runAll()
    let reader = ProgressReader()
    var done: Set<Moment> = []
    for moment in moments {
      switch moment {
      case .attach: state.attach(reader, since: version, resuming: suspended.events[0])
      case .abandon: state.abandon(reader)
      case .report: #expect(reporter?.report(fraction: 0.5) == !done.contains(.end), "\(moments)")
      case .end: ending.happen(to: &promise, failing: TestError(1))
      }
      done.insert(moment)
      let isResumed = done.contains(.attach) && done.count > 1
      #expect(executor.jobCount == (isResumed ? 1 : 0), "\(ending): \(moments), after \(moment)")
    }
    executor.runAll()
    #expect(ends.events == [true])
  }

  @Test("R3, R25: a reader that is about to suspend misses no state and is resumed once", arguments: Ending.allCases)
  func aboutToSuspend(ending: Ending) throws {
    for first in Moment.allCases where first != .attach {
      try waitForNews([first, .attach], ending)
      try waitForNews([.attach, first], ending)
    }
    for moments in permutations(of: Moment.allCases) { try waitForNews(moments, ending) }
  }

  // MARK: - Futures and their readers

  static let succeeded = Future<Int, any Error>.succeeded(1)

  @Test("R25: a future without a producer has one state for each reader, and its result, if it has one")
  func constants() async {
    for _ in 0..<2 {
      #expect(await read(Self.succeeded.events).map { word(for: $0) } == ["1.0", "success 1"])
      #expect(await read(Future<Int, TestError>.failed(TestError(1)).progress).map { word(for: $0) } == ["0.0"])
    }
    for isFutureCancelled in [false, true] {
      let never = Future<Int, any Error>.never
      let reader = HeldReader(never.progress)
      reader.run()
      #expect(reader.words == ["0.0"])
      if isFutureCancelled { never.cancel() } else { reader.cancel() }
      reader.run()
      #expect(reader.words == ["0.0", "end"])
    }
  }

  @Test("R25: the first read starts a lazy future, once, unless the future was cancelled before")
  func firstReadStartsLazyFuture() async {
    let promises = Recorder<Promise<Int, any Error>>()
    let future = Future<Int, any Error>.lazy { promise in
      promise.progress.report(fraction: 0.5)
      promises.record(promise)
    }
    var reader = future.progress.makeAsyncIterator()
    var copy = reader
    #expect(promises.events.isEmpty)
    #expect(await reader.next()?.fractionCompleted == 0.5)
    promises.events.first?.succeed(1)
    #expect(await reader.next()?.isFinished == true)
    // A reader begins at the state of its first read.
    #expect(await copy.next(isolation: nil)?.isFinished == true)
    for _ in 0..<2 { #expect(await copy.next() == nil) }
    // The task of `left` ends it; then another task reads it.
    nonisolated(unsafe) var left = future.progress.makeAsyncIterator()
    await Task {
      cancelCurrentTask()
      #expect(await left.next() == nil)
    }.value
    #expect(await left.next() == nil)

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
    #expect(readers.allSatisfy { $0.words == ["0.0", "end"] })
  }

  @Test("R4: reading the progress of a broken promise is not reported")
  func readersAreNoWaiters() async {
    await #expect(processExitsWith: .success) {
      let recorder = recordBrokenPromises()
      let (future, promise) = breakable("typed", TestError.self)
      let readers = [HeldReader(future.map { $0 }.events), HeldReader(future.events)]
      for reader in readers { reader.run() }
      promise.drop()
      for reader in readers { reader.run() }
      #expect(readers.map(\.words) == [["0.0", "end"], ["0.0", "end"]])
      #expect(await read(future.progress).count == 1)
      #expect(recorder.events.isEmpty)
    }
  }

  // MARK: - Cost

  /// The allocations of the thread while `reporter` reports a thousand times, in units and in fractions, after a
  /// warm-up.
  static func allocations(_ reporter: ProgressReporter) -> Int64 {
    for number in 0..<10 { reporter.report(completed: Int64(number), of: 10_000) }
    let before = AllocationCounts.ofThread().allocations
    for number in 10..<1_000 { reporter.report(completed: Int64(number), of: 10_000) }
    for number in 200..<300 { reporter.report(fraction: Double(number) / 1_000) }
    return AllocationCounts.ofThread().allocations - before
  }

  @Test(
    "R25: a report allocates nothing without readers, and with busy or suspended readers, also of a derived future",
    .enabled(if: AllocationCounts.areSupported)
  )
  func reportToReadersAllocatesNothing() async {
    let unread = Promise<Int, any Error>()
    #expect(Self.allocations(unread.progress) == 0)
    for isDerived in [false, true] {
      let promise = Promise<Int, any Error>()
      let future = promise.future
      let updates = isDerived ? Future.all([future, future.map { $0 }]).progress : future.progress
      var busy = updates.makeAsyncIterator()
      #expect(await busy.next() != nil)
      // A report resumes this reader, whose task does not continue.
      let resumed = HeldReader(updates)
      resumed.run()
      #expect(Self.allocations(promise.progress) == 0)
      // Here each report resumes a reader, which drops what it reads.
      let dropping = HeldReader(updates.map(\.fractionCompleted).filter { $0 < 0 })
      var allocations: Int64 = 0
      for number in 310..<420 {
        dropping.run()
        let before = AllocationCounts.ofThread().allocations
        promise.progress.report(completed: Int64(number), of: 1_000)
        if number >= 320 { allocations += AllocationCounts.ofThread().allocations - before }
        #expect(dropping.resumptions == 1, "report \(number)")
      }
      #expect(allocations == 0)
      dropping.end()
      resumed.end()
    }
  }

  @Test("R25: reading the present state allocates nothing", .enabled(if: AllocationCounts.areSupported))
  func readingPresentStateAllocatesNothing() async {
    let promise = Promise<Int, any Error>()
    var reader = promise.future.progress.makeAsyncIterator()
    var events = promise.future.events.makeAsyncIterator()
    var before: Int64 = 0
    for number in 1...110 {
      if number == 10 { before = AllocationCounts.ofThread().allocations }
      promise.progress.report(completed: Int64(number), of: 1_000)
      // No read suspends, so the thread stays the same.
      _ = await reader.next(isolation: #isolation)
      _ = await events.next(isolation: #isolation)
    }
    #expect(AllocationCounts.ofThread().allocations - before == 0)
  }
}
