import Dispatch
import Futures
import FuturesAsync
import TestSupport
import Testing

extension Futures.Future {
  /// Awaits the result, for files that do not import FuturesAsync.
  @discardableResult func outcome() async -> Result<Value, Failure> { await result }
}

/// A user-defined executor that runs its work at once.
final class InlineExecutor: Executor {
  func submit(_ body: @escaping @Sendable () -> Void) { body() }
}

/// A user-defined executor whose work runs when the test calls `held.runAll()`.
final class HeldExecutor: Executor {
  let held = HeldContext()

  func submit(_ body: @escaping @Sendable () -> Void) {
    Future(value: ()).upon(InlineExecutor()) { [held] in
      Futures.Future<Void, Never>.succeeded(()).whenResolved(on: held.context) { _ in body() }
    }
  }
}

/// The requirements of Deferred's own tests of tasks for the parts that the shim covers.
@Suite("Task shim of Deferred", .timeLimit(.minutes(20)))
struct TaskShimTests {
  private let executor = InlineExecutor()

  /// Returns the result with an error that can be compared.
  private func outcome(_ result: Result<Int, any Error>?) -> Result<Int, TestError>? {
    result?.mapError { error in error as? TestError ?? TestError(-1) }
  }

  @Test("uponSuccess gets only values and uponFailure only errors, each on its executor")
  func callbacks() {
    let (held, recorder) = (HeldExecutor(), Recorder<String>())
    for promise in [Task<Int>.Promise(), Task<Int>.Promise()] {
      let task = Task(promise)
      task.uponSuccess(on: held) { recorder.record("value \($0)") }
      task.uponFailure(on: held) { recorder.record("error \(($0 as? TestError)?.number ?? -1)") }
      if recorder.events.isEmpty { promise.succeed(with: 1) } else { promise.fail(with: TestError(2)) }
      held.held.runAll()
    }
    #expect(recorder.events == ["value 1", "error 2"])
  }

  @Test("Cancelling async fails its task before the start, and changes nothing after the start")
  func async() async {
    let (queue, gate) = (DispatchQueue(label: "async"), DispatchSemaphore(value: 0))
    queue.async { gate.wait() }
    let unstarted = Task<Int>.async(upon: queue, onCancel: TestError(1)) { 1 }
    unstarted.cancel()
    gate.signal()
    #expect(outcome(await unstarted.filled.outcome().get()) == .failure(TestError(1)))
    let started = DispatchSemaphore(value: 0)
    let running = Task<Int>.async(upon: queue, onCancel: TestError(1)) {
      started.signal()
      gate.wait()
      return 2
    }
    await Futures.Future<Void, Never>(on: .global()) { started.wait() }.outcome()
    running.cancel()
    gate.signal()
    #expect(outcome(await running.filled.outcome().get()) == .success(2))
  }

  @Test("repeat starts again after each failure that its condition accepts")
  func repeating() {
    let starts = Recorder<Int>()
    let task = Task<Int>.repeat(upon: executor, count: 3, continuingIf: { ($0 as? TestError) != TestError(2) }) {
      starts.record(1)
      return Task(failure: TestError(starts.events.count))
    }
    #expect(starts.events.count == 2 && outcome(task.peek()) == .failure(TestError(2)))
    let all = Recorder<Int>()
    let failing = Task<Int>.repeat(upon: executor, count: 3) {
      all.record(1)
      throw TestError(all.events.count)
    }
    #expect(all.events.count == 1 && outcome(failing.peek()) == .failure(TestError(1)))
  }

  @Test("everySuccess, ignored, eraseToTask and allSucceeded of Void keep the outcome")
  func conversions() {
    let promise = Task<Int>.Promise()
    let task: Task<Int> = promise.eraseToTask()
    let (every, ignored) = (task.everySuccess { $0 + 1 }, task.ignored())
    let all: Task<Void> = [ignored, ignored].allSucceeded()
    promise.succeed(with: 1)
    #expect(outcome(every.peek()) == .success(2))
    #expect((try? ignored.peek()?.get()) != nil && (try? all.peek()?.get()) != nil)
    #expect(Task<Int>(.never).peek() == nil)
  }

  @Test("A Result of two optionals holds the value, else the error, else a violation of the contract")
  func resultOfOptionals() {
    #expect(outcome(Result(value: 1, error: TestError(1))) == .success(1))
    #expect(outcome(Result<Int, any Error>(value: nil, error: TestError(1))) == .failure(TestError(1)))
    #expect(throws: CallbackContractViolation.self) { try Result<Int, any Error>(value: nil, error: nil).get() }
  }

  @Test("Callbacks on .main run on the main actor")
  func onMain() async {
    await withCheckedContinuation { done in
      Task(success: 1).uponSuccess(on: .main) { _ in
        MainActor.preconditionIsolated()
        done.resume()
      }
    }
    await withCheckedContinuation { done in
      Task<Int>(failure: TestError()).uponFailure(on: .main) { _ in
        MainActor.preconditionIsolated()
        done.resume()
      }
    }
  }

  @Test("A task shows its result as soon as a promise, a future or an expression has resolved it")
  func making() {
    let (promise, deferred) = (Task<Int>.Promise(), Deferred<Int>())
    let (task, upgraded) = (Task(promise), Task<Int>(succeedsFrom: deferred))
    #expect(!task.isFilled && task.peek() == nil)
    #expect(promise.succeed(with: 1) && !promise.fail(with: TestError()))
    deferred.fill(with: 42)
    #expect(value(task) == 1 && value(upgraded) == 42 && value(Task(success: 2)) == 2)
    #expect(error(Task(success: try { () throws -> Int in throw TestError(3) }())) == TestError(3))
    #expect(!Task<Int>.never.isFilled)
  }

