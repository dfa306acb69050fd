internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// A listener API with one listener at a time, and the log of its calls.
private final class Source: Sendable {
  let log = Recorder<String>()
  private let held = Locked<CallbackStream<Int>?>(nil)

  func start(_ stream: CallbackStream<Int>) {
    log.record("start")
    held.withLock { $0 = stream }
    stream.onCancel {
      self.log.record("stop")
      self.drop()
    }
  }

  var handle: CallbackStream<Int>? { held.withLock { $0 } }

  func drop() {
    let dropped = held.withLock { $0.take() }
    _ = dropped  // released here, outside the lock
  }
}

private typealias Reader = AsyncThrowingStream<Int, any Error>

/// Reads `count` elements, or up to the end.
private func read(_ reader: Reader, _ count: Int = .max) async -> (elements: [Int], error: (any Error)?) {
  var elements: [Int] = []
  do {
    for try await element in reader {
      elements.append(element)
      if elements.count == count { break }
    }
    return (elements, nil)
  } catch {
    return (elements, error)
  }
}

@Suite("SharedCallbackStream", .timeLimit(.minutes(20)))
struct SharedCallbackStreamTests {
  private let source = Source()
  private let numbers: SharedCallbackStream<Int>

  init() { numbers = SharedCallbackStream("numbers", of: Int.self) { [source] stream in source.start(stream) } }

  private func reader(last: Bool = false) -> Reader {
    numbers.reader(bufferingPolicy: .unbounded, startingWithLast: last)
  }

  // MARK: - The source

  @Test("The source starts with the first reader and stops with the last, and starts again for a later one")
  func startsAndStops() {
    #expect(source.log.events == [])
    var readers: [Reader?] = [reader(), reader()]
    #expect(source.log.events == ["start"])
    #expect(numbers.readerCount == 2)
    readers[0] = nil
    #expect(source.log.events == ["start"])
    readers[1] = nil
    #expect(source.log.events == ["start", "stop"])
    #expect(numbers.readerCount == 0)
    readers[0] = reader()
    #expect(source.log.events == ["start", "stop", "start"])
    readers[0] = nil
  }

  @Test("A reader leaves when its task is cancelled, and reaches its end without an error")
  func cancelledTask() async {
    let (first, second) = (reader(), reader())
    let tasks = [first, second].map { reader in Task.immediate { await read(reader) } }
    tasks[0].cancel()
    #expect(await tasks[0].value.error == nil)
    #expect(source.log.events == ["start"])
    source.handle?.yield(1)
    tasks[1].cancel()
    #expect(await tasks[1].value.elements == [1])
    #expect(source.log.events == ["start", "stop"])
  }

  @Test("A reader that comes while the source stops is served by a start after the stop, not during it")
  func comesDuringStop() async {
    let later = Locked<Reader?>(nil)
    let log = source.log
    var first: Reader? = reader()
    source.handle?.onCancel {
      log.record("still stopping")
      let new = self.reader()
      later.withLock { $0 = new }
      log.record("asked")
    }
    first = nil
    #expect(first == nil)
    #expect(log.events == ["start", "stop", "still stopping", "asked", "start"])
    source.handle?.yield(1)
    source.handle?.finish()
    let elements = await read(later.withLock { $0.take() }!).elements
    #expect(elements == [1])
  }

  @Test("A reader that leaves while the source starts stops it after the start")
  func leavesDuringStart() {
    let log = Recorder<String>()
    let second = Locked<Reader?>(nil)
    let handles = Recorder<CallbackStream<Int>>()
    let stream = Locked<SharedCallbackStream<Int>?>(nil)
    let new = SharedCallbackStream(of: Int.self) { handle in
      handles.record(handle)
      handle.onCancel {
        log.record("stop")
        guard log.events.count == 3 else { return }
        let reader = stream.withLock { $0 }?.reader(bufferingPolicy: .unbounded)
        second.withLock { $0 = reader }
      }
      log.record("start")
      let left = second.withLock { $0.take() }
      _ = left
      log.record("started")
    }
    stream.withLock { $0 = new }
    do { _ = new.reader(bufferingPolicy: .unbounded) }
    #expect(log.events == ["start", "started", "stop", "start", "started", "stop"])
    #expect(new.readerCount == 0)
    stream.withLock { $0 = nil }
  }

