internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Returns the outcome of a call whose API is `body`, as text.
private func outcome<Value>(of type: Value.Type = Value.self, _ body: (Callback<Value>) -> Void) async -> String {
  do {
    let value = try await withCallback("api", of: type, body)
    return "\((value as? Page)?.number as Any? ?? value)"
  } catch let error as TestError {
    return "error \(error.number)"
  } catch let error as CallbackContractViolation {
    return "violation of \(error.label ?? "none")"
  } catch let error as BrokenPromise {
    return "broken \(error.label ?? "none")"
  } catch {
    return "\(error)"
  }
}

@Suite("withCallback: the ready-made handlers", .timeLimit(.minutes(20)))
struct CallbackHandlersTests {
  @Test("Each handler gives its value or its error, also values that are not Sendable")
  func handlersGiveValueOrError() async {
    func load(_ succeeds: Bool, _ onSuccess: (Page) -> Void, _ onFailure: (any Error) -> Void) {
      if succeeds { onSuccess(Page(1)) } else { onFailure(TestError(2)) }
    }
    #expect(await outcome { $0.resultHandler(.success(1)) } == "1")
    #expect(await outcome { $0.resultHandler(.success(Page(2))) } == "2")
    #expect(await outcome(of: Int.self) { $0.resultHandler(.failure(TestError(3))) } == "error 3")
    #expect(await outcome { $0.resultHandler(of: TestError.self)(.success(Page(2))) } == "2")
    #expect(await outcome(of: Int.self) { $0.resultHandler(of: TestError.self)(.failure(TestError(3))) } == "error 3")
    #expect(await outcome { load(true, $0.valueHandler, $0.failureHandler) } == "1")
    #expect(await outcome { load(false, $0.valueHandler, $0.failureHandler) } == "error 2")
    #expect(await outcome { $0.voidHandler() } == "()")
    #expect(await outcome { $0.resume() } == "()")
    #expect(await outcome { $0.errorHandler(nil) } == "()")
    #expect(await outcome { $0.errorHandler(TestError(1)) } == "error 1")
  }

  @Test(
    "A (value?, error?) handler prefers the error, and throws a violation if both are nil",
    arguments: [(nil, nil, "violation of api"), (1, nil, "1"), (nil, 2, "error 2"), (1, 2, "error 2")]
      as [(Int?, Int?, String)]
  )
  func valueOrErrorHandler(value: Int?, error: Int?, expected: String) async {
    #expect(await outcome { $0.valueOrErrorHandler(value, error.map(TestError.init)) } == expected)
    #expect(await outcome { $0.valueOrErrorHandler(value.map { Page($0) }, error.map(TestError.init)) } == expected)
  }

  @Test(
    "A (first?, second?, error?) handler prefers the error, and throws a violation if a value is missing",
    arguments: [1, nil],
    [2, nil]
  )
  func valuesOrErrorHandler(first: Int?, second: Int?) async {
    let expected = if let first, let second { "(\(first), \(second))" } else { "violation of api" }
    func call(_ error: TestError?) async -> String {
      await outcome(of: (Int, Int).self) { $0.valuesOrErrorHandler()(first, second, error) }
    }
    #expect(await call(nil) == expected)
    #expect(await call(TestError(3)) == "error 3")
    let pages = try? await withCallback(of: (Page, Page).self) { callback in
      callback.valuesOrErrorHandler()(first.map { Page($0) }, second.map { Page($0) }, nil)
    }
    #expect(pages?.0.number == (second == nil ? nil : first) && pages?.1.number == (first == nil ? nil : second))
  }

  @Test("A nil value of an optional type differs from a missing value")
  func optionalValues() async {
    #expect(await outcome(of: Int?.self) { $0.valueOrErrorHandler(.some(nil), nil) } == "nil")
    #expect(await outcome(of: Int?.self) { $0.valueOrErrorHandler(.some(1), nil) } == "Optional(1)")
    #expect(await outcome(of: Int?.self) { $0.valueOrErrorHandler(nil, nil) } == "violation of api")
  }

  @Test("A violation names label, file and line of the call of withCallback")
  func violationNamesCallSite() async throws {
    // Within a macro, `#line` is always the macro's first line.
    let line: UInt = #line + 1
    let error = await #expect(throws: CallbackContractViolation.self) {
      try await withCallback("legacy", of: Int.self) { $0.valueOrErrorHandler(nil, nil) }
    }
    #expect(error?.label == "legacy")
    #expect(error?.fileID == #fileID)
    #expect(error?.line == line)
    #expect("\(try #require(error))".contains("\"legacy\" wrapped at \(#fileID):\(line)"))
  }

  @Test("R4: a handler owns its callback: dropping it uncalled throws BrokenPromise with label, file and line")
  func droppedHandlers() async throws {
    let broken = "broken api"
    #expect(await outcome(of: Int.self) { _ = $0.resultHandler } == broken)
    #expect(await outcome(of: Int.self) { _ = $0.valueHandler } == broken)
    #expect(await outcome(of: Int.self) { _ = $0.failureHandler } == broken)
    #expect(await outcome(of: Int.self) { _ = $0.valueOrErrorHandler } == broken)
    #expect(
      await outcome(of: (Int, Int).self) { _ = $0.valuesOrErrorHandler() as @Sendable (_, _, _) -> Void } == broken
    )
    #expect(await outcome(of: Void.self) { _ = $0.voidHandler } == broken)
    #expect(await outcome(of: Void.self) { _ = $0.errorHandler } == broken)

    let line: UInt = #line + 1
    let error = await #expect(throws: BrokenPromise.self) { try await withCallback("legacy", of: Int.self) { _ in } }
    #expect(error?.label == "legacy")
    #expect(error?.fileID == #fileID)
    #expect(error?.line == line)
  }

  @Test("R4: the call waits while the API keeps a handler, and ends when the API drops it")
  func keptHandler() async throws {
    let kept = Locked<(@Sendable (Int?, (any Error)?) -> Void)?>(nil)
    let task = Task.immediate {
      await outcome(of: Int.self) { callback in kept.withLock { $0 = callback.valueOrErrorHandler } }
    }
    var handler = kept.withLock { $0.take() }
    #expect(handler != nil)
    handler = nil
    #expect(await task.value == "broken api")
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

@Suite("withCallback: second calls and late calls", .timeLimit(.minutes(20)))
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
      kept.withLock { $0 = nil }
      #expect(reports.events == Array(repeating: "number", count: 7))

      try await withCallback("void") { (callback: Callback<Void>) in
        callback.errorHandler(nil)
        callback.voidHandler()
        callback.errorHandler(TestError())
      }
      #expect(reports.events.suffix(3) == ["number", "void", "void"])

      let pair = try await withCallback(of: (Int, Int).self) { callback in
        callback.valuesOrErrorHandler()(1, 2, nil)
        callback.valuesOrErrorHandler()(3, 4, TestError())
      }
      #expect(pair == (1, 2))
      #expect(reports.events.suffix(2) == ["void", "none"])
      #expect(reports.events.count == 10)
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
        if !callsInHandler { kept.withLock { $0 }?(1, nil) }
        kept.withLock { $0 }?(2, nil)  // a late second call
        kept.withLock { $0 = nil }
      }
      #expect(reports.events == [])
    }
  }
}
