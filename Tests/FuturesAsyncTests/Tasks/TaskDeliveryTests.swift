internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct TaskDeliveryTests {
  /// Starts a task with a task-local, which waits at the gate and is cancelled when it ends.
  private static func make(_ start: TaskStart, _ gate: Gate, fails: Bool = false) -> Future<Int, any Error> {
    Local.$name.withValue("producer") {
      start.make { () async throws(any Error) -> Int in
        await gate.pass()
        cancelCurrentTask()
        if fails { throw TestError(1) }
        return 1
      }
    }
  }

  @Test(
    "R8: callbacks and transforms attached before the task ends run outside it, in order, and all awaits end",
    arguments: TaskStart.allCases,
    [false, true]
  )
  func callbacksBefore(start: TaskStart, fails: Bool) async throws {
    let gate = Gate()
    let inbox = Inbox<Surroundings>()
    let future = Self.make(start, gate, fails: fails)
    let promise = Promise<Int, any Error>()
    promise.follow(future)
    let derived = [
      future, promise.future, future.map { $0 }, Future<Int, any Error>.succeeded(0).flatMap { _ in future },
    ]
    for future in derived {
      future.whenResolved(on: .immediate) { _ in inbox.send(Surroundings()) }
      if fails {
        future.whenFailed(on: .immediate) { _ in inbox.send(Surroundings()) }
      } else {
        future.whenSucceeded(on: .immediate) { _ in inbox.send(Surroundings()) }
        future.whenProgressed(on: .immediate) { if $0.isFinished { inbox.send(Surroundings()) } }
      }
      future.forward { _ in inbox.send(Surroundings()) }
    }
    let mapped = future.map { _ in Surroundings() }.recover { _ in Surroundings() }
    let numbers = Inbox<Int>()
    let awaits = (0..<20).map { number in
      future.whenResolved(on: .immediate) { _ in numbers.send(number) }
      return Task.immediate { await future.result.isSuccess }
    }
    gate.open()
    for task in awaits { #expect(await task.value == !fails) }
    #expect(await numbers.next(20) == Array(0..<20))
    #expect(await inbox.next(fails ? 12 : 16).allSatisfy { $0 == .none })
    #expect(await mapped.value == .none)
  }

  @Test("R8: callbacks attached after the end see only the attaching task", arguments: TaskStart.allCases)
  func lateCallbacksSeeOnlyAttachingTask(start: TaskStart) async {
    let gate = Gate()
    let future = Self.make(start, gate)
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
    for _ in 0..<TestTier.choose(standard: 100, thorough: 1_000) {
      let gate = Gate()
      let inbox = Inbox<Surroundings>()
      let future = Self.make(.inheriting, gate)
      DispatchQueue.global().async { gate.open() }
      for _ in 0..<3 { future.whenResolved(on: .immediate) { _ in inbox.send(Surroundings()) } }
      let seen = await inbox.next(3) + [try await future.map { _ in Surroundings() }.value]
      #expect(seen.allSatisfy { $0.local == "none" && !$0.isCancelled })
    }
  }

  @Test("R8: a promise that user code resolves in its own task delivers there, at once")
  func promiseInTask() async {
    let promise = Promise<Int, any Error>()
    let recorder = Recorder<Surroundings>()
    promise.future.whenResolved(on: .immediate) { _ in recorder.record(Surroundings()) }
    let mapped = promise.future.map { _ in Surroundings() }
    await Task.immediate {
      Local.$name.withValue("user") {
        cancelCurrentTask()
        promise.succeed(1)
        let inside = Surroundings(local: "user", isCancelled: true, isInTask: true)
        #expect(recorder.events == [inside])
        #expect((try? mapped.peek()?.get()) == inside)
      }
    }.value
  }
}
