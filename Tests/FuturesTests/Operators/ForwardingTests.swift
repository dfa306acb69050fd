import Futures
import FuturesTesting
import TestSupport
import Testing

/// Returns the arguments of a completion as text.
private func text(_ value: some Any, _ error: (any Error)?) -> String {
  "\(value), \((error as? TestError).map { "error \($0.number)" } ?? error.map { "\(type(of: $0))" } ?? "nil")"
}

private func text<Value, Failure>(_ result: Result<Value, Failure>) -> String {
  switch result {
  case .success(let value): "success \(value)"
  case .failure(let error):
    "failure \((error as? TestError).map { "\($0.number)" } ?? "\(type(of: error as any Error))")"
  }
}

/// Forwards a future to a completion of one shape, which records its arguments.
private typealias Shape<Value: Sendable, Failure: Error> =
  @Sendable (Future<Value, Failure>, ExecutionContext, CancellationToken, Recorder<String>) -> Void

/// Every completion is a variable with a type, like the parameter of an old function.
private let shapes:
  [(name: String, forward: Shape<Int, any Error>, success: String, failure: String, cancelled: String)] = [
    (
      "result",
      { future, context, token, log in
        let completion: @Sendable (Result<Int, any Error>) -> Void = { log.record(text($0)) }
        future.forward(on: context, cancelledBy: token, to: completion)
      },
      "success 1", "failure 2", "failure CancellationError"
    ),
    (
      "value or error",
      { future, context, token, log in
        let completion: @Sendable (Int?, (any Error)?) -> Void = { log.record(text($0 as Any, $1)) }
        future.forward(on: context, cancelledBy: token, to: completion)
      },
      "Optional(1), nil", "nil, error 2", "nil, CancellationError"
    ),
    (
      "success and failure",
      { future, context, token, log in
        let onSuccess: @Sendable (Int) -> Void = { log.record("success \($0)") }
        let onFailure: @Sendable (any Error) -> Void = { log.record(text(Result<Int, any Error>.failure($0))) }
        future.forward(on: context, cancelledBy: token, onSuccess: onSuccess, onFailure: onFailure)
      },
      "success 1", "failure 2", "failure CancellationError"
    ),
    (
      "values or error",
      { future, context, token, log in
        let completion: @Sendable (Int?, String?, (any Error)?) -> Void = {
          log.record(text("\($0 as Any) \($1 as Any)", $2))
        }
        future.map { ($0, "a") }.forward(on: context, cancelledBy: token, to: completion)
      },
      "Optional(1) Optional(\"a\"), nil", "nil nil, error 2", "nil nil, CancellationError"
    ),
    (
      "error",
      { future, context, token, log in
        let completion: @Sendable ((any Error)?) -> Void = { log.record(text("", $0)) }
        future.ignoreValue().forward(on: context, cancelledBy: token, to: completion)
      },
      ", nil", ", error 2", ", CancellationError"
    ),
    (
      "void result",
      { future, context, token, log in
        let completion: @Sendable (Result<Void, any Error>) -> Void = { log.record(text($0)) }
        future.ignoreValue().forward(on: context, cancelledBy: token, to: completion)
      },
      "success ()", "failure 2", "failure CancellationError"
    ),
  ]

@Suite("Forwarding to a completion handler")
struct ForwardingTests {
  @Test("Every shape gets the value or the error, once, on its context", arguments: shapes.indices)
  func everyShapeRunsOnItsContext(index: Int) {
    let shape = shapes[index]
    for (result, expected) in [
      (Result<Int, any Error>.success(1), shape.success), (.failure(TestError(2)), shape.failure),
    ] {
      for isResolvedBefore in [true, false] {
        let (manual, promise, log) = (ManualContext(), Promise<Int, any Error>(), Recorder<String>())
        if isResolvedBefore { promise.resolve(result) }
        shape.forward(promise.future, manual.context, .none, log)
        promise.resolve(result)
        #expect(log.events == [], "\(shape.name)")
        #expect(manual.runAll() == 1, "\(shape.name), resolved before: \(isResolvedBefore)")
        #expect(log.events == [expected], "\(shape.name), resolved before: \(isResolvedBefore)")
        #expect(manual.pendingCount == 0, "\(shape.name), resolved before: \(isResolvedBefore)")
      }
    }
  }

