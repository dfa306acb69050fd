internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Returns the outcome of a call as text, whose API keeps `handler` alone, and calls it later.
private func outcome<Value, Handler: Sendable>(
  of type: Value.Type = Value.self,
  _ handler: @escaping @Sendable (Callback<Value>) -> Handler,
  _ call: (Handler) -> Void
) async -> String {
  let kept = Locked<Handler?>(nil)
  let task = Task.immediate {
    do {
      let value = try await withCallback("api", of: type, line: 7) { callback in
        let handler = handler(callback)
        kept.withLock { $0 = handler }
      }
      return "\((value as? Page)?.number as Any? ?? value)"
    } catch {
      return describe(error)
    }
  }
  if let handler = kept.withLock({ $0.take() }) { call(handler) }
  return await task.value
}

/// Returns an error of a call as text, with the label and the line of the call.
func describe(_ error: any Error) -> String {
  switch error {
  case let error as BrokenPromise: "broken \(error.label ?? "none"), line \(error.line)"
  case let error as CallbackContractViolation: "violation of \(error.label ?? "none"), line \(error.line)"
  case let error as TestError: "error \(error.number)"
  default: "\(error)"
  }
}

@Suite(.timeLimit(.minutes(20)))
struct CallbackHandlersTests {
  @Test("R4: each handler owns its callback, and gives its value or its error, also values that are not Sendable")
  func handlersGiveValueOrError() async {
    #expect(await outcome({ $0.resultHandler }) { $0(.success(1)) } == "1")
    #expect(await outcome({ $0.resultHandler }) { $0(.success(Page(2))) } == "2")
    #expect(await outcome(of: Int.self, { $0.resultHandler }) { $0(.failure(TestError(3))) } == "error 3")
    #expect(await outcome({ $0.resultHandler(of: TestError.self) }) { $0(.success(Page(2))) } == "2")
    #expect(
      await outcome(of: Int.self, { $0.resultHandler(of: TestError.self) }) { $0(.failure(TestError(3))) } == "error 3"
    )
    #expect(await outcome({ $0.valueHandler }) { $0(Page(1)) } == "1")
    #expect(await outcome(of: Page.self, { $0.failureHandler }) { $0(TestError(2)) } == "error 2")
    #expect(await outcome({ $0.voidHandler }) { $0() } == "()")
    #expect(await outcome({ $0 }) { (callback: Callback<Void>) in callback.resume() } == "()")
    #expect(await outcome({ $0.errorHandler }) { $0(nil) } == "()")
    #expect(await outcome({ $0.errorHandler }) { $0(TestError(1)) } == "error 1")
    #expect(await outcome(of: Int.self, { $0.valueHandler }) { _ in } == "broken api, line 7")
  }

  @Test("Each handler of a typed callback gives its value or its very error")
  func typedHandlers() async {
    func outcome(_ body: (TypedCallback<Page, TestError>) -> Void) async -> Result<Int, TestError> {
      do throws(TestError) {
        let error = TestError(9)
        return .success(
          try await withCallback(throwing: TestError.self, cancelled: error, dropped: error, of: Page.self, body).number
        )
      } catch {
        return .failure(error)
      }
    }
    #expect(await outcome { $0.resultHandler(.success(Page(2))) } == .success(2))
    #expect(await outcome { $0.valueHandler(Page(3)) } == .success(3))
    #expect(await outcome { $0.resultHandler(.failure(TestError(4))) } == .failure(TestError(4)))
    #expect(await outcome { $0.failureHandler(TestError(5)) } == .failure(TestError(5)))
  }

  @Test(
    "A handler of optional values and an error prefers the error, and throws a violation if a value is missing",
    arguments: [1, nil],
    [2, nil]
  )
  func valueOrErrorHandlers(value: Int?, error: Int?) async {
    let (error, second) = (error.map(TestError.init), error)
    let missing = "violation of api, line 7"
    let expected = error.map { "error \($0.number)" } ?? value.map { "\($0)" } ?? missing
    #expect(await outcome({ $0.valueOrErrorHandler }) { $0(value, error) } == expected)
    #expect(await outcome({ $0.valueOrErrorHandler }) { $0(value.map { Page($0) }, error) } == expected)
    let pair = (Int, Int).self
    #expect(await outcome(of: pair, { $0.valuesOrErrorHandler() }) { $0(value, second, TestError(3)) } == "error 3")
    let both = if let value, let second { "(\(value), \(second))" } else { missing }
    #expect(await outcome(of: pair, { $0.valuesOrErrorHandler() }) { $0(value, second, nil) } == both)
  }

  @Test("A nil value of an optional type differs from a missing value")
  func optionalValues() async {
    let missing = "violation of api, line 7"
    #expect(await outcome(of: Int?.self, { $0.valueOrErrorHandler }) { $0(.some(nil), nil) } == "nil")
    #expect(await outcome(of: Int?.self, { $0.valueOrErrorHandler }) { $0(.some(1), nil) } == "Optional(1)")
    #expect(await outcome(of: Int?.self, { $0.valueOrErrorHandler }) { $0(nil, nil) } == missing)
  }
}

