import Futures
import TestSupport
import Testing

@Suite("Ready-made completion handlers")
struct HandlerTests {
  @Test("Result, value, failure and void handlers resolve the promise")
  func simpleHandlers() {
    let (result, value, failure) = (Promise<Int, TestError>(), Promise<Int, TestError>(), Promise<Int, TestError>())
    let void = Promise<Void, TestError>()
    result.resultHandler(.success(1))
    value.valueHandler(2)
    failure.failureHandler(TestError(3))
    void.voidHandler()
    #expect(result.future.peek() == .success(1))
    #expect(value.future.peek() == .success(2))
    #expect(failure.future.peek() == .failure(TestError(3)))
    #expect(void.isResolved)
  }

  @Test("A (value?, error?) handler: the error wins, and neither is a violation that names label and place")
  func valueOrError() throws {
    func outcome(_ value: Int?, _ error: TestError?) -> Result<Int, any Error>? {
      let promise = Promise<Int, any Error>("legacy")
      promise.valueOrErrorHandler(value, error)
      return promise.future.peek()
    }
    #expect(try outcome(1, nil)?.get() == 1)
    #expect(throws: TestError(2)) { try outcome(nil, TestError(2))?.get() }
    #expect(throws: TestError(2)) { try outcome(1, TestError(2))?.get() }
    let violation = #expect(throws: CallbackContractViolation.self) { try outcome(nil, nil)?.get() }
    #expect(violation?.label == "legacy")
    #expect(violation?.fileID == #fileID)
    #expect("\(try #require(violation))".contains("gave neither a value nor an error"))
  }

  @Test("An (error?) handler succeeds without one")
  func errorHandler() {
    let (good, bad) = (Promise<Void, any Error>(), Promise<Void, any Error>())
    good.errorHandler(nil)
    bad.errorHandler(TestError(1))
    #expect((try? good.future.peek()?.get()) != nil)
    #expect(throws: TestError(1)) { try bad.future.peek()?.get() }
  }

  @Test("A handler that is called twice changes nothing the second time")
  func calledTwice() {
    let promise = Promise<Int, any Error>()
    let handler = promise.valueOrErrorHandler
    handler(1, nil)
    handler(2, nil)
    handler(nil, TestError())
    #expect(try! promise.future.peek()?.get() == 1)
  }
}
