internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(20)))
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

  @Test("R23: the operation decides the effect of cancelling the returned task")
  func cancelTask() async throws {
    let promise = Promise<Bool, any Error>()
    let gate = Gate()
    let task = promise.resolve {
      await gate.pass()
      return Task.isCancelled
    }
    task.cancel()
    #expect(!promise.isResolved)
    gate.open()
    #expect(try await promise.future.value)
  }
}