  @Test("An end in `start` ends the reader, and the next reader starts the source again")
  func endsInStart() async {
    let starts = Recorder<Int>()
    let stream = SharedCallbackStream(of: Int.self) { stream in
      starts.record(1)
      stream.yield(1)
      stream.finish(throwing: TestError(2))
      stream.yield(3)
    }
    for _ in 1...2 {
      let (elements, error) = await read(stream.reader(bufferingPolicy: .unbounded))
      #expect(elements == [1])
      #expect(error as? TestError == TestError(2))
    }
    #expect(starts.events.count == 2)
  }

  // MARK: - Elements

  @Test("All readers get all elements since they came, in order, and the end; a broken promise names the stream")
  func allElements() async {
    let ends: [(CallbackStream<Int>?) -> Void] = [
      { $0?.finish() }, { $0?.finish(throwing: TestError(1)) }, { [source] _ in source.drop() },
    ]
    for (number, end) in ends.enumerated() {
      let first = reader()
      source.handle?.yield(1)
      let second = reader()
      source.handle?.yield(2)
      end(source.handle)
      for (reader, expected) in [(first, [1, 2]), (second, [2])] {
        let (elements, error) = await read(reader)
        #expect(elements == expected, "end \(number)")
        #expect(error as? TestError == (number == 1 ? TestError(1) : nil), "end \(number)")
        #expect((error as? BrokenPromise)?.label == (number == 2 ? "numbers" : nil), "end \(number)")
        #expect((error as? BrokenPromise)?.fileID == (number == 2 ? #fileID : nil), "end \(number)")
      }
    }
    #expect(source.log.events == ["start", "start", "start"])
  }

  @Test("A late reader gets the last element if it asks for it, and no element of an earlier run")
  func lastElement() async {
    do {
      let first = reader(last: true)
      source.handle?.yield(1)
      source.handle?.yield(2)
      #expect(await read(reader(last: true), 1).elements == [2])
      withExtendedLifetime(first) {}
    }
    #expect(source.log.events == ["start", "stop"])
    let third = reader(last: true)
    source.handle?.yield(3)
    source.handle?.finish()
    #expect(await read(third).elements == [3])
    let fourth = reader(last: true)
    source.handle?.finish()
    #expect(await read(fourth).elements == [])
  }

  @Test("Each reader has a buffer of its own")
  func buffers() async {
    let newest = numbers.reader(bufferingPolicy: .bufferingNewest(1))
    let oldest = numbers.reader(bufferingPolicy: .bufferingOldest(1))
    let all = reader()
    for number in 1...3 { source.handle?.yield(number) }
    source.handle?.finish()
    #expect(await read(newest).elements == [3])
    #expect(await read(oldest).elements == [1])
    #expect(await read(all).elements == [1, 2, 3])
  }

  @Test("R28: the readers' buffers are all the memory, however many threads yield")
  func boundedMemory() {
    final class Element: Sendable {
      static let alive = Locked(0)
      init() { Self.alive.withLock { $0 += 1 } }
      deinit { Self.alive.withLock { $0 -= 1 } }
    }
    let handle = Locked<CallbackStream<Element>?>(nil)
    let stream = SharedCallbackStream(of: Element.self) { source in handle.withLock { $0 = source } }
    let readers = [0, 1, 3].map { stream.reader(bufferingPolicy: .bufferingNewest($0)) }
    let source = handle.withLock { $0.take() }
    let most = Locked(0)
    race(
      (0..<4).map { _ in
        {
          for _ in 0..<1_000 {
            source?.yield(Element())
            most.withLock { $0 = max($0, Element.alive.withLock { $0 }) }
          }
        }
      }
    )
    // Three in the longest buffer, and for each thread one that it yields and one that the buffers have dropped.
    #expect(most.withLock { $0 } <= 3 + 2 * 4)
    #expect(Element.alive.withLock { $0 } == 3)
    withExtendedLifetime(readers) {}
  }

