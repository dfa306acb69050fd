internal import Futures
internal import FuturesAsync
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct LatestTaskTests {
  @Test("A newer request cancels the work of the one before, which throws")
  func supersede() async throws {
    let latest = Latest()
    let promise = Promise<Int, any Error>()
    let first = Task.immediate { try await latest.value { try await promise.future.value(onCancel: .cancel) } }
    let second = Task.immediate { try await latest.value { 2 } }
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(try await second.value == 2)
  }

  @Test("R17a: a value that has arrived is not returned if the request is cancelled before the caller continues")
  func arrivedValue() async throws {
    let latest = Latest()
    let answer = Promise<Int, any Error>()
    let hasArrived = Promise<Void, Never>()
    let isSuspended = Locked(false)
    let executor = HeldExecutor { if isSuspended.withLock(\.self) { hasArrived.succeed() } }
    let task = Task(executorPreference: executor) {
      try await latest.value { try await answer.future.value }
    }
    executor.runAll()
    isSuspended.withLock { $0 = true }
    answer.succeed(1)
    await hasArrived.future.value  // the value waits for the executor
    latest.cancel()
    executor.runAll()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("R22: a cancelled task cancels its request")
  func cancelledTask() async throws {
    let latest = Latest()
    let task = Task.immediate { try await latest.value(after: .seconds(3_600)) { 1 } }
    #expect(latest.isRunning)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!latest.isRunning)
  }
}
