internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R22: awaiting in a cancelled task", .timeLimit(.minutes(20)))
struct AwaitCancellationTests {
  enum Step: CaseIterable, Sendable { case attach, cancel, resolve }

  /// Starts a task that has attached to `future`, or got its result, when this returns.
  func startAwait<Failure: Error>(
    of future: Future<Int, Failure>,
    cancelled: Bool,
    byResult: Bool
  ) -> Task<Result<Int, Failure>, Never> {
    Task.immediate {
      if cancelled { withUnsafeCurrentTask { $0?.cancel() } }
      if byResult { return await future.result }
      do throws(Failure) { return .success(try await future.value) } catch { return .failure(error) }
    }
  }

  /// Does `steps` to one await of one future, which others wait for, too.
  ///
  /// An await that has to end early is waited for at once: if it does not, this hangs until the time limit.
  func play<Failure: Error>(
    _ steps: [Step],
    _ type: Failure.Type,
    byResult: Bool,
    endsEarly: Bool
  ) async -> Result<Int, Failure>? {
    let promise = Promise<Int, Failure>()
    let future = promise.future
    let recorder = Recorder<Int>()
    future.whenSucceeded(on: .immediate) { recorder.record($0) }
    let other = startAwait(of: future, cancelled: false, byResult: byResult)
    var task: Task<Result<Int, Failure>, Never>?
    var done: Set<Step> = []
    var outcome: Result<Int, Failure>?
    for step in steps {
      done.insert(step)
      switch step {
      case .attach: task = startAwait(of: future, cancelled: done.contains(.cancel), byResult: byResult)
      case .cancel: task?.cancel()
      case .resolve: promise.succeed(1)
      }
      if endsEarly, done == [.attach, .cancel] {
        outcome = await task?.value
        // The future and those who wait for it are untouched.
        #expect(!future.isResolved)
        #expect(recorder.events.isEmpty)
      }
    }
    if outcome == nil { outcome = await task?.value }
    #expect(recorder.events == [1])
    #expect((try? await other.value.get()) == 1)
    return outcome
  }

  /// Whether the await is cancelled while, or before, it waits.
  func cancelsAWait(_ steps: [Step]) -> Bool { steps.last == .resolve }

  @Test("R22: `any Error`: it throws at once", arguments: permutations(of: Step.allCases), [false, true])
  func anyError(steps: [Step], byResult: Bool) async {
    let ends = cancelsAWait(steps)
    let result = await play(steps, (any Error).self, byResult: byResult, endsEarly: ends)
    switch result {
    case .success(let value): #expect(value == 1 && !ends)
    case .failure(let error): #expect(error is CancellationError && ends)
    case nil: Issue.record("The await did not end.")
    }
  }

  @Test("R22: `CancellationError`: it throws at once", arguments: permutations(of: Step.allCases), [false, true])
  func cancellationError(steps: [Step], byResult: Bool) async {
    let ends = cancelsAWait(steps)
    let result = await play(steps, CancellationError.self, byResult: byResult, endsEarly: ends)
    switch result {
    case .success(let value): #expect(value == 1 && !ends)
    case .failure: #expect(ends)
    case nil: Issue.record("The await did not end.")
    }
  }

  @Test("R22: a `CancellableFailure`: it throws at once", arguments: permutations(of: Step.allCases), [false, true])
  func cancellableFailure(steps: [Step], byResult: Bool) async {
    let ends = cancelsAWait(steps)
    let result = await play(steps, Interruption.self, byResult: byResult, endsEarly: ends)
    #expect(result == (ends ? .failure(.wasCancelled) : .success(1)))
  }

  @Test("R22: another failure: the await goes on", arguments: permutations(of: Step.allCases), [false, true])
  func otherFailure(steps: [Step], byResult: Bool) async {
    #expect(await play(steps, TestError.self, byResult: byResult, endsEarly: false) == .success(1))
    #expect(await play(steps, BrokenPromise.self, byResult: byResult, endsEarly: false)?.isSuccess == true)
  }

  @Test("R22: `Never`: the await goes on", arguments: permutations(of: Step.allCases))
  func never(steps: [Step]) async {
    #expect(await play(steps, Never.self, byResult: true, endsEarly: false) == .success(1))
    let promise = Promise<Int, Never>()
    let future = promise.future
    let task = Task.immediate { await future.value }
    task.cancel()
    promise.succeed(2)
    #expect(await task.value == 2)
  }

  @Test("R22: one of many awaits is abandoned, wherever it stands, and the others stay")
  func oneOfMany() async {
    for abandoned in 0..<5 {
      let promise = Promise<Int, any Error>()
      let tasks = (0..<5).map { _ in startAwait(of: promise.future, cancelled: false, byResult: false) }
      tasks[abandoned].cancel()
      await #expect(throws: CancellationError.self) { try await tasks[abandoned].value.get() }
      promise.succeed(7)
      for (number, task) in tasks.enumerated() where number != abandoned {
        #expect((try? await task.value.get()) == 7)
      }
    }
  }

  @Test("R22: abandoned awaits keep nothing of the future from being told, nor awaited again")
  func again() async throws {
    let promise = Promise<Int, any Error>()
    let future = promise.future
    for _ in 0..<3 {
      let task = startAwait(of: future, cancelled: false, byResult: false)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value.get() }
    }
    let task = startAwait(of: future, cancelled: false, byResult: false)
    #expect(promise.succeed(1))
    #expect(try await task.value.get() == 1)
    #expect(try await future.value == 1)
  }

  @Test("R22: cancellation and resolution at the same time: one of them ends the await, the future has its value")
  func race() async {
    for _ in 0..<300 {
      let promise = Promise<Int, any Error>()
      let future = promise.future
      let task = startAwait(of: future, cancelled: false, byResult: false)
      let start = Gate()
      let resolving = Task.detached {
        await start.pass()
        return promise.succeed(1)
      }
      let cancelling = Task.detached {
        await start.pass()
        task.cancel()
      }
      start.open()
      switch await task.value {
      case .success(let value): #expect(value == 1)
      case .failure(let error): #expect(error is CancellationError)
      }
      #expect(await resolving.value)
      await cancelling.value
      #expect((try? await future.value) == 1)
    }
  }

  @Test("R22: cancellation while the await attaches never loses its resumption")
  func cancelWhileAttaching() async {
    for _ in 0..<300 {
      let promise = Promise<Int, any Error>()
      let future = promise.future
      let start = Gate()
      let task = Task.detached {
        await start.pass()
        return await future.result
      }
      let cancelling = Task.detached {
        await start.pass()
        task.cancel()
      }
      start.open()
      await cancelling.value
      await #expect(throws: CancellationError.self) { try await task.value.get() }
      #expect(!promise.isResolved)
    }
  }
}

extension Result {
  var isSuccess: Bool {
    if case .success = self { true } else { false }
  }
}
