internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Reads `stream` to its end, and returns the elements and the error.
private func read<Element: Sendable>(
  _ stream: AsyncThrowingStream<Element, any Error>
) async -> (elements: [Element], error: (any Error)?) {
  var elements: [Element] = []
  do {
    for try await element in stream { elements.append(element) }
    return (elements, nil)
  } catch {
    return (elements, error)
  }
}

/// Returns a stream of numbers, and its handle, which the test can drop.
private func makeStream(
  _ label: String? = nil,
  bufferingPolicy: AsyncThrowingStream<Int, any Error>.Continuation.BufferingPolicy = .unbounded
) -> (AsyncThrowingStream<Int, any Error>, Locked<CallbackStream<Int>?>) {
  let held = Locked<CallbackStream<Int>?>(nil)
  let stream = callbackStream(label, of: Int.self, bufferingPolicy: bufferingPolicy) { handle in
    held.withLock { $0 = handle }
  }
  return (stream, held)
}

extension Locked where Value == CallbackStream<Int>? {
  fileprivate var handle: CallbackStream<Int> { withLock { $0! } }

  fileprivate func drop() {
    let dropped = withLock { $0.take() }
    _ = dropped  // released here, outside the lock
  }
}

@Suite("callbackStream", .timeLimit(.minutes(20)))
struct CallbackStreamTests {
  // MARK: - Elements

