import Futures
import TestSupport
import Testing

struct HandlerTests {
  /// Calls of the handlers with one value, with the outcome of the promise as text.
  private static let calls: [(outcome: String, call: @Sendable (Promise<Int, any Error>) -> Void)] = [
    ("1", { $0.resultHandler(.success(1)) }), (error, { $0.resultHandler(.failure(TestError(2))) }),
    ("1", { $0.valueHandler(1) }), (error, { $0.failureHandler(TestError(2)) }),
    ("1", { $0.valueOrErrorHandler(1, nil) }), (error, { $0.valueOrErrorHandler(nil, TestError(2)) }),
    (error, { $0.valueOrErrorHandler(1, TestError(2)) }),
    // A `Result` with a typed failure.
    ("1", { $0.resultHandler(of: TestError.self)(.success(1)) }),
    (error, { $0.resultHandler(of: TestError.self)(.failure(TestError(2))) }),
  ]
  private static let error = "\(TestError(2))"

  @Test(
    "Each handler resolves its promise with its value or its error, and prefers the error",
    arguments: calls.indices
  )
  func handlersResolve(index: Int) {
    let promise = Promise<Int, any Error>()
    Self.calls[index].call(promise)
    #expect(outcome(of: promise.future) == Self.calls[index].outcome)
  }

  @Test("A (value?, error?) handler fails with a violation, which names the place, if both are nil")
  func neitherValueNorError() throws {
    let promise = Promise<Int, any Error>("legacy")
    promise.valueOrErrorHandler(nil, nil)
    let violation = try #require(throws: CallbackContractViolation.self) { try promise.future.peek()?.get() }
    #expect(violation.label == "legacy" && violation.fileID == #fileID)
  }

  @Test("A void handler succeeds, and an (error?) handler succeeds without an error")
  func voidHandlers() {
    let promises = (0..<3).map { _ in Promise<Void, any Error>() }
    promises[0].voidHandler()
    promises[1].errorHandler(nil)
    promises[2].errorHandler(TestError(2))
    let outcomes = promises.map { outcome(of: $0.future.map { 1 }) }
    #expect(outcomes == ["1", "1", Self.error])
  }

  @Test(
    "A (first?, second?, error?) handler prefers the error, and fails with a violation if a value is missing",
    arguments: [1, nil],
    [2, nil]
  )
  func valuesOrError(first: Int?, second: Int?) throws {
    for error in [nil, TestError(3)] {
      let comment: Comment = "\(first as Any), \(second as Any), \(error as Any)"
      let line: UInt = #line + 1
      let promise = Promise<(Int, Int), any Error>("legacy")
      promise.valuesOrErrorHandler()(first, second, error)
      let result = try #require(promise.future.peek(), comment)
      switch (first, second, error) {
      case (_, _, let error?):
        #expect(throws: error, comment) { try result.get() }
      case (let first?, let second?, nil):
        #expect(try result.get() == (first, second), comment)
      default:
        let violation = try #require(
          throws: CallbackContractViolation.self,
          comment
        ) { try result.get() }
        #expect(violation.label == "legacy", comment)
        #expect(violation.fileID == #fileID, comment)
        #expect(violation.line == line, comment)
      }
    }
  }

  @Test("A nil value of an optional type differs from a missing value")
  func optionalValues() throws {
    func outcome(_ value: Int??) -> Result<Int?, any Error>? {
      let promise = Promise<Int?, any Error>()
      promise.valueOrErrorHandler(value, nil)
      return promise.future.peek()
    }
    #expect(try #require(outcome(.some(nil))).get() == nil)
    #expect(try #require(outcome(.some(1))).get() == 1)
    #expect(throws: CallbackContractViolation.self) { try outcome(nil)?.get() }
  }

  @Test("R4: dropping a handler uncalled breaks its promise, and keeping it keeps the promise pending")
  func droppedHandlers() {
    func check<Value, Handler>(_ type: Value.Type, _ handler: (Promise<Value, any Error>) -> Handler) {
      var kept: Handler?
      let future = Future<Value, any Error>("dropped") { promise in kept = handler(promise) }
      #expect(!future.isResolved)
      withExtendedLifetime(kept) {}
      kept = nil
      let error = #expect(throws: BrokenPromise.self) { try future.peek()?.get() }
      #expect(error?.label == "dropped")
    }
    check(Int.self, \.resultHandler)
    check(Int.self, \.valueHandler)
    check(Int.self, \.failureHandler)
    check(Int.self, \.valueOrErrorHandler)
    check((Int, Int).self) { $0.valuesOrErrorHandler() as @Sendable (Int?, Int?, (any Error)?) -> Void }
    check(Void.self, \.voidHandler)
    check(Void.self, \.errorHandler)
  }

  @Test(
    "Second calls of every handler are reported with the label, except late calls after a cancellation"
  )
  func secondCalls() async {
    await #expect(processExitsWith: .success) {
      let reports = Recorder<String>()
      FuturesDiagnostics.setHandler { misuse in
        if case .resolvedTwice(let label, _, _) = misuse {
          reports.record(label ?? "none")
        } else {
          reports.record("other")
        }
      }
      for index in Self.calls.indices {
        let promise = Promise<Int, any Error>("number")
        Self.calls[index].call(promise)
        Self.calls[index].call(promise)
        promise.valueOrErrorHandler(nil, nil)
        #expect(outcome(of: promise.future) == Self.calls[index].outcome)
      }
      let nothing = Promise<Void, any Error>("void")
      nothing.errorHandler(nil)
      nothing.voidHandler()
      nothing.errorHandler(TestError())
      let pair = Promise<(Int, Int), any Error>("pair")
      pair.valuesOrErrorHandler()(1, 2, nil)
      pair.valuesOrErrorHandler()(nil, nil, nil)
      let expected = Array(repeating: "number", count: 2 * Self.calls.count) + ["void", "void", "pair"]
      #expect(reports.events == expected)

      let late = Promise<Int, any Error>("late")
      let handler = late.valueOrErrorHandler
      late.onCancel { handler(nil, TestError(1)) }
      late.future.cancel()
      handler(1, nil)
      handler(nil, nil)
      #expect(throws: TestError(1)) { try late.future.peek()?.get() }
      #expect(reports.events == expected)
    }
  }
}
