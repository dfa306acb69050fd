internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

private typealias Reader = StreamKind.Stream

/// Tests several readers; `CallbackStreamTests` has the tests of one.
@Suite(.timeLimit(.minutes(20)))
struct SharedCallbackStreamTests {
  private let log = Recorder<String>()
  private let source = HeldReference<CallbackStream<Int>>()
  private let numbers: SharedCallbackStream<Int>

  /// A listener API with one listener at a time, and the log of its calls.
  init() {
    numbers = SharedCallbackStream { [log, source] stream in
      log.record("start")
      source.hold(stream)
      stream.onCancel {
        log.record("stop")
        source.drop()
      }
    }
  }

  private func reader(last: Bool = false) -> Reader {
    numbers.reader(bufferingPolicy: .unbounded, startingWithLast: last)
  }

  // MARK: - The source

  @Test("The source starts with the first reader and stops with the last, and starts again for a later one")
  func startsAndStops() {
    #expect(log.events == [])
    var readers: [Reader?] = [reader(), reader()]
    #expect(log.events == ["start"])
    #expect(numbers.readerCount == 2)
    readers[0] = nil
    #expect(log.events == ["start"])
    readers[1] = nil
    #expect(log.events == ["start", "stop"])
    #expect(numbers.readerCount == 0)
    readers[0] = reader()
    #expect(log.events == ["start", "stop", "start"])
    readers[0] = nil
  }

  @Test("A reader that comes while the source stops is served by a start after the stop, not during it")
  func comesDuringStop() async {
    let later = Locked<Reader?>(nil)
    var first: Reader? = reader()
    source.current?.onCancel { [log] in
      log.record("still stopping")
      let new = self.reader()
      later.withLock { $0 = new }
      log.record("asked")
    }
    first = nil
    #expect(first == nil)
    #expect(log.events == ["start", "stop", "still stopping", "asked", "start"])
    source.current?.yield(1)
    source.current?.finish()
    let elements = await read(later.withLock { $0.take() }!).elements
    #expect(elements == [1])
  }

  @Test(
    "R28: a reader that leaves while the source starts stops it afterwards; a call starts the source at most three times",
    arguments: [false, true]
  )
  @MainActor
  func leavesDuringStart(onMain: Bool) {
    let second = Locked<Reader?>(nil)
    let handles = Recorder<CallbackStream<Int>>()
    let stream = Locked<SharedCallbackStream<Int>?>(nil)
    let start = { @Sendable [log] (handle: CallbackStream<Int>) in
      handles.record(handle)
      handle.onCancel {
        log.record("stop")
        guard handles.events.count < 20 else { return }
        let reader = stream.withLock { $0 }?.reader(bufferingPolicy: .unbounded)
        second.withLock { $0 = reader }
      }
      log.record("start")
      let left = second.withLock { $0.take() }
      _ = left
      log.record("started")
    }
    let new = onMain ? SharedCallbackStream(on: .mainImmediate) { start($0) } : SharedCallbackStream { start($0) }
    stream.withLock { $0 = new }
    let handedOn = HeldContext()
    let previous = Trampoline.current.setElsewhere(handedOn.context.submit)
    do { _ = new.reader(bufferingPolicy: .unbounded) }
    #expect(handles.events.count <= 3)
    handedOn.runAll()
    _ = Trampoline.current.setElsewhere(previous)
    #expect(log.events == Array(repeating: ["start", "started", "stop"], count: 20).flatMap { $0 })
    #expect(new.readerCount == 0)
    stream.withLock { $0 = nil }
  }

  // MARK: - Elements

  @Test("All readers get all elements since they came, in order, and the end; the next reader starts the source again")
  func allElements() async {
    for number in 1...2 {
      let first = reader()
      source.current?.yield(1)
      let second = reader()
      source.current?.yield(2)
      source.current?.finish(throwing: TestError(number))
      for (reader, expected) in [(first, [1, 2]), (second, [2])] {
        let (elements, error) = await read(reader)
        #expect(elements == expected)
        #expect(error as? TestError == TestError(number))
        #expect(await read(reader).error == nil, "a second read gets the end")
      }
    }
    #expect(log.events == ["start", "start"])
  }

  @Test("A late reader gets the last element if it asks for it, and no element of an earlier run")
  func lastElement() async {
    do {
      let first = reader(last: true)
      source.current?.yield(1)
      source.current?.yield(2)
      #expect(await read(reader(last: true), 1).elements == [2])
      withExtendedLifetime(first) {}
    }
    #expect(log.events == ["start", "stop"])
    let third = reader(last: true)
    source.current?.yield(3)
    source.current?.finish()
    #expect(await read(third).elements == [3])
    let fourth = reader(last: true)
    source.current?.finish()
    #expect(await read(fourth).elements == [])
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

  @Test("Elements and ends of an earlier run reach no reader of a later run")
  func earlierRun() async {
    let old = withExtendedLifetime(reader()) { source.current }
    let second = reader()
    old?.yield(1)
    old?.finish(throwing: TestError(1))
    source.current?.yield(2)
    source.current?.finish()
    let (elements, error) = await read(second)
    #expect(elements == [2])
    #expect(error == nil)
  }

  @Test("Readers see the elements of racing threads in the same order, also one that begins with the last element")
  func sameOrder() async {
    let count = 1_000
    let first = reader()
    let handle = source.current!
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

  @Test(
    "R5: the stream, its last element and its handlers are released with the readers, also if the API keeps the handle",
    arguments: [false, true]
  )
  func released(isHandleKept: Bool) async {
    final class Element: Sendable {}
    weak var element: Element?
    weak var stream: SharedCallbackStream<Element>?
    weak var captured: Element?
    let held = Locked<CallbackStream<Element>?>(nil)
    do {
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
      if isHandleKept { held.withLock { $0 }?.finish() }
    }
    if !isHandleKept {
      let handle = held.withLock { $0.take() }
      _ = handle
    }
    #expect(element == nil)
    #expect(captured == nil)
    #expect(stream == nil)
    held.withLock { $0 = nil }
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
