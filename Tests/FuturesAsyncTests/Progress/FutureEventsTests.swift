internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// `ProgressReaderOrderTests` covers every order of events. The tests of `progress` cover what both sequences share.

@Suite("R25: events as an asynchronous sequence", .timeLimit(.minutes(20)))
struct FutureEventsTests {
  @Test("R25: progress comes first, then the result once, then the end", arguments: Ending.allCases)
  func progressComesBeforeResult(ending: Ending) async {
    var promise: Promise<Int, any Error>? = Promise()
    guard let future = promise?.future else { return }
    var events = future.events.makeAsyncIterator()
    #expect(await events.next().map { word(for: $0) } == "0.0")
    promise?.progress.report(fraction: 0.25)
    promise?.progress.report(fraction: 0.5)
    #expect(await events.next().map { word(for: $0) } == "0.5")
    ending.happen(to: &promise, failing: TestError(1))
    if ending == .success { #expect(await events.next().map { word(for: $0) } == "1.0") }
    #expect(await events.next().map { word(for: $0) } == ending.word)
    for _ in 0..<3 { #expect(await events.next() == nil) }
    // Late readers get the last state and the result.
    let last = ending == .success ? "1.0" : "0.5"
    #expect(await read(future.events).map { word(for: $0) } == [last, ending.word])
    withExtendedLifetime(promise) {}
  }

  @Test("R25: each reader gets the result, suspended or busy, and two loops can read one sequence")
  func severalReaders() async {
    let promise = Promise<Int, any Error>()
    let events = promise.future.events
    let suspended = (0..<3).map { _ in HeldReader(events) }
    for reader in suspended { reader.run() }
    var busy = events.makeAsyncIterator()
    _ = await busy.next()
    promise.succeed(1)
    for (index, reader) in suspended.enumerated() {
      reader.run()
      #expect(reader.words == ["0.0", "1.0", "success 1", "end"], "reader \(index)")
    }
    #expect(await busy.next().map { word(for: $0) } == "1.0")
    #expect(await busy.next().map { word(for: $0) } == "success 1")
    #expect(await busy.next(isolation: nil) == nil)
    for _ in 0..<2 { #expect(await read(events).map { word(for: $0) } == ["1.0", "success 1"]) }
  }

  @Test("R25: the last event holds the result of the future, with its type")
  func resultIsThatOfFuture() async {
    let error = ReferenceError()
    let typed = Future<Int, ReferenceError>.failed(error)
    for await event in typed.events {
      if case .resolved(let result) = event {
        let result: Result<Int, ReferenceError> = result
        #expect({ if case .failure(let thrown) = result { thrown === error } else { false } }())
      }
    }
    let object = Tracked()
    let never = Future.succeeded(object)
    for await event in never.events {
      if case .resolved(let result) = event {
        let result: Result<Tracked, Never> = result
        #expect(result.get() === object)
      }
    }
  }

  @Test("R25: futures that were made resolved have one state and one result")
  func resolvedFutureHasOneStateAndOneResult() async {
    #expect(await read(Future<Int, any Error>.succeeded(1).events).map { word(for: $0) } == ["1.0", "success 1"])
    let failed = Future<Int, any Error>.failed(TestError(1))
    #expect(await read(failed.events).map { word(for: $0) } == ["0.0", "failure TestError"])
    #expect(await read(Future<Int, TestError>.failed(TestError(1)).events).count == 2)
    #expect(await read(Future.succeeded(1).events).count == 2)
  }

  @Test("R25: events of a broken typed future end without a result, for waiting and for late readers")
  func brokenTypedFutureEndsWithoutResult() async {
    let (future, promise) = breakable("typed", TestError.self)
    let suspended = HeldReader(future.events)
    suspended.run()
    var busy = future.map { $0 }.events.makeAsyncIterator()
    _ = await busy.next()
    promise.drop()
    suspended.run()
    #expect(suspended.words == ["0.0", "end"])
    #expect(await busy.next() == nil)
    #expect(await read(future.events).map { word(for: $0) } == ["0.0"])
    #expect(await read(future.map { $0 }.events).count == 1)
    let (never, neverPromise) = breakable("never", Never.self)
    neverPromise.drop()
    #expect(await read(never.events).count == 1)
    #expect(await read(never.progress).count == 1)
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

  @Test("R25: a cancelled reader ends without a result, before, while and after it has read the last state")
  func cancelledReaderEndsWithoutResult() async {
    let promise = Promise<Int, any Error>()
    promise.onCancel { Issue.record("The future was cancelled.") }
    let future = promise.future
    let before = Task.immediate {
      withUnsafeCurrentTask { $0?.cancel() }
      return await read(future.events).count
    }
    let suspended = Task.immediate { await read(future.events).count }
    suspended.cancel()
    #expect(await before.value == 0)
    #expect(await suspended.value == 1)
    promise.succeed(1)
    let late = Task.immediate {
      var events = future.events.makeAsyncIterator()
      let last = await events.next().map { word(for: $0) }
      withUnsafeCurrentTask { $0?.cancel() }
      let end = await events.next()
      let stillTheEnd = await events.next()
      return last == "1.0" && end == nil && stillTheEnd == nil
    }
    #expect(await late.value)
  }

  @Test("R25: asking for the first event starts a lazy future")
  func firstEventStartsLazyFuture() async {
    let starts = Recorder<Int>()
    let future = Future<Int, any Error>.lazy { promise in
      starts.record(1)
      promise.progress.report(fraction: 0.5)
      promise.succeed(1)
    }
    let events = future.events
    var reader = events.makeAsyncIterator()
    #expect(starts.events.isEmpty)
    #expect(await reader.next().map { word(for: $0) } == "1.0")
    #expect(await reader.next().map { word(for: $0) } == "success 1")
    #expect(await read(events).count == 2)
    #expect(starts.events == [1])
  }

  @Test("R25, R19: events of derived futures have their progress and their result")
  func derivedFuturesHaveEvents() async {
    let (first, second) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    let next = second.future
    let derived = first.future.flatMap { _ in next }
    let flat = HeldReader(derived.events)
    let all = HeldReader(Future.all([first.future, second.future]).events)
    flat.run()
    all.run()
    first.succeed(1)
    flat.run()
    all.run()
    second.progress.report(fraction: 0.5)
    flat.run()
    all.run()
    second.fail(TestError(2))
    flat.run()
    all.run()
    #expect(flat.words == ["0.0", "0.5", "0.75", "failure TestError", "end"])
    #expect(all.elements.count == 5)
    guard case .resolved(let result)?? = all.elements.dropLast().last else {
      Issue.record("There is no result.")
      return
    }
    #expect(throws: TestError(2)) { try result.get() }
  }

  @Test("R25: events of a future with `any Error` need no `try`, and have the operations of a sequence")
  func eventsOfAnyErrorNeedNoTry() async {
    let promise = Promise<Int, any Error>()
    let events = promise.future.events
    let sequence: any AsyncSequence<FutureEvents<Int, any Error>.Event, Never> = events
    promise.progress.report(fraction: 0.5)
    promise.succeed(3)
    let values = events.compactMap { event -> Int? in
      if case .resolved(.success(let value)) = event { value } else { nil }
    }
    #expect(await read(values) == [3])
    let isResolved = await events.contains { if case .resolved = $0 { true } else { false } }
    #expect(isResolved)
    let fractions = await events.reduce(into: [Double]()) { fractions, event in
      if case .progress(let progress) = event { fractions.append(progress.fractionCompleted) }
    }
    #expect(fractions == [1])
    var count = 0
    for await _ in sequence { count += 1 }
    #expect(count == 2)
  }

  @Test("R25: ended readers do not keep the result")
  func endedReadersKeepNoResult() async {
    weak var value: Tracked?
    let reader = {
      let tracked = Tracked()
      value = tracked
      let promise = Promise<Tracked, any Error>()
      let reader = HeldReader(promise.future.events.map { _ in 1 })
      reader.run()
      promise.succeed(tracked)
      reader.run()
      return reader
    }()
    #expect(reader.elements == [1, 1, 1, nil])
    #expect(value == nil)
  }
}
