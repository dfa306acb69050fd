internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// A reader is a task that runs only when the test lets it. So the orders of the steps are all interleavings of a reader
// with reports, resolutions and cancellations. Further tests below cover the interleavings inside `next`.

@Suite("R25: readers of a progress, in every order of events", .timeLimit(.minutes(20)))
struct ProgressReaderOrderTests {
  typealias Step = ReaderModel.Step

  /// Every order of two runs, two reports, a cancellation and the end.
  static let orders = permutations(of: [Step.run, .run, .report, .report, .cancel, .end])

  /// Plays `steps` with a future and two readers, one of which is never cancelled.
  ///
  /// Compares each step with the model.
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
    let readers = [HeldReader(sequence), HeldReader(sequence)]
    var models = [ReaderModel(result: result), ReaderModel(result: result)]
    var fraction = 0.25
    let endsFuture = ending != .cancellation || Failure.self != TestError.self
    for step in steps + [.end, .run] {
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

  @Test(
    "R25: in every order, a reader gets the newest states, then the result if it reads events, then the end",
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
  func waitForNews(
    _ moments: [Moment],
    _ ending: Ending,
    whenResumed: @escaping @Sendable (Future<Int, any Error>) -> Void = { _ in }
  ) throws {
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
    let executor = HeldExecutor { whenResumed(future) }
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

  @Test("R25: a reader that is about to suspend misses no state and is resumed once", arguments: Ending.allCases)
  func aboutToSuspend(ending: Ending) throws {
    for first in Moment.allCases where first != .attach {
      try waitForNews([first, .attach], ending)
      try waitForNews([.attach, first], ending)
    }
    for moments in permutations(of: Moment.allCases) { try waitForNews(moments, ending) }
  }

  // MARK: - R3

  @Test("R3: no lock is held while a reader is resumed", arguments: Ending.allCases)
  func readerIsResumedOutsideLocks(ending: Ending) throws {
    for event in Step.allCases where event != .run {
      var promise: Promise<Int, any Error>? = Promise()
      defer { withExtendedLifetime(promise) {} }
      let future = try #require(promise?.future, "\(event)")
      let reporter = promise?.progress
      let uses = Recorder<Double>()
      // The code that resumes the task calls the executor.
      let reader = HeldReader(future.progress) {
        uses.record(future.currentProgress.fractionCompleted)
        reporter?.report(fraction: 0.9)
        future.whenProgressed(on: .immediate) { _ in }.remove()
        future.whenResolved(on: .immediate) { _ in }.remove()
        if event != .end { _ = future.progress.makeAsyncIterator() }
        _ = future.peek()
      }
      reader.run()
      switch event {
      case .report: reporter?.report(fraction: 0.95)
      case .cancel: reader.cancel()
      case .end, .run: ending.happen(to: &promise, failing: TestError(1))
      }
      #expect(uses.events.count == 2, "\(event)")
      reader.cancel()
      reader.run()
      #expect(reader.words.last == "end", "\(event)")
    }
  }

  @Test("R3: no lock is held while a reader that attaches finds a new state and continues")
  func noLockWhileAttaching() throws {
    let uses = Recorder<Double>()
    for first in Moment.allCases where first != .attach {
      try waitForNews([first, .attach], .success) { future in
        uses.record(future.currentProgress.fractionCompleted)
        future.whenProgressed(on: .immediate) { _ in }.remove()
      }
    }
    // The closure runs when the task starts, and when the task is resumed after an abandoned wait or a missed event.
    #expect(uses.events == [0, 0, 0, 0.5, 0, 1])
  }
}
