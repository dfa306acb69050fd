import Futures
import FuturesTesting
import TestSupport
import Testing

/// Returns an error as text.
private func name(_ error: (any Error)?) -> String {
  (error as? TestError).map { "error \($0.number)" } ?? error.map { "\(type(of: $0))" } ?? "nil"
}

extension Recorder<String> {
  fileprivate func note<Value, Failure>(_ result: Result<Value, Failure>) {
    switch result {
    case .success(let value): record("\(value)")
    case .failure(let error): record(name(error))
    }
  }

  fileprivate func note(_ error: (any Error)?) { record(name(error)) }

  fileprivate func note(_ values: Any?..., error: (any Error)?) {
    record((values.map { $0.map { "\($0)" } ?? "nil" } + [name(error)]).joined(separator: ", "))
  }
}

/// An overload of `forward`, with a completion that records its arguments.
///
/// Each completion is a variable with a type, like the parameter of an old function.
private struct Overload: Sendable, CustomTestStringConvertible {
  typealias Source = Future<Int, any Error>
  typealias Outcome = Result<Int, any Error>

  enum Forward: Sendable {
    case onContext(@Sendable (Source, ExecutionContext, CancellationToken, Recorder<String>) -> Void)
    case onMain(@MainActor @Sendable (Source, MainContext, CancellationToken, Recorder<String>) -> Void)
  }

  let testDescription: String
  let success: String
  /// The arguments for an error with the given name.
  let failure: @Sendable (String) -> String
  let forward: Forward

  /// Forwards `source` on `.mainImmediate`, or on `context` if the overload takes any context.
  @MainActor
  func forward(
    _ source: Source,
    on context: ExecutionContext = .immediate,
    cancelledBy token: CancellationToken = .none,
    to log: Recorder<String>
  ) {
    switch forward {
    case .onContext(let forward): forward(source, context, token, log)
    case .onMain(let forward): forward(source, .mainImmediate, token, log)
    }
  }

  static let all = results + valueOrError + pairs + valuesOrError + errors

  private static func shape(
    _ name: String,
    _ success: String,
    _ failure: @escaping @Sendable (String) -> String,
    _ overloads: KeyValuePairs<String, Forward>
  ) -> [Overload] {
    overloads.map { place, forward in
      Overload(testDescription: "\(name), \(place)", success: success, failure: failure, forward: forward)
    }
  }

  private static let results = shape(
    "result",
    "1",
    { $0 },
    [
      "on a context": .onContext { source, context, token, log in
        let completion: @Sendable (Outcome) -> Void = { log.note($0) }
        source.forward(on: context, cancelledBy: token, to: completion)
      },
      "on the main actor": .onMain { source, context, token, log in
        let completion: @MainActor (Outcome) -> Void = { log.note($0) }
        source.forward(on: context, cancelledBy: token, to: completion)
      },
      "unsafely": .onContext { source, context, token, log in
        let completion: (Outcome) -> Void = { log.note($0) }
        source.forwardUnsafely(on: context, cancelledBy: token, to: completion)
      },
    ]
  )

  private static let valueOrError = shape(
    "value or error",
    "1, nil",
    { "nil, \($0)" },
    [
      "on a context": .onContext { source, context, token, log in
        let completion: @Sendable (Int?, (any Error)?) -> Void = { log.note($0, error: $1) }
        source.forward(on: context, cancelledBy: token, to: completion)
      },
      "on the main actor": .onMain { source, context, token, log in
        let completion: @MainActor (Int?, (any Error)?) -> Void = { log.note($0, error: $1) }
        source.forward(on: context, cancelledBy: token, to: completion)
      },
      "unsafely": .onContext { source, context, token, log in
        let completion: (Int?, (any Error)?) -> Void = { log.note($0, error: $1) }
        source.forwardUnsafely(on: context, cancelledBy: token, to: completion)
      },
    ]
  )

  private static let pairs = shape(
    "success and failure",
    "1",
    { $0 },
    [
      "on a context": .onContext { source, context, token, log in
        let onSuccess: @Sendable (Int) -> Void = { log.record("\($0)") }
        let onFailure: @Sendable (any Error) -> Void = { log.note($0) }
        source.forward(on: context, cancelledBy: token, onSuccess: onSuccess, onFailure: onFailure)
      },
      "on the main actor": .onMain { source, context, token, log in
        let onSuccess: @MainActor (Int) -> Void = { log.record("\($0)") }
        let onFailure: @MainActor (any Error) -> Void = { log.note($0) }
        source.forward(on: context, cancelledBy: token, onSuccess: onSuccess, onFailure: onFailure)
      },
    ]
  )

