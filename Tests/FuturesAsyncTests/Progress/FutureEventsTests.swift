internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// `ProgressReaderOrderTests` covers every order of events. The tests of `progress` cover what both sequences share.

@Suite("R25: events as an asynchronous sequence", .timeLimit(.minutes(20)))
struct FutureEventsTests {
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
      let (never, neverPromise) = breakable("never", Never.self)
      neverPromise.drop()
      #expect(await read(never.events).count == 1)
      #expect(await read(never.progress).count == 1)
      #expect(recorder.events.isEmpty)
    }
  }

  @Test("R25: a reader that is cancelled after it has read the last state ends without a result")
  func cancelledReaderEndsWithoutResult() async {
    let promise = Promise<Int, any Error>()
    let future = promise.future
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
    var count = 0
    for await _ in sequence { count += 1 }
    #expect(count == 2)
  }
}
