// Declarations for calls that are mistakes, such as a name from another library: the compiler's message says what to write.
//
// The type checker tries an unavailable declaration only when no other declaration fits. So these cost no time, and a
// client's own extension of the same name wins. Code completion and documentation omit them.

/// A default that keeps a trailing closure from matching the parameter; never runs, because the compiler refuses `Future()`.
@usableFromInline
package func required<Argument>() -> Argument { unavailable() }

private func unavailable() -> Never { preconditionFailure("The compiler refuses calls of this declaration.") }

@_documentation(visibility: internal)
extension Future {
  /// Unavailable: use `map` or `flatMap`.
  @available(*, unavailable, message: "write map { } for a new value, or flatMap { } for a new future")
  public func then<New: Sendable>(_ transform: (Value) throws -> New) -> Future<New, Failure> { unavailable() }

  /// Unavailable: use `flatMap`.
  @available(*, unavailable, message: "write flatMap { } for a new future, or map { } for a new value")
  public func then<New: Sendable>(_ transform: (Value) throws -> Future<New, Failure>) -> Future<New, Failure> {
    unavailable()
  }

  /// Unavailable: use `whenFailed`.
  @available(*, unavailable, message: "write whenFailed(on: .main) { error in }, or recover { error in value }")
  @discardableResult
  public func `catch`(_ callback: (Failure) throws -> Void) -> Future { unavailable() }

  /// Unavailable: use `whenSucceeded`.
  @available(*, unavailable, message: "write whenSucceeded(on: .main) { value in }")
  @discardableResult
  public func done(_ callback: (Value) throws -> Void) -> Future { unavailable() }

  /// Unavailable: use `whenResolved`.
  @available(*, unavailable, message: "write whenResolved(on: .main) { result in }, or tap(on:) in a chain")
  @discardableResult
  public func always(_ callback: () -> Void) -> Future { unavailable() }

  /// Unavailable: use `whenResolved`.
  @available(*, unavailable, message: "write whenResolved(on: .main) { result in }, or tap(on:) in a chain")
  @discardableResult
  public func finally(_ callback: () -> Void) -> Future { unavailable() }

  /// Unavailable: use `whenResolved`.
  @available(*, unavailable, message: "write whenResolved(on: .main) { result in }")
  @discardableResult
  public func whenComplete(_ callback: (Result<Value, Failure>) -> Void) -> Future { unavailable() }

  /// Unavailable: use `whenResolved`.
  @available(*, unavailable, message: "write whenResolved(on: .main) { result in }")
  @discardableResult
  public func whenCompleted(_ callback: (Result<Value, Failure>) -> Void) -> Future { unavailable() }

  /// Unavailable: use `value`.
  @available(*, unavailable, message: "write try await future.value, with import FuturesAsync")
  public func get() -> Value { unavailable() }

  /// Unavailable: use `delay(by:on:)`.
  @available(*, unavailable, message: "write delay(by:)")
  public func delay(for duration: Duration) -> Future { unavailable() }

  /// Unavailable: use `whenSucceeded`.
  @available(*, unavailable, message: "write whenSucceeded(on: .main) { value in }")
  @discardableResult
  public func sink(receiveValue: (Value) -> Void) -> Registration { unavailable() }

  /// Unavailable: use `whenResolved`.
  @available(*, unavailable, message: "write whenResolved(on: .main) { result in }")
  @discardableResult
  public func sink(receiveCompletion: (Result<Value, Failure>) -> Void, receiveValue: (Value) -> Void) -> Registration {
    unavailable()
  }

  /// Unavailable: use the static `retry`.
  @available(*, unavailable, message: "write Future.retry(attempts: 3) { start() }: a future runs once")
  public func retry(_ attempts: Int) -> Future { unavailable() }

  /// Unavailable: use `retry` on `.mainQueue`.
  @available(*, unavailable, message: "write on: .mainQueue, and let the work return Future(on: .main, flattening:)")
  public static func retry(
    attempts: Int,
    delay: RetryDelay = .none,
    on context: MainContext,
    while shouldRetry: (Failure) -> Bool = { _ in true },
    _ work: @MainActor () -> Future  // unsupported, because the first attempt starts on the calling thread
  ) -> Future { unavailable() }

  /// Unavailable: use `attempts:`.
  @available(*, unavailable, message: "write Future.retry(attempts: 3) { start() }")
  public static func retry(times: Int, _ work: () -> Future) -> Future { unavailable() }

  /// Unavailable: use `firstSuccess`.
  @available(*, unavailable, message: "write Future.firstSuccess([a, b]), or Future.race([a, b]) for the first result")
  public static func any(_ futures: [Future]) -> Future { unavailable() }

  /// Unavailable: use `firstSuccess`.
  @available(*, unavailable, message: "write Future.firstSuccess([a, b]), or Future.race([a, b]) for the first result")
  public static func any(_ first: Future, _ others: Future...) -> Future { unavailable() }

  /// Unavailable: use `concurrent`.
  @available(*, unavailable, message: "write Future.concurrent(items, limit: 3) { item in start(item) }")
  public static func all<Item>(_ items: [Item], maxConcurrent: Int, _ start: (Item) -> Future) -> Future<
    [Value], Failure
  > {
    unavailable()
  }

  /// Unavailable: use `all` with an array.
  @available(*, unavailable, message: "write Future.all([a, b]), or Future.zip(a, b) for values of several types")
  public static func all(_ first: Future, _ others: Future...) -> Future<[Value], Failure> { unavailable() }

  // Without `any` and the default, the compiler would match a trailing closure with the parameter.
  /// Unavailable: use `succeeded`.
  @available(*, unavailable, message: "write Future.succeeded(value)")
  public init(value: any Sendable = required()) { unavailable() }

