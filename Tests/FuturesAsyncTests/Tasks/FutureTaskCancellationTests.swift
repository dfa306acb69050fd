internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct FutureTaskCancellationTests {
  // MARK: - Future → task

  @Test(
    "R15, R23: cancelling the future cancels the task, and ends the future if its failure type can represent that",
    arguments: TaskStart.allCases
  )
  func cancelledFutureCancelsTask(start: TaskStart) async {
    /// Cancels futures of this failure type, whose late work succeeds or fails.
    func check<Failure: Error>(failing failure: Failure?, endsAtOnce: Bool) async {
      for error in failure.map({ [nil, $0] }) ?? [nil] {
        let comment: Comment = "\(Failure.self), error: \(error as Any)"
        let work = GatedWork()
        let future = start.make { () async throws(Failure) in
          await work.run()
          if let error { throw error }
          return LastUse { work.inbox.send("released") }
        }
        await work.started.pass()
        let waiting = Task.immediate { await future.result }
        future.cancel()
        future.cancel()
        // The task is cancelled before `cancel()` returns, and once.
        #expect(work.cancellations.events.count == 1, comment)
        #expect(future.isResolved == endsAtOnce, comment)
        if endsAtOnce { #expect(await waiting.value.isCancellation, comment) }
        work.gate.open()
        #expect(await work.inbox.next() == "cancelled", comment)
        if endsAtOnce, error == nil { #expect(await work.inbox.next() == "released", comment) }
        let result = await waiting.value
        #expect(result.isCancellation == endsAtOnce && result.isSuccess == (!endsAtOnce && error == nil), comment)
        #expect(future.peek()?.isSuccess == result.isSuccess, comment)
      }
    }
    await check(failing: TestError(1) as any Error, endsAtOnce: true)
    if TaskStart.plain.contains(start) { await check(failing: Never?.none, endsAtOnce: false) }
    guard TaskStart.typed.contains(start) else { return }
    await check(failing: Interruption.failed, endsAtOnce: true)
    await check(failing: TestError(1), endsAtOnce: false)
  }

  @MainActor
  @Test("R15: when cancel() returns, the task is cancelled, also one that has not begun")
  func cancelsBeforeItReturns() {
    // Repeated: the second task of `Future(task)` starts on another thread, at varying times.
    for _ in 0..<50 {
      let task = Task<Void, any Error> {}
      Future(task).cancel()
      #expect(task.isCancelled)

      let ofNever = Task {}
      Future(ofNever).cancel()
      #expect(ofNever.isCancelled)
    }
    let promise = Promise<Void, any Error>()
    let task = promise.resolve { try Task.checkCancellation() }
    promise.future.cancel()
    #expect(task.isCancelled)
  }

  @Test("R6: a chain of tasks, each of which cancels the next one's future, takes no stack")
  func chain() async {
    let gate = Gate()
    onThread {
      var futures: [Future<Void, any Error>] = []
      for _ in 0..<2_000 {
        let next = futures.last
        let work: @Sendable () async throws -> Void = {
          await withTaskCancellationHandler {
            await gate.pass()
          } onCancel: {
            next?.cancel()
          }
        }
        futures.append(.immediate(operation: work))
      }
      futures.last?.cancel()
      #expect(futures.allSatisfy { $0.peek()?.isCancellation == true })
    }
    gate.open()
  }

  // MARK: - A promise

  @Test("R1, R23: after an earlier resolution the task continues, and its value is dropped and released")
  func earlierResolutionWins() async throws {
    let work = GatedWork()
    let promise = Promise<LastUse?, any Error>()
    let task = promise.resolve {
      await work.run()
      return LastUse { work.inbox.send("released") }
    }
    #expect(promise.succeed(nil))
    promise.future.cancel()
    work.gate.open()
    #expect(await work.inbox.next(2) == ["not cancelled", "released"])
    await task.value
    #expect(try promise.future.peek()?.get() == nil)
  }

  @Test("R4, R23: the task keeps the promise until it has ended, and no longer")
  func taskKeepsPromiseUntilItEnds() async throws {
    let work = GatedWork()
    weak var kept: Promise<Int, any Error>?
    let (future, task) = {
      let promise = Promise<Int, any Error>()
      kept = promise
      let task = promise.resolve {
        await work.run()
        return 1
      }
      return (promise.future, task)
    }()
    #expect(kept != nil)
    work.gate.open()
    await task.value
    #expect(try future.peek()?.get() == 1)
    #expect(kept == nil)
  }

  @Test("R15, R23: cancelling the future cancels all tasks that can resolve it, also those that start later")
  func cancelSeveral() async {
    let works = [GatedWork(), GatedWork(), GatedWork()]
    let promise = Promise<Void, any Error>()
    for work in works.dropLast() { promise.resolve { await work.run() } }
    promise.future.cancel()
    promise.resolve { await works[2].run() }
    for (index, work) in works.enumerated() {
      work.gate.open()
      #expect(await work.inbox.next() == "cancelled", "work \(index)")
    }
    #expect(promise.future.peek()?.isCancellation == true)
  }
}