  @Test("`on: .main` starts the source on the main actor, and stops it after its start")
  func startsOnMain() async {
    let log = Recorder<String>()
    let main = Recorder<@Sendable () -> Void>()
    await MainContext.replace(with: ExecutionContext { main.record($0) }) { @MainActor in
      let stream = SharedCallbackStream(of: Int.self, on: .main) { source in
        log.record("start")
        source.onCancel { log.record("stop") }
        source.yield(1)
      }
      var first: Reader? = stream.reader(bufferingPolicy: .unbounded)
      #expect(log.events == [])
      first = nil
      #expect(first == nil)
      main.events[0]()
      #expect(log.events == ["start", "stop"])
      let second = stream.reader(bufferingPolicy: .unbounded)
      main.events[1]()
      #expect(await read(second, 1).elements == [1])
    }
    #expect(log.events.prefix(3) == ["start", "stop", "start"])
  }

  @Test("Elements and ends of an earlier run reach no reader of a later run")
  func earlierRun() async {
    var first: Reader? = reader()
    let old = source.handle
    first = nil
    #expect(first == nil)
    let second = reader()
    old?.yield(1)
    old?.finish(throwing: TestError(1))
    source.handle?.yield(2)
    source.handle?.finish()
    let (elements, error) = await read(second)
    #expect(elements == [2])
    #expect(error == nil)
  }

  @Test("Readers see the elements of racing threads in the same order, also one that begins with the last element")
  func sameOrder() async {
    let count = 1_000
    let first = reader()
    let handle = source.handle!
    let late = Locked<Reader?>(nil)
    race(
      (0..<3).map { thread in { @Sendable in for number in 0..<count { handle.yield(thread * count + number) } } } + [
        { @Sendable in
          let reader = self.reader(last: true)
          late.withLock { $0 = reader }
        }
      ]
    )
    handle.finish()
    let all = await read(first).elements
    let some = await read(late.withLock { $0.take() }!).elements
    #expect(all.count == 3 * count)
    #expect(some == Array(all.suffix(some.count)))
    for thread in 0..<3 {
      let own = all.filter { $0 / count == thread }
      #expect(own == Array(thread * count..<(thread + 1) * count))
    }
  }

  // MARK: - Lifetime

  @Test("The stream, its last element and its handlers are released when the readers and the handle have gone")
  func released() async {
    final class Element: Sendable {}
    weak var element: Element?
    weak var stream: SharedCallbackStream<Element>?
    weak var captured: Element?
    do {
      let held = Locked<CallbackStream<Element>?>(nil)
      let capture = Element()
      captured = capture
      let new = SharedCallbackStream(of: Element.self) { stream in
        stream.onCancel { _ = capture }
        held.withLock { $0 = stream }
      }
      stream = new
      let reader = new.reader(bufferingPolicy: .bufferingNewest(1))
      do {
        let first = Element()
        element = first
        held.withLock { $0 }?.yield(first)
      }
      #expect(element != nil)
      withExtendedLifetime(reader) {}
      // `start` captures `held`, which stands for the API here.
      let handle = held.withLock { $0.take() }
      _ = handle
    }
    #expect(element == nil)
    #expect(captured == nil)
    #expect(stream == nil)
  }

  @Test("A handle that the API keeps after the end keeps no stream alive")
  func handleKeptAfterEnd() async {
    let source = Source()
    weak var stream: SharedCallbackStream<Int>?
    do {
      let new = SharedCallbackStream(of: Int.self) { source.start($0) }
      stream = new
      let reader = new.reader(bufferingPolicy: .unbounded)
      source.handle?.yield(1)
      source.handle?.finish()
      #expect(await read(reader).elements == [1])
    }
    #expect(source.handle != nil)
    #expect(stream == nil)
  }

  @Test("Racing readers: two runs of the source never overlap, and each start has one stop")
  func racingReaders() {
    let running = Locked(0)
    let starts = Locked(0)
    let handle = Locked<CallbackStream<Int>?>(nil)
    let stream = SharedCallbackStream(of: Int.self) { stream in
      handle.withLock { $0 = stream }
      starts.withLock { $0 += 1 }
      running.withLock { count in
        count += 1
        #expect(count == 1)
      }
      stream.onCancel { running.withLock { $0 -= 1 } }
      stream.yield(1)
    }
    race(
      (0..<4).map { _ in
        { for _ in 0..<500 { _ = stream.reader(bufferingPolicy: .bufferingNewest(1), startingWithLast: true) } }
      }
    )
    #expect(running.withLock { $0 } == 0)
    #expect(stream.readerCount == 0)
    #expect(starts.withLock { $0 } > 0)
    handle.withLock { $0 = nil }
  }
}