  @Test("The elements keep the order of the calls, before and after the reader starts")
  func elementsKeepTheirOrder() async throws {
    let (stream, held) = makeStream()
    for number in 0..<100 { held.handle.yield(number) }
    var iterator = stream.makeAsyncIterator()
    for number in 0..<50 { #expect(try await iterator.next() == number) }
    for number in 100..<200 { held.handle.yield(number) }
    held.handle.finish()
    for number in 50..<200 { #expect(try await iterator.next() == number) }
    #expect(try await iterator.next() == nil)
  }

  @Test("A waiting reader gets elements that are yielded later")
  func readerFirst() async {
    let (stream, held) = makeStream()
    let reader = Task.immediate { await read(stream).elements }
    for number in 0..<3 { held.handle.yield(number) }
    held.handle.finish()
    #expect(await reader.value == [0, 1, 2])
  }

  @Test("The buffering policy decides which unread elements remain")
  func bufferingPolicies() async {
    let rows: [(AsyncThrowingStream<Int, any Error>.Continuation.BufferingPolicy, [Int])] = [
      (.unbounded, [0, 1, 2, 3, 4]), (.bufferingOldest(2), [0, 1]), (.bufferingNewest(2), [3, 4]),
      (.bufferingNewest(1), [4]), (.bufferingOldest(0), []),
    ]
    for (policy, expected) in rows {
      let (stream, held) = makeStream(bufferingPolicy: policy)
      for number in 0..<5 { held.handle.yield(number) }
      held.handle.finish()
      #expect(await read(stream).elements == expected, "\(policy)")
    }
  }

  @Test("All elements of several threads arrive, in order for each thread")
  func severalThreads() async {
    let (stream, held) = makeStream()
    let count = 1_000
    race(
      (0..<4).map { thread in
        { for number in 0..<count { held.handle.yield(thread * count + number) } }
      }
    )
    held.handle.finish()
    let elements = await read(stream).elements
    for thread in 0..<4 {
      #expect(
        elements.filter { $0 / count == thread } == Array(thread * count..<(thread + 1) * count),
        "thread \(thread)"
      )
    }
    #expect(elements.count == 4 * count)
  }

  // MARK: - The end

  @Test(
    "After the earlier elements, finish ends the sequence and finish(throwing:) throws"
  )
  func finishEndsSequenceAfterItsElements() async {
    for error in [nil, TestError(3)] {
      let (stream, held) = makeStream()
      held.handle.yield(1)
      held.handle.yield(2)
      held.handle.finish(throwing: error)
      let (elements, end) = await read(stream)
      #expect(elements == [1, 2], "\(error as Any)")
      #expect(end as? TestError == error, "\(error as Any)")
    }
  }

  @Test("A reader gets all elements of a `start` that yields and finishes at once")
  func endsAtOnce() async {
    let stream = callbackStream(of: Int.self) { handle in
      handle.yield(1)
      handle.finish(throwing: TestError(1))
      handle.onCancel { Issue.record("called") }
    }
    let (elements, end) = await read(stream)
    #expect(elements == [1])
    #expect(end as? TestError == TestError(1))
  }

  @Test("Elements and ends after the first end are ignored")
  func callsAfterEndAreIgnored() async throws {
    let (stream, held) = makeStream()
    held.handle.yield(1)
    held.handle.finish()
    held.handle.yield(2)
    held.handle.finish(throwing: TestError())
    let (elements, end) = await read(stream)
    #expect(elements == [1])
    #expect(end == nil)
    held.handle.yield(3)
    #expect(await read(stream).elements == [])
  }

  @Test("Dropping the handle throws BrokenPromise with label, file and line after the earlier elements")
  func droppedHandle() async throws {
    let line: UInt = #line + 1
    let stream = callbackStream("listener", of: Int.self) { handle in
      handle.yield(1)
      handle.yield(2)
    }
    let (elements, end) = await read(stream)
    #expect(elements == [1, 2])
    let error = try #require(end as? BrokenPromise)
    #expect(error.label == "listener")
    #expect(error.fileID == #fileID)
    #expect(error.line == line)
  }

  @Test("Dropping the handle ends the wait of its reader; dropping it after the end changes nothing")
  func droppedLater() async {
    let (waiting, held) = makeStream()
    let reader = Task.immediate { await read(waiting).error }
    held.drop()
    #expect(await reader.value is BrokenPromise)

    let (ended, other) = makeStream()
    other.handle.finish()
    other.drop()
    #expect(await read(ended).error == nil)
  }

  // MARK: - Cancellation

  @Test("onCancel runs once, in order of addition, when the reader's task is cancelled; the sequence ends")
  func cancelledTask() async {
    let (stream, held) = makeStream()
    let log = Recorder<Int>()
    for number in 1...3 { held.handle.onCancel { log.record(number) } }
    let reader = Task.immediate { await read(stream) }
    #expect(log.events == [])
    reader.cancel()
    // The handlers run on the thread that cancels, so all have run.
    #expect(log.events == [1, 2, 3])
    held.handle.yield(4)
    #expect(await reader.value.elements == [])
    held.handle.finish()
    held.drop()
    #expect(log.events == [1, 2, 3])
  }

  @Test("onCancel runs when a task that is cancelled begins to read")
  func cancelledBefore() async {
    let (stream, held) = makeStream()
    let log = Recorder<Int>()
    held.handle.onCancel { log.record(1) }
    let reader = Task.immediate {
      withUnsafeCurrentTask { $0?.cancel() }
      return await read(stream).elements
    }
    #expect(await reader.value == [])
    #expect(log.events == [1])
  }

  @Test("onCancel runs once when the reader breaks out and releases the sequence")
  func breaksOut() async throws {
    let log = Recorder<Int>()
    let held = Locked<CallbackStream<Int>?>(nil)
    func readOne() async throws {
      let stream = callbackStream(of: Int.self) { handle in
        handle.onCancel { log.record(1) }
        handle.yield(1)
        handle.yield(2)
        held.withLock { $0 = handle }
      }
      for try await element in stream {
        #expect(element == 1)
        break
      }
    }
    try await readOne()
    #expect(log.events == [1])
    held.handle.yield(3)
    held.drop()
    #expect(log.events == [1])
  }

  @Test("onCancel runs when an unread sequence is released")
  func unreadSequenceRunsOnCancel() {
    let log = Recorder<Int>()
    let held = Locked<CallbackStream<Int>?>(nil)
    do {
      let stream = callbackStream(of: Int.self) { handle in
        handle.onCancel { log.record(1) }
        held.withLock { $0 = handle }
      }
      #expect(log.events == [])
      withExtendedLifetime(stream) {}
    }
    #expect(log.events == [1])
  }

  @Test("onCancel does not run after the end of a sequence, read or unread")
  func onCancelDoesNotRunAfterEnd() async {
    let log = Recorder<Int>()
    let ends: [(Locked<CallbackStream<Int>?>) -> Void] = [
      { $0.handle.finish() }, { $0.handle.finish(throwing: TestError()) }, { $0.drop() },
    ]
    for (number, end) in ends.enumerated() {
      for isRead in [true, false] {
        let (stream, held) = makeStream()
        held.handle.onCancel { log.record(number) }
        held.handle.yield(1)
        end(held)
        if isRead { #expect(await read(stream).elements == [1], "end \(number), read: \(isRead)") }
        let reader = Task.immediate {
          withUnsafeCurrentTask { $0?.cancel() }
          return await read(stream).elements
        }
        reader.cancel()
        _ = await reader.value
        held.withLock { $0 }?.onCancel { log.record(100 + number) }
      }
    }
    #expect(log.events == [])
  }

  @Test("A handler that is added after the cancellation runs at once")
  func addedLate() async {
    let (stream, held) = makeStream()
    let reader = Task.immediate { await read(stream).elements }
    reader.cancel()
    let log = Recorder<Int>()
    held.handle.onCancel { log.record(1) }
    #expect(log.events == [1])
    _ = await reader.value
    held.handle.onCancel { log.record(2) }
    #expect(log.events == [1, 2])
  }

  @Test("R3, R17: a handler can use or drop the handle; its elements and its end are ignored")
  func reentrantHandlers() async {
    let log = Recorder<Int>()
    let uses: [@Sendable (Locked<CallbackStream<Int>?>) -> Void] = [
      { $0.handle.yield(1) }, { $0.handle.finish() }, { $0.handle.finish(throwing: TestError()) }, { $0.drop() },
      { held in held.handle.onCancel { log.record(1) } },
    ]
    for (index, use) in uses.enumerated() {
      let (stream, held) = makeStream()
      held.handle.onCancel { use(held) }
      let reader = Task.immediate { await read(stream) }
      reader.cancel()
      let (elements, error) = await reader.value
      #expect(elements == [], "use \(index)")
      #expect(error == nil, "use \(index)")
    }
    #expect(log.events == [1])
  }

  @Test(
    "Yields, the end, a cancellation and a drop race: elements keep their order, onCancel runs at most once"
  )
  func yieldsEndCancelAndDropRace() async {
    for _ in 0..<200 {
      let (stream, held) = makeStream()
      let log = Recorder<Int>()
      weak var left: Tracked?
      do {
        let object = Tracked()
        left = object
        held.handle.onCancel {
          object.use()
          log.record(1)
        }
      }
      let reader = Task { await read(stream) }
      let handle = Locked(held.withLock { $0.take() })
      race([
        { for number in 0..<10 { handle.withLock { $0 }?.yield(number) } },
        { reader.cancel() },
        { handle.withLock { $0 }?.finish(throwing: TestError()) },
        { handle.drop() },
      ])
      let (elements, error) = await reader.value
      #expect(elements == Array(0..<elements.count))
      #expect(error == nil || error is TestError || error is BrokenPromise)
      #expect(log.events.count <= 1)
      #expect(left == nil)
    }
  }

  // MARK: - Memory

  @Test("R5: the end releases the handlers, for every ending")
  func handlersAreReleased() async {
    for end in Array(0..<4) {
      let (stream, held) = makeStream()
      weak var left: Tracked?
      do {
        let object = Tracked()
        left = object
        held.handle.onCancel { object.use() }
      }
      #expect(left != nil, "end \(end)")
      switch end {
      case 0: held.handle.finish()
      case 1: held.handle.finish(throwing: TestError())
      case 2: held.drop()
      default:
        let reader = Task.immediate { await read(stream).elements }
        reader.cancel()
        _ = await reader.value
      }
      #expect(left == nil, "\(end)")
      do {
        let object = Tracked()
        left = object
        held.withLock { $0 }?.onCancel { object.use() }
      }
      #expect(left == nil, "\(end), added later")
    }
  }

  @Test("Unread elements are released with the sequence")
  func elementsAreReleased() async {
    weak var left: Tracked?
    do {
      let object = Tracked()
      left = object
      let stream = callbackStream(of: Tracked.self) { $0.yield(object) }
      withExtendedLifetime(stream) {}
    }
    #expect(left == nil)
  }
}
