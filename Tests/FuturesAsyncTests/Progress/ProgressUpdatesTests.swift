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

  @Test("R25: futures that were made resolved have one state, and one result, for each reader")
  func resolvedFutureHasOneStateAndOneResult() async {
    func check<Failure: Error>(_ future: Future<Int, Failure>, _ state: String, _ result: String) async {
      let (updates, events) = (future.progress, future.events)
      for _ in 0..<2 {
        #expect(await read(updates) == [future.currentProgress])
        #expect(await read(updates).map { word(for: $0) } == [state])
        #expect(await read(events).map { word(for: $0) } == [state, result])
      }
    }
    await check(Future<Int, any Error>.succeeded(1), "1.0", "success 1")
    await check(Future<Int, TestError>.succeeded(1), "1.0", "success 1")
    await check(Future<Int, any Error>.failed(TestError(1)), "0.0", "failure TestError")
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
    var events = future.events.makeAsyncIterator()
    #expect(starts.events.isEmpty)
    #expect(await reader.next()?.fractionCompleted == 0.5)
    #expect(await events.next().map { word(for: $0) } == "0.5")
    #expect(starts.events == [1])
    promises.events.first?.succeed(1)
    #expect(await reader.next()?.isFinished == true)
    #expect(await read(future.events).count == 2)
    #expect(starts.events == [1])
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
}