// MARK: - Diagnostics, in processes of their own: the handler belongs to the whole process.

/// Sets a handler that records the label of each second call, and "other" for any other misuse.
private func recordSecondCalls() -> Recorder<String> {
  let reports = Recorder<String>()
  FuturesDiagnostics.setHandler { misuse in
    if case .resolvedTwice(let label, _, _) = misuse {
      reports.record(label ?? "none")
    } else {
      reports.record("other")
    }
  }
  return reports
}

@Suite(.timeLimit(.minutes(20)))
struct SecondCallTests {
  #if DEBUG
    @Test("Without a handler, a debug build writes a line for a second call, with the label, the file and the line")
    func lineOfASecondCall() async throws {
      let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
        try await withCallback("number", fileID: "App/Twice.swift", line: 7) { (callback: Callback<Void>) in
          callback.resume()
          callback.resume()
        }
      }
      let output = String(decoding: result.standardErrorContent, as: UTF8.self)
      #expect(output.contains("swift-futures: The callback \"number\" wrapped at App/Twice.swift:7 was called again."))
    }
  #endif

  @Test("A second call, during the call or later, changes nothing and is reported with the label, for every handler")
  func secondCalls() async {
    await #expect(processExitsWith: .success) {
      let reports = recordSecondCalls()
      let kept = Locked<(@Sendable (Int) -> Void)?>(nil)
      let value = try await withCallback("number", of: Int.self) { callback in
        kept.withLock { $0 = callback.valueHandler }
        callback.resume(returning: 1)
        callback.resume(returning: 2)
        callback.resultHandler(.failure(TestError()))
        callback.valueHandler(3)
        callback.failureHandler(TestError())
        callback.valueOrErrorHandler(4, nil)
        callback.valueOrErrorHandler(nil, nil)
      }
      #expect(value == 1)
      #expect(reports.events == Array(repeating: "number", count: 6))
      // One more call, after `withCallback` has returned.
      kept.withLock { $0 }?(5)
      #expect(reports.events == Array(repeating: "number", count: 7))
    }
  }

  @Test("R22b: a call after a cancellation, from onCancel or later, counts as late and is not reported")
  func lateCalls() async {
    await #expect(processExitsWith: .success) {
      let reports = recordSecondCalls()
      for callsInHandler in [true, false] {
        let kept = Locked<(@Sendable (Int?, (any Error)?) -> Void)?>(nil)
        let task = Task.immediate {
          try await withCallback("late", of: Int.self) { callback in
            kept.withLock { $0 = callback.valueOrErrorHandler }
          } onCancel: {
            if callsInHandler { kept.withLock { $0 }?(nil, TestError()) }
          }
        }
        task.cancel()
        await #expect(throws: CancellationError.self, "call in the handler: \(callsInHandler)") { try await task.value }
        for number in 1...2 { kept.withLock { $0 }?(number, nil) }  // the second one is a late second call
        kept.withLock { $0 = nil }
      }
      #expect(reports.events == [])
    }
  }
}
