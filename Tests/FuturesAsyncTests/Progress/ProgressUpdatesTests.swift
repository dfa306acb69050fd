internal import Dispatch
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

@Suite("R25: progress as an asynchronous sequence", .timeLimit(.minutes(20)))
struct ProgressUpdatesTests {
  // MARK: - One reader

  @Test("R25: a loop gets the reports, then the last state, then ends")
  func loopGetsReportsThenEnds() async {
    let promise = Promise<Int, any Error>()
    let future = promise.future
    let inbox = Inbox<FutureProgress>()
    let task = Task {
      for await progress in future.progress { inbox.send(progress) }
      return future.isResolved
    }
    let first = await inbox.next()
    #expect(first == future.currentProgress && first?.totalUnitCount == nil && first?.fractionCompleted == 0)
    promise.progress.report(completed: 10, of: 40)
    let second = await inbox.next()
    #expect(second?.completedUnitCount == 10 && second?.totalUnitCount == 40 && second?.fractionCompleted == 0.25)
    promise.progress.report(completed: 40, of: 40)
    let third = await inbox.next()
    #expect(third?.completedUnitCount == 40 && third?.fractionCompleted == 1.0.nextDown && third?.isFinished == false)
    promise.succeed(1)
    let last = await inbox.next()
    #expect(last?.completedUnitCount == 40 && last?.fractionCompleted == 1 && last?.isFinished == true)
    #expect(await task.value)
  }