  private static let valuesOrError = shape(
    "values or error",
    "1, a, nil",
    { "nil, nil, \($0)" },
    [
      "on a context": .onContext { source, context, token, log in
        let completion: @Sendable (Int?, String?, (any Error)?) -> Void = { log.note($0, $1, error: $2) }
        source.map { ($0, "a") }.forward(on: context, cancelledBy: token, to: completion)
      },
      "on the main actor": .onMain { source, context, token, log in
        let completion: @MainActor (Int?, String?, (any Error)?) -> Void = { log.note($0, $1, error: $2) }
        source.map { ($0, "a") }.forward(on: context, cancelledBy: token, to: completion)
      },
      "unsafely": .onContext { source, context, token, log in
        let completion: (Int?, String?, (any Error)?) -> Void = { log.note($0, $1, error: $2) }
        source.map { ($0, "a") }.forwardUnsafely(on: context, cancelledBy: token, to: completion)
      },
    ]
  )

  private static let errors = shape(
    "error",
    "nil",
    { $0 },
    [
      "on a context": .onContext { source, context, token, log in
        let completion: @Sendable ((any Error)?) -> Void = { log.note($0) }
        source.ignoreValue().forward(on: context, cancelledBy: token, to: completion)
      },
      "on the main actor": .onMain { source, context, token, log in
        let completion: @MainActor ((any Error)?) -> Void = { log.note($0) }
        source.ignoreValue().forward(on: context, cancelledBy: token, to: completion)
      },
    ]
  )
}

@MainActor
struct ForwardingTests {
  @Test("R9: each overload calls its completion once, on its context", arguments: Overload.all)
  private func eachOverloadRunsOnItsContext(overload: Overload) async {
    for (outcome, expected) in [
      (Overload.Outcome.success(1), overload.success), (.failure(TestError(2)), overload.failure("error 2")),
    ] {
      for isResolvedBefore in [true, false] {
        let comment: Comment = "\(outcome), resolved before: \(isResolvedBefore)"
        let (manual, promise, log) = (ManualContext(), Promise<Int, any Error>(), Recorder<String>())
        if isResolvedBefore { promise.resolve(outcome) }
        switch overload.forward {
        case .onContext(let forward): forward(promise.future, manual.context, .none, log)
        case .onMain(let forward): forward(promise.future, .main, .none, log)
        }
        onThread { promise.resolve(outcome) }
        #expect(log.events == [], comment)
        manual.runAll()
        await mainQueueTurn()
        #expect(log.events == [expected], comment)
      }
    }
  }

  @Test("A cancelled token detaches the completion, and calls it with a CancellationError", arguments: Overload.all)
  private func tokenCompletesWithCancellationError(overload: Overload) {
    let (promise, source, log) = (Promise<Int, any Error>(), CancellationTokenSource(), Recorder<String>())
    let other = promise.future.map { $0 }
    overload.forward(promise.future, cancelledBy: source.token, to: log)
    #expect(log.events == [])
    source.cancel()
    let expected = overload.failure("CancellationError")
    #expect(log.events == [expected])
    #expect(!promise.isResolved)
    promise.succeed(1)
    #expect(other.isResolved && log.events == [expected])
  }

  @Test(
    "R16: the token of the only consumer cancels the work, even if the token was cancelled before",
    arguments: Overload.all,
    [false, true]
  )
  private func tokenCancelsTheWork(overload: Overload, isBefore: Bool) {
    let (promise, source, log) = (Promise<Int, any Error>(), CancellationTokenSource(), Recorder<String>())
    promise.onCancel { log.record("work") }
    if isBefore { source.cancel() }
    overload.forward(promise.future, cancelledBy: source.token, to: log)
    source.cancel()
    #expect(Set(log.events) == ["work", overload.failure("CancellationError")] && log.events.count == 2)
  }

  @Test(
    "R4, R5: a broken promise completes with BrokenPromise, and the completion is released",
    arguments: Overload.all
  )
  private func brokenPromise(overload: Overload) {
    let (log, _) = withTracked(Recorder<String>()) { log in
      overload.forward(Promise<Int, any Error>().future, to: log)
      #expect(log.events == [overload.failure("BrokenPromise")])
    }
    #expect(log.isReleased)
  }

