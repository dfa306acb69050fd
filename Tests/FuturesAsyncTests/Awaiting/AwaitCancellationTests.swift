internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct AwaitCancellationTests {
  enum Step: CaseIterable, Sendable { case attach, cancel, resolve }

  /// A second consumer of the future.
  enum Other: CaseIterable, Sendable {
    case none, callback, await

    /// Attaches the consumer and returns a function that waits for its value.
    func attach<Failure: Error>(to future: Future<Int, Failure>) -> @Sendable () async -> Int? {
      switch self {
      case .none: return { 1 }
      case .callback:
        let inbox = Inbox<Int?>()
        future.whenResolved(on: .immediate) { inbox.send(try? $0.get()) }
        return { await inbox.next() ?? nil }
      case .await:
        let task = Task.immediate { try? await future.result.get() }
        return { await task.value }
      }
    }
  }

  /// A promise that records "cancelled" in `log` when its future is cancelled.
  func promise<Failure: Error>(_: Failure.Type, _ log: Recorder<String>) -> Promise<Int, Failure> {
    let promise = Promise<Int, Failure>()
    promise.onCancel { log.record("cancelled") }
    return promise
  }

  /// Performs `steps` on one future.
  ///
  /// Waits for an await that has to end early before it resolves the future. If that await does not end, the test hangs
  /// until its time limit.
  func check<Failure: Error>(
    _ method: AwaitMethod,
    _ other: Other,
    _ steps: [Step],
    _ type: Failure.Type,
    canRepresentCancellation: Bool
  ) async {
    let order = steps.map { "\($0)" }.joined(separator: ", ")
    let comment: Comment = "\(method), other consumer: \(other), order: \(order), failure: \(type)"
    let endsEarly = steps.last == .resolve && method.endsEarly(canRepresentCancellation: canRepresentCancellation)
    let cancelsFuture = endsEarly && method == .cancel && other == .none
    let log = Recorder<String>()
    let promise = promise(type, log)
    let future = promise.future
    let otherValue = other.attach(to: future)
    var task: Task<Result<Int, any Error>, Never>?
    var isCancelled = false
    for step in steps {
      switch step {
      case .attach: task = method.start(future, isCancelled: isCancelled, log: log)
      case .cancel:
        isCancelled = true
        task?.cancel()
      case .resolve:
        if endsEarly {
          let result = await task?.value
          #expect(result?.isCancellation == true, comment)
          if method.choice != nil { #expect(throws: CancellationError.self, comment) { try result?.get() } }
          #expect(future.isResolved == (cancelsFuture && canRepresentCancellation), comment)
        }
        #expect(promise.succeed(1) == !(cancelsFuture && canRepresentCancellation), comment)
      }
    }
    if !endsEarly { #expect((try? await task?.value.get()) == 1, comment) }
    // The producer's handler runs before the await ends.
    #expect(log.events == (cancelsFuture ? ["cancelled", "ended"] : ["ended"]), comment)
    #expect(await otherValue() == 1, comment)
    if cancelsFuture, canRepresentCancellation {
      #expect(future.peek()?.isCancellation == true, comment)
    } else {
      #expect((try? future.peek()?.get()) == 1, comment)
    }
  }

  @Test(
    "R16, R22: the await ends early, continues or cancels the future, for all orders, consumers and failure types",
    arguments: AwaitMethod.allCases,
    Other.allCases
  )
  func methodAndFailureTypeDecide(method: AwaitMethod, other: Other) async {
    for steps in permutations(of: Step.allCases) {
      await check(method, other, steps, (any Error).self, canRepresentCancellation: true)
      await check(method, other, steps, CancellationError.self, canRepresentCancellation: true)
      await check(method, other, steps, Interruption.self, canRepresentCancellation: true)
      await check(method, other, steps, TestError.self, canRepresentCancellation: false)
      await check(method, other, steps, BrokenPromise.self, canRepresentCancellation: false)
      await check(method, other, steps, Never.self, canRepresentCancellation: false)
    }
  }

  @Test(
    "R16, R22: an await that cancellation has ended is no longer a consumer",
    arguments: AwaitMethod.allCases.filter { $0 != .ignore },
    [false, true]
  )
  func endedAwaitIsNoConsumer(method: AwaitMethod, isCancelledBefore: Bool) async {
    /// Cancels an await by `method`, then `value(onCancel: .cancel)`, which is then the last consumer.
    func check<Failure: Error>(_ type: Failure.Type) async {
      let log = Recorder<String>()
      let promise = promise(type, log)
      let last = AwaitMethod.cancel.start(promise.future)
      let task = method.start(promise.future, isCancelled: isCancelledBefore)
      task.cancel()
      #expect(await task.value.isCancellation, "\(type)")
      #expect(log.events == [], "\(type)")
      last.cancel()
      #expect(await last.value.isCancellation, "\(type)")
      #expect(log.events == ["cancelled"], "\(type)")
    }
    await check((any Error).self)
    await check(Interruption.self)
    guard method.endsEarly(canRepresentCancellation: false) else { return }
    await check(TestError.self)
    await check(Never.self)
  }

  @Test("R15, R16: `cancel` cancels the future before its await ends, and throws although a handler has resolved it")
  func futureIsCancelledBeforeItsAwaitEnds() async throws {
    let executor = HeldExecutor()
    let endedAwaits = Recorder<Int>()
    let promise = Promise<Int, any Error>()
    promise.onCancel { [weak promise] in
      endedAwaits.record(executor.jobCount)
      promise?.succeed(5)
    }
    let task = Task(executorPreference: executor) { try await promise.future.value(onCancel: .cancel) }
    executor.runAll()
    task.cancel()
    #expect(endedAwaits.events == [0])
    #expect(executor.jobCount == 1)
    executor.runAll()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try promise.future.peek()?.get() == 5)
  }

  @Test(
    "R2b, R22: in a cancelled task, only an await that continues starts a lazy future",
    arguments: AwaitMethod.allCases
  )
  func cancelledTaskStartsNothing(method: AwaitMethod) async {
    func check<Failure: Error>(_ type: Failure.Type, canRepresentCancellation: Bool) async {
      let starts = Recorder<Int>()
      let future = Future<Int, Failure>.lazy { promise in
        starts.record(1)
        promise.succeed(1)
      }
      let endsEarly = method.endsEarly(canRepresentCancellation: canRepresentCancellation)
      for attempt in 1...2 {
        let result = await method.start(future, isCancelled: true).value
        // `cancel` has cancelled the future by the second attempt.
        #expect(result.isSuccess == !endsEarly, "\(type), attempt \(attempt)")
        #expect(starts.events == (endsEarly ? [] : [1]), "\(type), attempt \(attempt)")
      }
      guard method != .cancel else { return #expect(!canRepresentCancellation || future.isResolved, "\(type)") }
      #expect(future.isResolved == !endsEarly, "\(type)")
      #expect((try? await future.value) == 1, "\(type)")
      #expect(starts.events == [1], "\(type)")
    }
    await check((any Error).self, canRepresentCancellation: true)
    await check(TestError.self, canRepresentCancellation: false)
  }

  // No compiler before 6.4 has `withTaskCancellationShield`. With a stub of that function, these tests compile with 6.3.
  #if compiler(>=6.4)
    @available(macOS 27, iOS 27, tvOS 27, watchOS 27, visionOS 27, *)
    @Test("R22: a cancellation before or during a shielded await does not end it", arguments: [true, false])
    func shieldedAwaitContinues(isBefore: Bool) async throws {
      let promise = Promise<Int, any Error>()
      let task = Task.immediate {
        if isBefore { cancelCurrentTask() }
        return try await withTaskCancellationShield { try await promise.future.value(onCancel: .cancel) }
      }
      task.cancel()
      #expect(promise.succeed(1))
      #expect(try await task.value == 1)
    }

    @available(macOS 27, iOS 27, tvOS 27, watchOS 27, visionOS 27, *)
    @Test("R22b: in a cancelled task, a shielded `withCallback` calls its body")
    func shieldedCallback() async throws {
      let task = Task.immediate {
        cancelCurrentTask()
        return try await withTaskCancellationShield {
          try await withCallback(of: Int.self) { callback in callback.resume(returning: 1) }
        }
      }
      #expect(try await task.value == 1)
    }
  #endif
}