  @Test("A cancelled token detaches the completion, and calls it with a CancellationError", arguments: shapes.indices)
  func tokenCompletesWithCancellationError(index: Int) {
    let shape = shapes[index]
    let (promise, source, log) = (Promise<Int, any Error>(), CancellationTokenSource(), Recorder<String>())
    let other = promise.future.map { $0 }
    shape.forward(promise.future, .immediate, source.token, log)
    #expect(log.events == [])
    source.cancel()
    #expect(log.events == [shape.cancelled], "\(shape.name)")
    #expect(!promise.isResolved)
    promise.succeed(1)
    #expect(other.isResolved)
    #expect(log.events == [shape.cancelled])
  }

  @Test(
    "R16: the token of the only consumer cancels the work, even if the token was cancelled before",
    arguments: shapes.indices,
    [false, true]
  )
  func tokenCancelsTheWork(index: Int, isBefore: Bool) {
    let (promise, source, log) = (Promise<Int, any Error>(), CancellationTokenSource(), Recorder<String>())
    promise.onCancel { log.record("work cancelled") }
    if isBefore { source.cancel() }
    shapes[index].forward(promise.future, .immediate, source.token, log)
    source.cancel()
    #expect(log.events.sorted() == [shapes[index].cancelled, "work cancelled"].sorted())
  }

  @Test("R4: a broken promise completes with BrokenPromise")
  func brokenPromise() {
    for shape in shapes {
      let log = Recorder<String>()
      shape.forward(Promise<Int, any Error>().future, .immediate, .none, log)
      #expect(log.events == [shape.cancelled.replacing("CancellationError", with: "BrokenPromise")], "\(shape.name)")
    }
  }

