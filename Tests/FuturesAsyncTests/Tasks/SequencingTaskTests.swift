internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Tests async closures of operators that call them several times; `TaskStart` has the tests of one call.
@Suite(.timeLimit(.minutes(20)))
struct SequencingTaskTests {
  @Test("R23: the values are in the order of the items, and a closure that is isolated to an actor runs there")
  @MainActor
  func order() async throws {
    let log = Recorder<Int>()
    let work = { @MainActor @Sendable (item: Int) async throws -> Int in
      if isReallyOn(MainActor.shared) { log.record(item) }
      await Task.yield()
      if item > 2 { throw TestError(item) }
      return item
    }
    let items = [0, 1, 2]
    let settled = Future.concurrentSettled(items + [3], limit: 1, work)
    #expect(try await Future.serial(items, work).value == items)
    #expect(try await Future.concurrent(items, limit: 1, work).value == items)
    #expect(await settled.value.map { try? $0.get() } == [0, 1, 2, nil])
    let retries = [
      Future.retry(attempts: 2, on: .immediate) { try await work(3) },
      Future.retry(attempts: 2, delay: .none, on: .immediate) { try await work(3) },
      Future.retry(attempts: 2, on: .immediate, delay: { _, _ in .zero }) { try await work(3) },
    ]
    for retry in retries { await #expect(throws: TestError(3)) { try await retry.value } }
    #expect(log.events.count { $0 == 3 } == 7)
  }

  @Test(
    "A closure that returns a future selects the operator for futures; a typed failure and one that cannot fail stay"
  )
  func selectsOverload() async throws {
    let futures = try await Future.serial([1, 2]) { Future<Int, any Error>.succeeded($0) }.value
    let infallible = await Future.concurrent([1, 2], limit: 2) { item in await Task { item }.value }.value
    let typed: Future<[Int], TestError> = Future.serial([1, 2]) { item throws(TestError) in
      guard await Task(operation: { item }).value > 0 else { throw TestError() }
      return item
    }
    let expected = [1, 2]
    #expect(futures == expected)
    #expect(infallible == expected)
    #expect(await typed.result == .success(expected))
  }
}
