import Futures
import FuturesAsync
import TestSupport
import Testing

extension Future {
  /// Awaits the result, for files that do not import FuturesAsync.
  @discardableResult func outcome() async -> Swift.Result<Value, Failure> { await result }
}

/// Old code and new code in one file.
@Suite("FutureX shim beside FuturesAsync")
struct BesideAsyncTests {
  @Test("Async code awaits value and result; other code reads the present value and result")
  func looks() async throws {
    let promise = Promise<Int, TestError>()
    #expect(lookAt(promise.future) == nil)
    startThread { promise.succeed(value: 1) }
    let value: Int = try await promise.future.value
    let result: Result<Int, TestError> = await promise.future.result
    let never: Int = await Future(value: 3).value
    #expect(value == 1 && result == .success(1) && never == 3)
    #expect(lookAt(promise.future) == 1)
  }

  @Test("A closure that awaits starts a task; a closure that only throws runs at once, as in FutureX")
  func closures() async {
    let task = Future { try await failing() }
    let sameTask: Future<Int, any Error> = task
    await #expect(throws: TestError(1)) { try await sameTask.value }
    #expect(lookAt(Future { try [3].first ?? { throw TestError(2) }() }) == 3)
  }
}

private func lookAt<E>(_ future: Future<Int, E>) -> Int? { future.value }

private func failing() async throws -> Int { throw TestError(1) }