  @Test("map, andThen, recover and fallback fail with the errors that their closures throw")
  func throwing() {
    let (finished, failed) = (Task(success: 42), Task<Int>(failure: TestError(1)))
    #expect(error(finished.map(upon: executor) { _ -> Int in throw TestError(2) }) == TestError(2))
    #expect(error(finished.andThen(upon: executor) { _ -> Task<Int> in throw TestError(2) }) == TestError(2))
    #expect(error(failed.recover(upon: executor) { _ in throw TestError(2) }) == TestError(2))
    #expect(error(failed.fallback(upon: executor) { _ in throw TestError(2) }) == TestError(2))
  }

  @Test("map and andThen handle values and pass errors on; recover and fallback do the reverse")
  func passingOn() {
    let (finished, failed) = (Task(success: 42), Task<Int>(failure: TestError(1)))
    #expect(value(finished.map(upon: executor) { $0 + 1 }) == 43)
    #expect(value(finished.andThen(upon: executor) { Task(success: $0 * 2) }) == 84)
    #expect(value(failed.recover(upon: executor) { _ in 7 }) == 7)
    #expect(value(failed.fallback(upon: executor) { _ in finished }) == 42)
    #expect(error(failed.map(upon: executor) { _ in unreachable() }) == TestError(1))
    #expect(error(failed.andThen(upon: executor) { _ in Task(success: unreachable()) }) == TestError(1))
    #expect(value(finished.recover(upon: executor) { _ in unreachable() }) == 42)
    #expect(value(finished.fallback(upon: executor) { _ in Task(success: unreachable()) }) == 42)
  }

  @Test("cancel runs the handlers of the chain once, and does not complete the task itself")
  func cancelling() {
    let (promise, inner, recorder) = (Task<Int>.Promise(), Task<Int>.Promise(), Recorder<String>())
    let task = Task(promise) { recorder.record("first") }
    let chain = task.andThen(upon: executor) { _ in
      Task(inner) {
        recorder.record("second")
        inner.fail(with: TestError(2))
      }
    }.map(upon: executor) { $0 }
    promise.succeed(with: 1)
    #expect(!chain.isCancelled && !chain.isFilled)
    chain.cancel()
    chain.cancel()
    #expect(recorder.events == ["first", "second"] && chain.isCancelled && task.isCancelled)
    #expect(error(chain) == TestError(2) && value(task) == 1)

    let stubborn = Task<Int>.Promise()
    let mapped = Task(stubborn).map(upon: executor) { $0 + 1 }
    mapped.cancel()
    #expect(!mapped.isFilled)
    stubborn.succeed(with: 1)
    #expect(value(mapped) == 2)
  }

  @Test("A task that starts in an already cancelled chain is cancelled at once")
  func cancellingBefore() {
    let (promise, recorder) = (Task<Int>.Promise(), Recorder<Int>())
    let chain = Task(promise).andThen(upon: executor) { _ in Task<Int>(Task<Int>.Promise()) { recorder.record(1) } }
    chain.cancel()
    #expect(recorder.events.isEmpty)
    promise.succeed(with: 1)
    #expect(recorder.events == [1])
  }

  @Test("allSucceeded keeps the order, fails at once with the first failure, and then cancels no other task")
  func allSucceeded() {
    let (promises, cancelled) = ((0..<3).map { _ in Task<Int>.Promise() }, Recorder<Int>())
    let tasks = promises.enumerated().map { index, promise in Task(promise) { cancelled.record(index) } }
    let (all, two) = (tasks.allSucceeded(), tasks.dropFirst().allSucceeded())
    promises[0].fail(with: TestError(1))
    #expect(error(all) == TestError(1) && cancelled.events.isEmpty)
    promises[2].succeed(with: 2)
    promises[1].succeed(with: 1)
    #expect(value(two) == [1, 2] && value([Task<Int>]().allSucceeded()) == [])
  }

  @Test("Cancelling allSucceeded cancels each task, and fails with the error with which a handler resolves its task")
  func cancellingAll() {
    let promises = (0..<3).map { _ in Task<Int>.Promise() }
    let tasks = promises.map { promise in Task(promise) { promise.fail(with: TestError(7)) } }
    let all = [tasks, tasks].map { $0.allSucceeded() }.allSucceeded()
    all.cancel()
    #expect(error(all) == TestError(7) && tasks.allSatisfy(\.isFilled))
  }

  @Test("A task converts to and from our Future, and cancellation passes in both directions")
  func moving() async {
    let (promise, recorder) = (Task<Int>.Promise(), Recorder<String>())
    let moved = Task(promise) { recorder.record("task") }.future
    moved.cancel()
    await #expect(throws: CancellationError.self) { try await moved.value }
    let ours = Promise<Int, any Error>()
    ours.onCancel { recorder.record("future") }
    Task(ours.future).map(upon: executor) { $0 }.cancel()
    #expect(recorder.events == ["task", "future"])
    #expect(await _Concurrency.Task { 1 }.value == 1)
  }
}

private func value<T>(_ task: Task<T>) -> T? { try? task.peek()?.get() }

private func error<T>(_ task: Task<T>) -> TestError? {
  if case .failure(let error) = task.peek() { error as? TestError } else { nil }
}

private func unreachable() -> Int {
  Issue.record("This closure must not run.")
  return 0
}