  /// Unavailable: use `failed`.
  @available(*, unavailable, message: "write Future.failed(error)")
  public init(error: any Error = required()) { unavailable() }

  // Disfavored: otherwise the compiler reports some mistakes in `Future { promise in }` without their place. The pack of parameters
  // is always empty. It makes the compiler's errors for such mistakes better, as `Future+Task.swift` explains.

  /// Unavailable: needs `FuturesAsync`.
  @available(*, unavailable, message: "add import FuturesAsync")
  @_disfavoredOverload
  public init<each Nothing>(
    operation: @escaping (repeat (Never, each Nothing) -> Void) async throws(Failure) -> Value
  ) {
    unavailable()
  }

  /// Refuses `Future()`, which initializers with defaults would accept: the error of a call names the global actor below.
  @FutureNeedsAClosureOrAResult
  public init() { unavailable() }

  /// Unavailable: use the label without a name.
  @available(*, unavailable, message: "write Future(\"name\") { promise in }", renamed: "init(_:_:)")
  public init(name: String, _ start: (Promise<Value, Failure>) -> Void) { unavailable() }

  /// Unavailable: needs the place of the completion.
  @available(*, unavailable, message: "say where the completion runs: forward(on: .main, to: completion)")
  public func forward(to completion: @escaping (Value?, (any Error)?) -> Void) { unavailable() }
}

@_documentation(visibility: internal)
extension Future where Value == Void {
  /// Unavailable: needs the place of the completion.
  @available(*, unavailable, message: "say where the completion runs: forward(on: .main, to: completion)")
  public func forward(to completion: @escaping ((any Error)?) -> Void) { unavailable() }
}

/// Isolates `Future()` to an actor of this name, so that the compiler's message says what is missing.
///
/// An unavailable initializer would not be chosen, because other initializers fit `Future()`.
@_documentation(visibility: internal)
@globalActor
public actor FutureNeedsAClosureOrAResult {
  /// The actor; it runs no code.
  public static let shared = FutureNeedsAClosureOrAResult()
}

// `Future(value: 3)` names no types. The constraint supplies types, so the compiler gets as far as the message. Without the
// defaults, a trailing closure would match the parameter.
@_documentation(visibility: internal)
extension Future where Value == Never, Failure == Never {
  /// Unavailable: use `succeeded`.
  @available(*, unavailable, message: "write Future.succeeded(value)")
  public init(value: any Sendable = required()) { unavailable() }

  /// Unavailable: use `failed`.
  @available(*, unavailable, message: "write Future.failed(error)")
  public init(error: any Error = required()) { unavailable() }

  /// Unavailable, for futures of different types: use `zip`, or `all` with an array.
  @available(*, unavailable, message: "write Future.all([a, b]), or Future.zip(a, b) for values of several types")
  public static func all<V, F, each W, each E>(
    _ first: Future<V, F>,
    _ others: repeat Future<each W, each E>
  ) -> Future<(V, repeat each W), F> { unavailable() }
}

@_documentation(visibility: internal)
extension CancellationToken {
  /// Unavailable: use `CancellationTokenSource`.
  @available(*, unavailable, message: "write let source = CancellationTokenSource(), and pass source.token")
  public init() { unavailable() }
}

@_documentation(visibility: internal)
extension Promise {
  /// Unavailable: use `succeed`.
  @available(*, unavailable, renamed: "succeed(_:)")
  public func fulfill(_ value: Value) { unavailable() }

  /// Unavailable: use `fail`.
  @available(*, unavailable, renamed: "fail(_:)")
  public func reject(_ error: Failure) { unavailable() }

  /// Unavailable: use `future`.
  @available(*, unavailable, renamed: "future")
  public var futureResult: Future<Value, Failure> { unavailable() }

  /// Unavailable: use `resolve(_:)`.
  @available(*, unavailable, renamed: "resolve(_:)")
  public func resolve(with result: Result<Value, Failure>) { unavailable() }
}

// MARK: - Members of FuturesAsync

/// The choices of `value(onCancel:)` without `import FuturesAsync`.
@_documentation(visibility: internal)
public enum ImportFuturesAsync {
  case abandon, cancel, ignore
}

// With `import FuturesAsync` its members of these names win, because they are available.
@_documentation(visibility: internal)
extension Future {
  /// Unavailable: import FuturesAsync.
  @available(*, unavailable, message: "add import FuturesAsync")
  public var value: Value { get async throws { unavailable() } }

  /// Unavailable: import FuturesAsync.
  @available(*, unavailable, message: "add import FuturesAsync")
  public var result: Result<Value, Failure> { get async { unavailable() } }

  /// Unavailable: import FuturesAsync.
  @available(*, unavailable, message: "add import FuturesAsync")
  public func value(onCancel choice: ImportFuturesAsync) async throws -> Value { unavailable() }
}

// MARK: - Mixed failure types

// `flatMap` has no such overload: each overload of an operator of a chain adds half to the time that the compiler takes
// to find a mistake in the chain, so it reports fewer mistakes within its limit.

@_documentation(visibility: internal)
extension Future where Value == Never, Failure == Never {  // supplies the types, which `Future.zip(a, b)` does not name
  /// Unavailable: erase the failure types first.
  @available(
    *,
    unavailable,
    message: "the failure types differ: write eraseFailure() on typed futures, setFailureType() on one that cannot fail"
  )
  public static func zip<each V: Sendable, each E: Error>(
    _ futures: repeat Future<each V, each E>
  ) -> Future<(repeat each V), any Error> { unavailable() }
}