  @Test("Trailing closures find their shape by the number of their parameters")
  func trailingClosures() {
    let log = Recorder<String>()
    let future = Future<Int, any Error>.succeeded(1)
    future.forward(on: .immediate) { result in log.record(text(result)) }
    future.forward(on: .immediate) { value, error in log.record(text(value as Any, error)) }
    future.map { ($0, 2) }.forward(on: .immediate) { first, second, error in
      log.record(text("\(first as Any) \(second as Any)", error))
    }
    future.forward(on: .immediate) {
      log.record("success \($0)")
    } onFailure: {
      log.record("\($0)")
    }
    future.ignoreValue().forward(on: .immediate) { log.record(text($0)) }
    #expect(
      log.events == [
        "success 1", "Optional(1), nil", "Optional(1) Optional(2), nil", "success 1", "success ()",
      ]
    )
  }

  @Test("A nil value of an optional type differs from a missing value")
  func optionalValues() {
    let log = Recorder<String>()
    let result: @Sendable (Result<Int?, any Error>) -> Void = { log.record(text($0)) }
    let valueOrError: @Sendable (Int??, (any Error)?) -> Void = { log.record(text($0 as Any, $1)) }
    for future in [Future<Int?, any Error>.succeeded(1), .succeeded(nil), .failed(TestError(2))] {
      future.forward(on: .immediate, to: result)
      future.forward(on: .immediate, to: valueOrError)
      future.forward(on: .immediate, onSuccess: { log.record("\($0 as Any)") }, onFailure: { log.record("\($0)") })
    }
    #expect(
      log.events == [
        "success Optional(1)", "Optional(Optional(1)), nil", "Optional(1)",
        "success nil", "Optional(nil), nil", "nil",
        "failure 2", "nil, error 2", "\(TestError(2))",
      ]
    )
  }

  @Test("Each shape takes a typed failure; a (value?, error?) completion takes any error")
  func typedFailures() {
    let log = Recorder<String>()
    let future = Future<Int, TestError>.failed(TestError(1))
    let result: @Sendable (Result<Int, TestError>) -> Void = { log.record(text($0)) }
    let valueOrError: @Sendable (Int?, (any Error)?) -> Void = { log.record(text($0 as Any, $1)) }
    let onFailure: @Sendable (TestError) -> Void = { log.record("\($0.number)") }
    let onlyError: @Sendable ((any Error)?) -> Void = { log.record(text("", $0)) }
    future.forward(on: .immediate, to: result)
    future.forward(on: .immediate, to: valueOrError)
    future.forward(on: .immediate, onSuccess: { _ in }, onFailure: onFailure)
    future.ignoreValue().forward(on: .immediate, to: onlyError)
    #expect(log.events == ["failure 1", "nil, error 1", "1", ", error 1"])
  }

  @Test("R16: without a cancelled case, the completion gets the result even after its token was cancelled")
  func tokenOfTypedFailure() {
    let (promise, source, log) = (Promise<Int, TestError>(), CancellationTokenSource(), Recorder<String>())
    promise.onCancel { log.record("work cancelled") }
    promise.future.forward(on: .immediate, cancelledBy: source.token) { log.record(text($0)) }
    source.cancel()
    #expect(log.events == ["work cancelled"])
    promise.fail(TestError(3))
    #expect(log.events == ["work cancelled", "failure 3"])
  }

  @Test("Forwarding a future that cannot fail completes with the value, in every shape")
  func futureThatCannotFailFillsEveryShape() {
    let (manual, log) = (ManualContext(), Recorder<String>())
    let value: @Sendable (Int) -> Void = { log.record("\($0)") }
    let result: @Sendable (Result<Int, Never>) -> Void = { log.record(text($0)) }
    let valueOrError: @Sendable (Int?, (any Error)?) -> Void = { log.record(text($0 as Any, $1)) }
    let nothing: @Sendable (()) -> Void = { log.record("\($0)") }
    let onlyError: @Sendable ((any Error)?) -> Void = { log.record(text("", $0)) }
    let promise = Promise<Int, Never>()
    promise.future.forward(on: manual.context, to: value)
    promise.future.forward(on: manual.context, to: result)
    promise.future.forward(on: manual.context, to: valueOrError)
    promise.future.ignoreValue().forward(on: manual.context, to: nothing)
    promise.future.ignoreValue().forward(on: manual.context, to: onlyError)
    promise.succeed(1)
    #expect(log.events == [])
    #expect(manual.runAll() == 5)
    #expect(log.events == ["1", "success 1", "Optional(1), nil", "()", ", nil"])
  }

  @Test("A cancelled token does not complete a future that cannot fail; the producer decides")
  func futureThatCannotFailIgnoresToken() {
    let (promise, source, log) = (Promise<Int, Never>(), CancellationTokenSource(), Recorder<String>())
    let value: @Sendable (Int) -> Void = { log.record("\($0)") }
    promise.onCancel { log.record("work cancelled") }
    promise.future.forward(on: .immediate, cancelledBy: source.token, to: value)
    source.cancel()
    promise.succeed(1)
    #expect(log.events == ["work cancelled", "1"])
  }

  @Test(
    "R5: the completion is released after its call, and with the promise",
    arguments: [false, true]
  )
  func releasesTheCompletion(isDropped: Bool) {
    weak var left: Tracked?
    var promise: Promise<Int, TestError>? = Promise()
    do {
      let object = Tracked()
      left = object
      let completion: @Sendable (Int?, (any Error)?) -> Void = { _, _ in object.use() }
      promise?.future.forward(on: .immediate, to: completion)
    }
    #expect(left != nil)
    if isDropped {
      _ = brokenPromises(madeIn: #fileID) { promise = nil }
    } else {
      promise?.succeed(1)
    }
    #expect(left == nil)
  }
}

/// Records the arguments of completions on the main actor, without any annotation.
@MainActor private final class Model {
  var calls: [String] = []

  func call(_ text: String) {
    MainActor.preconditionIsolated()
    calls.append(text)
  }
}