  @Test("Trailing closures find their shape by the number of their parameters, without annotations")
  func trailingClosures() {
    let (log, mainLog) = (Recorder<String>(), Recorder<String>())
    let future = Future<Int, any Error>.succeeded(1)
    future.forward(on: .immediate) { result in log.note(result) }
    future.forward(on: .immediate) { value, error in log.note(value, error: error) }
    let pair: Future<(Int, Int), any Error> = future.map { ($0, 2) }
    pair.forward(on: .immediate) { first, second, error in log.note(first, second, error: error) }
    future.forward(on: .immediate) {
      log.record("\($0)")
    } onFailure: {
      log.note($0)
    }
    future.ignoreValue().forward(on: .immediate) { log.note($0) }
    future.forward(on: .mainImmediate) { result in mainLog.note(result) }
    future.forward(on: .mainImmediate) { value, error in mainLog.note(value, error: error) }
    future.forward(on: .mainImmediate) {
      mainLog.record("\($0)")
    } onFailure: {
      mainLog.note($0)
    }
    #expect(log.events == ["1", "1, nil", "1, 2, nil", "1", "()"])
    #expect(mainLog.events == ["1", "1, nil", "1"])
  }

  @Test("A nil value of an optional type differs from a missing value")
  func optionalValues() {
    let log = Recorder<String>()
    let valueOrError: @Sendable (Int??, (any Error)?) -> Void = { log.record("\($0 as Any), \(name($1))") }
    for future in [Future<Int?, any Error>.succeeded(1), .succeeded(nil), .failed(TestError(2))] {
      future.forward(on: .immediate, to: valueOrError)
    }
    #expect(log.events == ["Optional(Optional(1)), nil", "Optional(nil), nil", "nil, error 2"])
  }

  @Test("R16: without a cancelled case, the completion gets the typed failure even after its token was cancelled")
  func tokenOfTypedFailure() {
    let (promise, source, log) = (Promise<Int, TestError>(), CancellationTokenSource(), Recorder<String>())
    let (future, token) = (promise.future, source.token)
    promise.onCancel { log.record("work") }
    let result: @Sendable (Result<Int, TestError>) -> Void = { log.note($0) }
    let valueOrError: @Sendable (Int?, (any Error)?) -> Void = { log.note($0, error: $1) }
    let onFailure: @Sendable (TestError) -> Void = { log.note($0) }
    let onlyError: @Sendable ((any Error)?) -> Void = { log.note($0) }
    future.forward(on: .immediate, cancelledBy: token, to: result)
    future.forward(on: .immediate, cancelledBy: token, to: valueOrError)
    future.forward(on: .immediate, cancelledBy: token, onSuccess: { _ in }, onFailure: onFailure)
    future.ignoreValue().forward(on: .immediate, cancelledBy: token, to: onlyError)
    source.cancel()
    #expect(log.events == ["work"])
    promise.fail(TestError(3))
    #expect(log.events == ["work", "error 3", "nil, error 3", "error 3", "error 3"])
  }

  @Test("Forwarding a future that cannot fail completes with the value, in every shape, whatever its token does")
  func futureThatCannotFailFillsEveryShape() {
    let (promise, source, log) = (Promise<Int, Never>(), CancellationTokenSource(), Recorder<String>())
    let (future, token) = (promise.future, source.token)
    promise.onCancel { log.record("work") }
    let value: @Sendable (Int) -> Void = { log.record("\($0)") }
    let mainValue: @MainActor (Int) -> Void = { log.record("main \($0)") }
    let plainValue: (Int) -> Void = { log.record("plain \($0)") }
    let result: @Sendable (Result<Int, Never>) -> Void = { log.note($0) }
    let nothing: @Sendable (()) -> Void = { log.record("\($0)") }
    let onlyError: @Sendable ((any Error)?) -> Void = { log.note($0) }
    future.forward(on: .immediate, cancelledBy: token, to: value)
    future.forward(on: .mainImmediate, cancelledBy: token, to: mainValue)
    future.forward(on: .mainImmediate, cancelledBy: token, to: plainValue)
    future.forward(on: .immediate, cancelledBy: token, to: result)
    future.ignoreValue().forward(on: .immediate, cancelledBy: token, to: nothing)
    future.ignoreValue().forward(on: .immediate, cancelledBy: token, to: onlyError)
    source.cancel()
    promise.succeed(1)
    #expect(log.events == ["work", "1", "main 1", "plain 1", "1", "()", "nil"])
  }
}
