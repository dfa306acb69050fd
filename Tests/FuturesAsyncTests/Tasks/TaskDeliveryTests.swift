internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R8: callbacks and the task that resolves their future", .timeLimit(.minutes(20)))
struct TaskDeliveryTests {
  /// The ways to make a future of a task; the task has a task-local, and is cancelled when it ends.
  enum Start: CaseIterable, Sendable {
    case inheriting, detached, immediate, promise, typed, onMainActor, followed, flattened, failing

    func make(_ gate: Gate) -> Future<Int, any Error> {
      let work: @Sendable () async -> Int = {
        await gate.pass()
        withUnsafeCurrentTask { $0?.cancel() }
        return 1
      }
      return Local.$name.withValue("producer") {
        switch self {
        case .inheriting:
          return Future { await work() }
        case .detached:
          return .detached { await work() }
        case .immediate:
          return .immediate { await work() }
        case .promise:
          let promise = Promise<Int, any Error>()
          promise.resolve { await work() }
          return promise.future
        case .failing:
          return Future {
            _ = await work()
            throw TestError(1)
          }
        case .typed:
          let promise = Promise<Int, any Error>()
          Future<Int, Never> { await work() }.whenSucceeded(on: .immediate) { promise.succeed($0) }
          return promise.future
        case .onMainActor:
          return Future { @MainActor in
            try Task.checkCancellation()
            return await work()
          }
        case .followed:
          let promise = Promise<Int, any Error>()
          promise.follow(Future { await work() })
          return promise.future
        case .flattened:
          return Future<Int, any Error>.immediate { 0 }.flatMap { _ in Future { await work() } }
        }
      }
    }
  }

  @Test("R8: callbacks and transforms attached before the task ends run outside it", arguments: Start.allCases)
  func callbacksBefore(start: Start) async throws {
    let gate = Gate()
    let inbox = Inbox<Surroundings>()
    let future = start.make(gate)
    future.whenResolved(on: .immediate) { _ in inbox.send(Surroundings()) }
    if start == .failing {
      future.whenFailed(on: .immediate) { _ in inbox.send(Surroundings()) }
      future.map { $0 }.whenFailed(on: .immediate) { _ in inbox.send(Surroundings()) }
    } else {
      future.whenSucceeded(on: .immediate) { _ in inbox.send(Surroundings()) }
      future.map { $0 }.flatMap { _ in .succeeded(2) }.whenSucceeded(on: .immediate) { _ in inbox.send(Surroundings()) }
    }
    future.forward { _ in inbox.send(Surroundings()) }
    future.whenProgressed(on: .immediate) { if $0.isFinished { inbox.send(Surroundings()) } }
    let mapped = future.map { _ in Surroundings() }.recover { _ in Surroundings() }
    gate.open()
    #expect(await inbox.next(start == .failing ? 4 : 5).allSatisfy { $0 == .none })
    #expect(await mapped.value == .none)
  }

  @Test("R8: callbacks attached after the end see only the attaching task", arguments: Start.allCases)
  func lateCallbacksSeeOnlyAttachingTask(start: Start) async {
    let gate = Gate()
    let future = start.make(gate)
    gate.open()
    _ = await future.result
    let recorder = Recorder<Surroundings>()
    let attaching = Surroundings(local: "attacher", isCancelled: false, isInTask: true)
    // An await can resume before callbacks on the global queue have run. `mapped` resolves after these callbacks.
    let mapped = Local.$name.withValue("attacher") {
      future.whenResolved(on: .immediate) { _ in recorder.record(Surroundings()) }
      return future.map { _ in Surroundings() }.recover { _ in Surroundings() }
    }
    let seen = [await mapped.value] + recorder.events
    #expect(seen.allSatisfy { $0 == attaching || $0 == .none })
    #expect(seen.count == 2)
  }

  @Test("R8: callbacks attached while the task ends never see it")
  func callbacksAttachedAtEndDoNotSeeTask() async throws {
    for _ in 0..<300 {
      let gate = Gate()
      let inbox = Inbox<Surroundings>()
      let future = Start.inheriting.make(gate)
      DispatchQueue.global().async { gate.open() }
      for _ in 0..<3 { future.whenResolved(on: .immediate) { _ in inbox.send(Surroundings()) } }
      let seen = await inbox.next(3) + [try await future.map { _ in Surroundings() }.value]
      #expect(seen.allSatisfy { $0.local == "none" && !$0.isCancelled })
    }
  }

  @Test(
    "R8: awaits of one future all get the result, and so do callbacks, in order",
    arguments: Start.allCases,
    [0, 20]
  )
  func awaitsAndCallbacksAllRun(start: Start, callbackCount: Int) async {
    let gate = Gate()
    let inbox = Inbox<Int>()
    let future = start.make(gate)
    var awaits: [Task<Bool, Never>] = []
    for number in 0..<20 {
      if number < callbackCount { future.whenResolved(on: .immediate) { _ in inbox.send(number) } }
      awaits.append(Task.immediate { await future.result.isSuccess })
    }
    gate.open()
    for task in awaits { #expect(await task.value == (start != .failing)) }
    #expect(await inbox.next(callbackCount) == Array(0..<callbackCount))
  }

  @Test("R8: a promise that user code resolves in its own task delivers there, at once")
  func promiseInTask() async {
    let promise = Promise<Int, any Error>()
    let recorder = Recorder<Surroundings>()
    promise.future.whenResolved(on: .immediate) { _ in recorder.record(Surroundings()) }
    let mapped = promise.future.map { _ in Surroundings() }
    await Task.immediate {
      Local.$name.withValue("user") {
        withUnsafeCurrentTask { $0?.cancel() }
        promise.succeed(1)
        let inside = Surroundings(local: "user", isCancelled: true, isInTask: true)
        #expect(recorder.events == [inside])
        #expect((try? mapped.peek()?.get()) == inside)
      }
    }.value
  }
}
