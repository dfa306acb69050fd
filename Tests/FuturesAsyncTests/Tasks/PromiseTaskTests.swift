internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R23: `Promise.resolve(with:)`", .timeLimit(.minutes(20)))
struct PromiseTaskTests {
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

  @Test("R15, R23: with a future that is already cancelled, the task is cancelled when it starts")
  func cancelledBefore() async {
    let work = GatedWork()
    let promise = Promise<Void, any Error>()
    promise.future.cancel()
    promise.resolve { await work.run() }
    work.gate.open()
    #expect(await work.inbox.next() == "cancelled")
    #expect(promise.future.peek()?.isCancellation == true)
  }

  @Test("R15, R23: cancelling the future cancels the tasks of all operations that can resolve it")
  func cancelSeveral() async {
    let works = [GatedWork(), GatedWork()]
    let promise = Promise<Void, any Error>()
    for work in works { promise.resolve { await work.run() } }
    promise.future.cancel()
    for work in works {
      work.gate.open()
      #expect(await work.inbox.next() == "cancelled")
    }
  }

  @Test("R23: the operation decides the effect of cancelling the returned task")
  func cancelTask() async throws {
    let promise = Promise<Int, any Error>()
    let task = promise.resolve { try await Future<Int, any Error>.never.value }
    let other = Promise<Bool, any Error>()
    let gate = Gate()
    let otherTask = other.resolve {
      await gate.pass()
      return Task.isCancelled
    }
    task.cancel()
    otherTask.cancel()
    #expect(!other.isResolved)
    gate.open()
    await #expect(throws: CancellationError.self) { try await promise.future.value }
    #expect(try await other.future.value)
  }
}
