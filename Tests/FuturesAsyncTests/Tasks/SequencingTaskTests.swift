internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// An operator that runs async closures, in one form for all tests.
private struct Operator: Sendable, CustomTestStringConvertible {
  typealias Work = @Sendable @isolated(any) (Int) async throws -> Int

  let testDescription: String
  /// Runs the work for the items 0, 1 and 2, or for one attempt of a retry.
  let run: @Sendable (_ work: @escaping Work) -> Future<[Int], any Error>

  static let all = [
    Operator(testDescription: "serial") { Future.serial(0..<3, $0) },
    Operator(testDescription: "concurrent") { Future.concurrent(0..<3, limit: 1, $0) },
    Operator(testDescription: "concurrentSettled") { work in
      Future.concurrentSettled(0..<3, limit: 1, work).setFailureType(to: (any Error).self).map { results in
        try results.map { try $0.get() }
      }
    },
    Operator(testDescription: "retry") { work in
      Future.retry(attempts: 2, on: .immediate) { try await work(0) }.map { [$0, 1, 2] }
    },
    Operator(testDescription: "retry with a delay") { work in
      Future.retry(attempts: 2, delay: .none, on: .immediate) { try await work(0) }.map { [$0, 1, 2] }
    },
    Operator(testDescription: "retry by the error") { work in
      Future.retry(attempts: 2, on: .immediate, delay: { _, _ in .zero }) { try await work(0) }.map { [$0, 1, 2] }
    },
  ]
}

private enum Here {
  @TaskLocal static var place = 0
}

@Suite("Async closures in serial, concurrent, concurrentSettled and retry", .timeLimit(.minutes(20)))
struct SequencingTaskTests {
  @Test("R23: the future has the values of the closures, in the order of the items", arguments: Operator.all)
  private func values(of it: Operator) async throws {
    let future = it.run { item in
      await Task.yield()
      return item
    }
    let expected = [0, 1, 2]
    #expect(try await future.value == expected)
  }

  @Test("R23: the future fails with the very error of a closure", arguments: Operator.all)
  private func failure(of it: Operator) async {
    let error = ReferenceError()
    let result = await it.run { _ in throw error }.result
    #expect(throws: ReferenceError.self) { try result.get() }
    guard case .failure(let thrown as ReferenceError) = result else { return }
    #expect(thrown === error)
  }

  @Test("R23: a closure that is isolated to an actor runs there, in the order of the items", arguments: Operator.all)
  @MainActor
  private func isolation(of it: Operator) async throws {
    let log = Recorder<Bool>()
    let future = it.run { @MainActor item in
      log.record(isReallyOn(MainActor.shared))
      return item
    }
    _ = try await future.value
    let elsewhere = log.events.filter { !$0 }.count
    #expect(elsewhere == 0)
  }

  @Test("R8: a transform does not run inside the task of the closure", arguments: Operator.all)
  private func outsideTheTask(of it: Operator) async throws {
    let future = it.run { item in await Here.$place.withValue(1) { await Task { item }.value } }
    let isInTask = try await future.map { _ in withUnsafeCurrentTask { $0 != nil } }.value
    #expect(!isInTask)
  }

  @Test("R15, R23: cancelling the future cancels the running task, and starts no other", arguments: Operator.all)
  private func cancellation(of it: Operator) async {
    let (started, isCancelled) = (Recorder<Int>(), Promise<Bool, Never>())
    let isRunning = Promise<Void, Never>()
    let future = it.run { item in
      started.record(item)
      isRunning.succeed()
      await CancellationToken.none.cancelled()
      isCancelled.succeed(Task.isCancelled)
      return item
    }
    await isRunning.future.value
    future.cancel()
    #expect(await isCancelled.future.value)
    #expect(await future.result.isCancellation)
    #expect(started.events == [0])
  }

  @Test("R23: the tasks have the priority of the caller", arguments: Operator.all)
  private func priority(of it: Operator) async throws {
    let seen = Recorder<TaskPriority>()
    let start = Task.detached(priority: .utility) {
      it.run { item in
        seen.record(Task.currentPriority)
        return item
      }
    }
    let future = await start.value
    let done = Promise<Void, Never>()
    future.whenResolved(on: .immediate) { _ in done.succeed() }
    await Task.detached(priority: .background) { await done.future.value }.value
    let others = seen.events.filter { $0 < .utility }
    #expect(others.isEmpty)
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