  @Test("R25: a busy reader gets only the newest state, and each state once")
  func busyReaderGetsNewestState() async {
    let promise = Promise<Int, any Error>()
    var reader = promise.future.progress.makeAsyncIterator()
    #expect(await reader.next()?.fractionCompleted == 0)
    for number in 1...9 { promise.progress.report(fraction: Double(number) / 10) }
    #expect(await reader.next()?.fractionCompleted == 0.9)
    promise.progress.report(fraction: 0.95)
    promise.progress.report(fraction: 0.5)  // changes nothing
    #expect(await reader.next()?.fractionCompleted == 0.95)
    promise.succeed(1)
    #expect(await reader.next()?.isFinished == true)
    for _ in 0..<3 { #expect(await reader.next() == nil) }
  }

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

  @Test("R25: a reader begins at the state of its first read, not of its creation")
  func readerBeginsAtPresentState() async {
    let promise = Promise<Int, any Error>()
    let updates = promise.future.progress
    var early = updates.makeAsyncIterator()
    promise.progress.report(fraction: 0.5)
    var late = updates.makeAsyncIterator()
    #expect(await early.next()?.fractionCompleted == 0.5)
    #expect(await late.next()?.fractionCompleted == 0.5)
    promise.succeed(1)
    #expect(await early.next()?.fractionCompleted == 1)
    #expect(await early.next() == nil)
    #expect(await read(updates).map(\.fractionCompleted) == [1])
  }

  @Test("R25: `next()` and `next(isolation:)` can read in turns, and copies of a reader are independent")
  func bothNexts() async {
    let promise = Promise<Int, any Error>()
    var reader = promise.future.progress.makeAsyncIterator()
    #expect(await reader.next(isolation: nil)?.fractionCompleted == 0)
    promise.progress.report(fraction: 0.25)
    #expect(await reader.next()?.fractionCompleted == 0.25)
    var copy = reader
    promise.progress.report(fraction: 0.5)
    #expect(await reader.next(isolation: nil)?.fractionCompleted == 0.5)
    promise.fail(TestError(1))
    #expect(await reader.next(isolation: nil) == nil)
    #expect(await copy.next()?.fractionCompleted == 0.5)
    #expect(await copy.next() == nil)
  }

  // MARK: - Every way to end

  /// The position of a reader when the future ends.
  enum Place: CaseIterable, Sendable { case neverRead, hasUnread, hasReadAll, suspended, resumed }

  /// Returns the elements that a reader at `place` still reads when a future at 0.5 ends.
  func lastWords<Failure: Error>(_ place: Place, _ ending: Ending, failing failure: Failure) async -> [Double?] {
    var promise: Promise<Int, Failure>? = Promise()
    defer { withExtendedLifetime(promise) {} }
    guard let future = promise?.future else { return [] }
    var busy = future.progress.makeAsyncIterator()
    let waiting = HeldReader(future.progress)
    defer {
      waiting.cancel()
      waiting.run()
    }
    if place == .hasUnread { #expect(await busy.next()?.fractionCompleted == 0) }
    promise?.progress.report(fraction: 0.5)
    if place == .hasReadAll { #expect(await busy.next()?.fractionCompleted == 0.5) }
    waiting.run()
    if place == .resumed { promise?.progress.report(fraction: 0.75) }
    ending.happen(to: &promise, failing: failure)
    waiting.run()
    if place == .suspended || place == .resumed { return Array(waiting.fractions[1...]) }
    guard future.isResolved || ending == .brokenPromise else { return [0.5] }
    return [await busy.next()?.fractionCompleted, await busy.next()?.fractionCompleted]
  }

  @Test("R25: after the end each reader gets the last state if it is new, and ends", arguments: Place.allCases)
  func readersGetLastStateOnce(place: Place) async {
    for ending in Ending.allCases {
      let read = await lastWords(place, ending, failing: TestError(1) as any Error)
      switch (ending, place) {
      case (.success, _): #expect(read == [1, nil], "\(ending)")
      case (_, .resumed): #expect(read == [0.75, nil], "\(ending)")
      case (_, .hasReadAll): #expect(read == [nil, nil], "\(ending)")
      case (_, .suspended): #expect(read == [nil], "\(ending)")
      case (_, .neverRead), (_, .hasUnread): #expect(read == [0.5, nil], "\(ending)")
      }
      guard ending != .cancellation else { continue }
      #expect(await lastWords(place, ending, failing: TestError(1)) == read, "\(ending)")
    }
    let cancelled = await lastWords(place, .cancellation, failing: Interruption.failed)
    #expect(await cancelled == lastWords(place, .cancellation, failing: TestError(1) as any Error))
    // The failure type cannot represent cancellation: the future and its readers continue.
    #expect(await lastWords(place, .cancellation, failing: TestError(1)).last != .some(nil))
  }

  @Test("R25: readers that start after the end get the last state once", arguments: Ending.allCases, [false, true])
  func lateReadersGetLastStateOnce(ending: Ending, isReported: Bool) async {
    var promise: Promise<Int, any Error>? = Promise()
    guard let future = promise?.future else { return }
    let early = future.progress
    if isReported { promise?.progress.report(fraction: 0.5) }
    ending.happen(to: &promise, failing: TestError(1))
    let last = ending == .success ? 1 : isReported ? 0.5 : 0
    for (index, updates) in [early, future.progress, early].enumerated() {
      #expect(await read(updates).map(\.fractionCompleted) == [last], "updates \(index)")
    }
    #expect(await read(future.progress).first?.isFinished == (ending == .success))
    withExtendedLifetime(promise) {}
  }

  @Test("R25: futures that were made resolved have one state")
  func resolvedFutureHasOneState() async {
    #expect(await read(Future.succeeded(1).progress).map(\.fractionCompleted) == [1])
    #expect(await read(Future<Int, any Error>.succeeded(1).progress).map(\.isFinished) == [true])
    for (index, future) in [Future<Int, any Error>.failed(TestError(1)), .resolved(.failure(TestError(1)))].enumerated()
    {
      #expect(await read(future.progress).map(\.fractionCompleted) == [0], "future \(index)")
      #expect(await read(future.progress) == [future.currentProgress], "future \(index)")
    }
    #expect(await read(Future<Int, TestError>.failed(TestError(1)).progress).map(\.isFinished) == [false])
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

  @Test("R25: the first read starts a lazy future, once")
  func firstReadStartsLazyFuture() async {
    let starts = Recorder<Int>()
    let promises = Recorder<Promise<Int, any Error>>()
    let future = Future<Int, any Error>.lazy { promise in
      starts.record(1)
      promise.progress.report(fraction: 0.5)
      promises.record(promise)
    }
    let updates = future.progress
    var reader = updates.makeAsyncIterator()
    _ = future.events.makeAsyncIterator()
    #expect(starts.events.isEmpty)
    #expect(await reader.next()?.fractionCompleted == 0.5)
    var other = updates.makeAsyncIterator()
    #expect(await other.next()?.fractionCompleted == 0.5)
    #expect(starts.events == [1])
    promises.events.first?.succeed(1)
    #expect(await reader.next()?.isFinished == true)
    #expect(await other.next()?.isFinished == true)
  }

  @Test("R25: reading does not start a lazy future that was cancelled before, and its readers end")
  func cancelledLazy() async {
    let future = Future<Int, any Error>.lazy { _ in Issue.record("It was started.") }
    future.cancel()
    #expect(await read(future.progress).map(\.fractionCompleted) == [0])
    let typed = Future<Int, TestError>.lazy { _ in Issue.record("It was started.") }
    typed.cancel()
    let reader = HeldReader(typed.progress)
    reader.run()
    #expect(reader.fractions == [0])
    reader.cancel()
    reader.run()
    #expect(reader.fractions == [0, nil])
  }

  // MARK: - Many readers

  @Test("R25: any number of readers at different places read independently")
  func readersAreIndependent() {
    let promise = Promise<Int, any Error>()
    let updates = promise.future.progress
    let readers = (0..<4).map { _ in HeldReader(updates) }
    for number in 0..<4 {
      // Reader 0 reads before each report, reader 3 only before the first report and at the end.
      for reader in readers[..<(4 - number)] { reader.run() }
      promise.progress.report(fraction: Double(number + 1) / 10)
    }
    promise.succeed(1)
    for reader in readers { reader.run() }
    #expect(readers[0].fractions == [0, 0.1, 0.2, 0.3, 1, nil])
    #expect(readers[1].fractions == [0, 0.1, 0.2, 1, nil])
    #expect(readers[2].fractions == [0, 0.1, 1, nil])
    #expect(readers[3].fractions == [0, 1, nil])
  }

  @Test("R25: a stored sequence can be read twice and sent to other tasks")
  func storedSequenceIsReadTwice() async {
    struct Screen: Sendable {
      let updates: ProgressUpdates
    }
    let promise = Promise<Int, any Error>()
    promise.progress.report(fraction: 0.5)
    let screen = Screen(updates: promise.future.progress)
    let inbox = Inbox<Double>()
    let tasks = (0..<3).map { number in
      let read: @Sendable () async -> [Double] = {
        var fractions: [Double] = []
        for await progress in screen.updates {
          fractions.append(progress.fractionCompleted)
          inbox.send(progress.fractionCompleted)
        }
        return fractions
      }
      return number == 0 ? Task.detached(operation: read) : Task(operation: read)
    }
    #expect(await inbox.next(3) == [0.5, 0.5, 0.5])
    promise.succeed(1)
    for task in tasks { #expect(await task.value == [0.5, 1]) }
    for _ in 0..<2 { #expect(await read(screen.updates).map(\.fractionCompleted) == [1]) }
  }

  @Test("R25: a reader can move to another task, and continues there")
  func movedReader() async {
    let promise = Promise<Int, any Error>()
    var reader = promise.future.progress.makeAsyncIterator()
    #expect(await reader.next()?.fractionCompleted == 0)
    promise.progress.report(fraction: 0.5)
    let task = Task { [reader] in
      var reader = reader
      return await [
        reader.next()?.fractionCompleted, reader.next()?.fractionCompleted, reader.next()?.fractionCompleted,
      ]
    }
    promise.succeed(1)
    let read = await task.value
    #expect(read == [0.5, 1, nil] || read == [1, nil, nil])
  }

  // MARK: - Not a consumer

  @Test("R16: a reader is no consumer: when the consumers have left, the future is cancelled and the reader ends")
  func readerIsNoConsumer() {
    let promise = Promise<Int, any Error>()
    let cancelled = Recorder<Int>()
    promise.onCancel { cancelled.record(1) }
    let reader = HeldReader(promise.future.progress)
    reader.run()
    let derived = promise.future.map { $0 }
    let derivedReader = HeldReader(derived.progress)
    derivedReader.run()
    derived.cancel()
    #expect(cancelled.events == [1])
    reader.run()
    derivedReader.run()
    #expect(reader.fractions == [0, nil])
    #expect(derivedReader.fractions == [0, nil])
  }

  @Test("R25: a reader that ends or is cancelled cancels nothing")
  func leavingReaderCancelsNothing() async {
    let promise = Promise<Int, any Error>()
    promise.onCancel { Issue.record("The future was cancelled.") }
    let future = promise.future
    for await _ in future.progress { break }
    for await _ in future.events { break }
    let reader = HeldReader(future.progress)
    reader.run()
    reader.cancel()
    reader.run()
    #expect(reader.fractions == [0, nil])
    #expect(!promise.isResolved)
    promise.succeed(1)
  }

  @Test("R5: after the end, readers keep nothing of the future, and the future keeps no readers")
  func endReleasesReaders() async {
    weak var captured: Tracked?
    let future = {
      let tracked = Tracked()
      captured = tracked
      let promise = Promise<Int, any Error>()
      promise.onCancel { tracked.use() }
      let reader = HeldReader(promise.future.progress)
      reader.run()
      promise.progress.report(fraction: 0.5)
      promise.succeed(1)
      reader.run()
      return promise.future
    }()
    #expect(captured == nil)
    #expect(future.isResolved)
  }
}
