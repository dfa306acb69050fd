internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Tests async work in shared objects; `TaskStart` has the tests of one piece of work.
@Suite(.timeLimit(.minutes(20)))
struct AsyncWorkTests {
  @Test(
    "A serial queue starts work in the order of the calls, each after the closure before has returned, even if cancelled"
  )
  func serialQueue() async throws {
    let (queue, log) = (SerialQueue(), Recorder<String>())
    let gate = Promise<Void, Never>()
    let isRunning = Promise<Void, Never>()
    let first = queue.future {
      log.record("first starts")
      isRunning.succeed()
      await gate.future.value
      log.record("first ends")
      throw TestError(1)
    }
    let waiting = queue.future { log.record("never") }
    let rest = (0..<10).map { number in
      queue.future { () async in
        log.record("\(number) starts")
        await Task.yield()
        log.record("\(number) ends")
      }
    }
    await isRunning.future.value
    (first as Future<Void, any Error>).cancel()
    rest[9].map { _ in 0 }.cancel()
    withExtendedLifetime(waiting) {}
    #expect(log.events == ["first starts"])
    gate.succeed()
    for future in rest.dropLast() { await future.value }
    let expected = (0..<9).flatMap { ["\($0) starts", "\($0) ends"] }
    #expect(Array(log.events.prefix(3 + expected.count)) == ["first starts", "first ends", "never"] + expected)
  }

  @Test("R8: work that a task's end starts runs outside that task")
  func workAfterTask() async {
    let limit = ConcurrencyLimit(1)
    let gate = Promise<Void, Never>()
    let first = limit.run { await Local.$name.withValue("task") { await gate.future.value } }
    let second = limit.run {
      let isInTask = withUnsafeCurrentTask { $0 != nil }
      return Future<Bool, Never>.succeeded(isInTask)
    }
    gate.succeed()
    await first.value
    let isInTask = await second.value
    #expect(!isInTask)
  }

  @Test("Async work that waits for its own key is cancelled when its other callers leave, and the key is free")
  func ownKey() async {
    let cache = FutureCache<String, Int, any Error>()
    let hasAsked = Promise<Void, Never>()
    let first = cache.future(for: "a") {
      let own = cache.future(for: "a") { .succeeded(1) }
      hasAsked.succeed()
      return try await own.map { $0 }.value
    }
    await hasAsked.future.value
    first.cancel()
    let next = cache.future(for: "a") { .succeeded(2) }
    #expect(next.isResolved)
  }

  @Test("R9: `on: .main` loads on the main actor")
  @MainActor func mainActor() async throws {
    var loads = 0
    let cache = FutureCache<String, Int, any Error>()
    let single = FutureCache<SingleKey, Int, any Error>()
    for _ in 0..<2 {
      let load: @MainActor () -> Future<Int, any Error> = {
        loads += 1
        return .succeeded(loads)
      }
      #expect(try await cache.future(for: "a", on: .main, load).value == 1)
      #expect(try await single.future(on: .main, load).value == 2)
    }
    let stopped = Promise<Int, Never>()
    let pending = PendingPromises<Int, Int, any Error>(on: .main) { key in
      loads = key
      stopped.succeed(key)
    }
    pending.future(for: 7).cancel()
    #expect(await stopped.future.value == 7)
    #expect(loads == 7)
  }
}