@Suite("Forwarding to a completion handler on the main actor")
@MainActor
struct MainForwardingTests {
  /// Forwards the future to a completion of every shape.
  private func forward(
    _ future: Future<Int, any Error>,
    to model: Model,
    on context: MainContext,
    cancelledBy token: CancellationToken = .none
  ) {
    let result: @MainActor (Result<Int, any Error>) -> Void = { model.call(text($0)) }
    let valueOrError: @MainActor (Int?, (any Error)?) -> Void = { model.call(text($0 as Any, $1)) }
    let onSuccess: @MainActor (Int) -> Void = { model.call("\($0)") }
    let onFailure: @MainActor (any Error) -> Void = { model.call(text("only", $0)) }
    let values: @MainActor (Int?, Int?, (any Error)?) -> Void = { model.call(text("\($0 as Any) \($1 as Any)", $2)) }
    let error: @MainActor ((any Error)?) -> Void = { model.call(text("", $0)) }
    future.forward(on: context, cancelledBy: token, to: result)
    future.forward(on: context, cancelledBy: token, to: valueOrError)
    future.forward(on: context, cancelledBy: token, onSuccess: onSuccess, onFailure: onFailure)
    future.map { ($0, 2) }.forward(on: context, cancelledBy: token, to: values)
    future.ignoreValue().forward(on: context, cancelledBy: token, to: error)
  }

  private let success = ["success 1", "Optional(1), nil", "1", "Optional(1) Optional(2), nil", ", nil"]
  private let failure = ["failure 2", "nil, error 2", "only, error 2", "nil nil, error 2", ", error 2"]
  private let cancelled = [
    "failure CancellationError", "nil, CancellationError", "only, CancellationError", "nil nil, CancellationError",
    ", CancellationError",
  ]

  @Test("R9: every shape is called on the main actor, through the main queue, whichever thread resolved the future")
  func onMain() async {
    for (result, expected) in [(Result<Int, any Error>.success(1), success), (.failure(TestError(2)), failure)] {
      let (model, promise) = (Model(), Promise<Int, any Error>())
      forward(promise.future, to: model, on: .main)
      onThread { promise.resolve(result) }
      #expect(model.calls == [], "\(result)")
      await withCheckedContinuation { continuation in
        promise.future.whenResolved(on: .main) { _ in continuation.resume() }
      }
      #expect(model.calls == expected, "\(result)")
    }
  }

  @Test("R9: with .mainImmediate, completions are called at once on the main actor")
  func onMainImmediate() {
    let model = Model()
    forward(.succeeded(1), to: model, on: .mainImmediate)
    #expect(model.calls == success)
    forward(.failed(TestError(2)), to: model, on: .mainImmediate)
    #expect(model.calls == success + failure)
  }

  @Test("On the main actor, a cancelled token detaches the completion, and calls it with a CancellationError")
  func tokenCompletesWithCancellationErrorOnMain() {
    let (model, source, promise) = (Model(), CancellationTokenSource(), Promise<Int, any Error>())
    let other = promise.future.map { $0 }
    forward(promise.future, to: model, on: .mainImmediate, cancelledBy: source.token)
    source.cancel()
    #expect(model.calls == cancelled)
    #expect(!promise.isResolved)
    withExtendedLifetime(other) {}
  }

  @Test("On the main actor, forwarding a future that cannot fail completes with the value")
  func mainFutureThatCannotFailFillsEveryShape() {
    let model = Model()
    let value: @MainActor (Int) -> Void = { model.call("\($0)") }
    let result: @MainActor (Result<Int, Never>) -> Void = { model.call(text($0)) }
    let valueOrError: @MainActor (Int?, (any Error)?) -> Void = { model.call(text($0 as Any, $1)) }
    let nothing: @MainActor (()) -> Void = { model.call("\($0)") }
    let future = Future<Int, Never>.succeeded(1)
    future.forward(on: .mainImmediate, to: value)
    future.forward(on: .mainImmediate, to: result)
    future.forward(on: .mainImmediate, to: valueOrError)
    future.ignoreValue().forward(on: .mainImmediate, to: nothing)
    #expect(model.calls == ["1", "success 1", "Optional(1), nil", "()"])
  }

  @Test("Trailing closures need no annotation to use the state of the main actor")
  func trailingClosures() {
    let model = Model()
    let future = Future<Int, any Error>.succeeded(1)
    future.forward(on: .mainImmediate) { result in model.call(text(result)) }
    future.forward(on: .mainImmediate) { value, error in model.call(text(value as Any, error)) }
    future.forward(on: .mainImmediate) {
      model.call("\($0)")
    } onFailure: {
      model.call("\($0)")
    }
    #expect(model.calls == ["success 1", "Optional(1), nil", "1"])
  }
}
