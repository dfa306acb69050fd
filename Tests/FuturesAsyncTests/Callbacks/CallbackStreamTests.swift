internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct CallbackStreamTests {
  @Test("The buffering policy decides which unread elements remain", arguments: StreamKind.allCases)
  func bufferingPolicies(kind: StreamKind) async {
    let rows: [(AsyncThrowingStream<Int, any Error>.Continuation.BufferingPolicy, [Int])] = [
      (.unbounded, [0, 1, 2, 3, 4]), (.bufferingOldest(2), [0, 1]), (.bufferingNewest(2), [3, 4]),
      (.bufferingNewest(1), [4]), (.bufferingOldest(0), []),
    ]
    for (policy, expected) in rows {
      let held = HeldReference<CallbackStream<Int>>()
      let stream = kind.make(bufferingPolicy: policy) { held.hold($0) }
      for number in 0..<5 { held.current?.yield(number) }
      held.current?.finish()
      #expect(await read(stream).elements == expected, "\(policy)")
    }
  }

  /// The event that ends a stream.
  enum End: CaseIterable { case finishes, throwsError, drops, taskCancelled, taskCancelledBefore, breaksOut, unread }

  @Test(
    "R5: every end: the elements, the error, the handlers, which run only if the reader leaves, and their release",
    arguments: End.allCases,
    StreamKind.allCases
  )
  func endsOfStream(end: End, kind: StreamKind) async throws {
    let held = HeldReference<CallbackStream<Int>>()
    var stream: StreamKind.Stream? = kind.make("listener", line: 7) { held.hold($0) }
    let log = Recorder<String>()
    weak var captured: Tracked?
    /// Adds a handler with a tracked object.
    func add(_ name: String) {
      let object = Tracked()
      captured = object
      held.current?.onCancel {
        object.use()
        log.record(name)
      }
    }
    for name in ["first", "second"] { add(name) }
    var (elements, error): ([Int], (any Error)?) = ([], nil)
    if end != .taskCancelledBefore { for number in 1...2 { held.current?.yield(number) } }
    switch end {
    case .finishes: held.current?.finish()
    case .throwsError: held.current?.finish(throwing: TestError(3))
    case .drops: held.drop()
    case .taskCancelled:
      let reader = Task.immediate { [stream] in await read(stream!) }
      #expect(log.events == [])
      reader.cancel()
      // The handlers run on the thread that cancels, so all handlers have run.
      #expect(log.events == ["first", "second"])
      (elements, error) = await reader.value
    case .taskCancelledBefore:
      elements = await Task.immediate { [stream] in
        cancelCurrentTask()
        return await read(stream!).elements
      }.value
    case .breaksOut:
      for try await element in stream! {
        elements.append(element)
        break
      }
    case .unread: break
    }
    let leaves = ![.finishes, .throwsError, .drops].contains(end)
    if leaves { stream = nil }
    #expect(captured == nil)
    let handled = leaves ? ["first", "second"] : []
    #expect(log.events == handled)
    // Calls after the end have no effect, apart from a handler that is added after a cancellation.
    held.current?.yield(4)
    held.current?.finish(throwing: TestError(4))
    add("late")
    #expect(captured == nil)
    held.drop()
    if let stream { (elements, error) = await read(stream) }
    #expect(log.events == handled + (leaves ? ["late"] : []))
    switch end {
    case .throwsError: #expect(error as? TestError == TestError(3))
    case .drops: #expect(error.map { describe($0) } == "broken listener, line 7")
    default: #expect(error == nil)
    }
    switch end {
    case .taskCancelledBefore, .unread: #expect(elements == [])
    case .breaksOut: #expect(elements == [1])
    default: #expect(elements == [1, 2])
    }
  }

  @Test("A reader gets all elements of a `start` that yields and finishes at once", arguments: StreamKind.allCases)
  func endsAtOnce(kind: StreamKind) async {
    let stream = kind.make { handle in
      handle.yield(1)
      handle.finish(throwing: TestError(1))
      handle.onCancel { Issue.record("called") }
      handle.yield(2)
    }
    let (elements, end) = await read(stream)
    #expect(elements == [1])
    #expect(end as? TestError == TestError(1))
  }

  @Test(
    "R3, R17: a handler can use or drop the handle; its elements and its end are ignored",
    arguments: StreamKind.allCases
  )
  func reentrantHandlers(kind: StreamKind) async {
    let log = Recorder<Int>()
    let uses: [@Sendable (HeldReference<CallbackStream<Int>>) -> Void] = [
      { $0.current?.yield(1) }, { $0.current?.finish() }, { $0.current?.finish(throwing: TestError()) }, { $0.drop() },
      { held in held.current?.onCancel { log.record(1) } },
    ]
    for (index, use) in uses.enumerated() {
      let held = HeldReference<CallbackStream<Int>>()
      let stream = kind.make { held.hold($0) }
      held.current?.onCancel { use(held) }
      let reader = Task.immediate { await read(stream) }
      reader.cancel()
      let (elements, error) = await reader.value
      #expect(elements == [], "use \(index)")
      #expect(error == nil, "use \(index)")
    }
    #expect(log.events == [1])
  }

  // MARK: - On the main actor

  private let log = Recorder<String>()
  private let main = HeldContext()

  /// Listens to an API of the main actor, from any isolation.
  private func places(_ kind: StreamKind, on context: MainContext = .main) -> StreamKind.Stream {
    kind.make(on: context) { [log] stream in
      log.record("start")
      for place in 1...3 { stream.yield(place) }
      stream.onCancel(on: .main) {
        MainActor.assertIsolated()
        log.record("stop")
        withExtendedLifetime(stream) {}  // an API keeps the handle until it is stopped
      }
    }
  }

  @Test(
    "A stream on `.main` starts on the main actor, and stops there when its reader leaves",
    arguments: StreamKind.allCases
  )
  func stream(kind: StreamKind) async {
    await MainContext.replace(with: main.context) { @MainActor in
      var places: StreamKind.Stream? = places(kind)
      #expect(log.events == [])
      main.runAll()
      let elements = if let places { await read(places, 3).elements } else { [Int]() }
      #expect(elements == [1, 2, 3])
      places = nil
      #expect(log.events == ["start"])
      main.runAll()
      #expect(log.events == ["start", "stop"])
    }
  }

  @Test(
    "A stream on `.main` whose reader leaves before the start does not start; a shared one starts and stops",
    arguments: StreamKind.allCases
  )
  @MainActor
  func leavesBeforeStart(kind: StreamKind) {
    MainContext.replace(with: main.context) {
      do { _ = places(kind) }
      main.runAll()
      #expect(log.events == (kind == .single ? [] : ["start", "stop"]))
    }
  }

  @Test("A stream on `.mainImmediate` starts at once on the main actor", arguments: StreamKind.allCases)
  @MainActor
  func startsAtOnce(kind: StreamKind) {
    let places = places(kind, on: .mainImmediate)
    #expect(log.events == ["start"])
    withExtendedLifetime(places) {}
  }

  @Test(
    "R22b: `withCallback` runs the main-actor handler of a cancelled task on the main actor",
    arguments: Wrapper.allCases
  )
  @MainActor
  func callback(wrapper: Wrapper) async {
    let stopped = Promise<Void, Never>()
    let task = Task.immediate {
      await wrapper.call { callback in
        callback.onCancelOnMain {
          MainActor.assertIsolated()
          stopped.succeed()
          withExtendedLifetime(callback) {}  // an API keeps the callback until it is stopped
        }
      }
    }
    task.cancel()
    await stopped.future.value
    #expect(await task.value == "cancelled")
  }
}
