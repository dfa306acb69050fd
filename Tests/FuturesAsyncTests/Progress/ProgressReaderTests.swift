internal import AllocationCounter
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

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
    for reader in readers {
      reader.cancel()
      reader.run()
    }
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

  // MARK: - Threads

  @Test("R25: a reader continues while a thread reports without a pause")
  func readerContinuesDuringReports() async {
    let promise = Promise<Int, any Error>()
    let future = promise.future
    let isEnough = Locked(false)
    let reporting = Future(on: .newThread) { [reporter = promise.progress] in
      var completed: Int64 = 0
      while !isEnough.withLock({ $0 }) {
        completed += 1
        reporter.report(completed: completed, of: .max)
      }
      return completed
    }
    var reader = future.progress.makeAsyncIterator()
    var counts: [Int64] = [-1]
    // If the reports had to stop before the reader is notified, this loop would never end.
    for _ in 0..<100 { counts.append(await reader.next()?.completedUnitCount ?? -1) }
    #expect(Self.areRising(counts), "\(counts)")
    isEnough.withLock { $0 = true }
    #expect(await reporting.value >= counts[100])
    promise.fail(TestError(1))
    while await reader.next() != nil {}
  }

  /// Whether each number is greater than the one before.
  static func areRising<Number: Comparable>(_ numbers: [Number]) -> Bool {
    zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
  }

  /// The end of the future in a race with its readers.
  enum RacingEnd: CaseIterable { case none, success, failure, drop }

  @Test(
    "R25, R4: reports, new readers, cancellation and the end race; each reader sees fractions rise to the last one",
    arguments: RacingEnd.allCases
  )
  func reportsReadersAndEndRace(end: RacingEnd) async {
    for round in 0..<TestTier.choose(standard: 30, thorough: 100) {
      let (source, promise) = breakable("raced", TestError.self)
      let (future, reporter) = (source.map { $0 }, promise.current?.progress)
      let tasks = Locked<[Task<[FutureProgress], Never>]>([])
      let read: @Sendable () async -> [FutureProgress] = { await FuturesAsyncTests.read(future.progress) }
      let report = { @Sendable (first: Int) in
        for number in stride(from: first, to: 30, by: 3) { reporter?.report(fraction: Double(number) / 30) }
      }
      // Some readers are suspended when the race begins, and other readers are about to be.
      let cancelled = (0..<4).map { $0.isMultiple(of: 2) ? Task.immediate(operation: read) : Task(operation: read) }
      race([
        { report(0) }, { report(1) }, { report(2) },
        { for _ in 0..<5 { tasks.withLock { $0.append(Task(operation: read)) } } },
        { for task in cancelled { task.cancel() } },
        {
          switch end {
          case .none: break
          case .success: promise.current?.succeed(1)
          case .failure: promise.current?.fail(TestError(1))
          case .drop: promise.drop()
          }
        },
      ])
      promise.current?.succeed(1)
      let last = future.currentProgress
      #expect(last.isFinished == (end == .none || end == .success), "round \(round)")
      for task in tasks.withLock({ $0 }) {
        let read = await task.value
        #expect(read.last == last, "round \(round)")
        #expect(Self.areRising(read.map(\.fractionCompleted)), "round \(round)")
      }
      for task in cancelled {
        let fractions = await task.value.map(\.fractionCompleted)
        #expect(Self.areRising(fractions), "round \(round)")
      }
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
    .enabled(if: AllocationCounts.areSupported),
    arguments: [false, true]
  )
  func reportToReadersAllocatesNothing(isDerived: Bool) async {
    let (unread, promise) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    #expect(Self.allocations(unread.progress) == 0)
    let future = promise.future
    let stage = future.map { $0 }.map { $0 }.flatMap { .succeeded($0) }
    let updates = (isDerived ? Future.all([future, stage]).map { $0[0] } : future).progress
    var readers = (0..<3).map { _ in updates.makeAsyncIterator() }
    // One reader has read nothing, the other readers everything.
    for number in 1..<readers.count { #expect(await readers[number].next() != nil) }
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
    dropping.cancel()
    dropping.run()
    resumed.run()
    let last = resumed.fractions.last ?? nil
    resumed.cancel()
    resumed.run()
    for number in readers.indices { #expect(await readers[number].next()?.fractionCompleted == last) }
    withExtendedLifetime((unread, promise)) {}
  }

  @Test(
    "R25: reading the present state allocates nothing, and does not leave the actor",
    .enabled(if: AllocationCounts.areSupported)
  )
  func readingPresentStateAllocatesNothing() async {
    let promise = Promise<Int, any Error>()
    let (future, reporter) = (promise.future, promise.progress)
    let actor = ThreadActor()
    let (allocations, jobs) = await run(on: actor) { _ in
      let jobs = actor.executor.jobCount
      var reader = future.progress.makeAsyncIterator()
      var events = future.events.makeAsyncIterator()
      var before: Int64 = 0
      for number in 1...110 {
        if number == 10 { before = AllocationCounts.ofThread().allocations }
        reporter.report(completed: Int64(number), of: 1_000)
        _ = await reader.next(isolation: #isolation)
        _ = await events.next(isolation: #isolation)
        var other = future.progress.makeAsyncIterator()
        _ = await other.next(isolation: #isolation)
      }
      let allocations = AllocationCounts.ofThread().allocations - before
      promise.succeed(1)
      for await _ in future.progress {}
      for await _ in Future.succeeded(1).events {}
      while await reader.next(isolation: #isolation) != nil {}
      while await events.next(isolation: #isolation) != nil {}
      return (allocations, actor.executor.jobCount - jobs)
    }
    #expect(allocations == 0)
    #expect(jobs == 0)
  }
}
