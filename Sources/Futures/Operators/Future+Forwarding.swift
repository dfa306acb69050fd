// From futures back to callbacks: a function that uses futures keeps its old signature with a completion handler.
//
// Each function has two overloads for the main actor. The first takes closures that are isolated to the main actor, or
// `@Sendable`. The second takes closures without an annotation, as in old code, and is itself isolated to the main
// actor. The second is disfavoured: otherwise nonisolated code could not pass a `@Sendable` closure. With only an error or
// only a value, the first is a member of `FutureProtocol`, at the end of this file.
//
// If a nonisolated caller passes a closure without an annotation, the compiler names the last parameter of the second
// overload in its error. `@preconcurrency` makes the error a warning in Swift 5 mode.
//
// A completion is called once, or never if the future never resolves.

extension Future {
  /// Calls `completion` with the result.
  ///
  /// Use it in a function that keeps its completion handler while its implementation uses futures. There is an overload
  /// for each usual shape of a completion handler.
  ///
  /// ```swift
  /// func picture(_ completion: @escaping @MainActor (Result<Data, any Error>) -> Void) {
  ///   load(url).forward(on: .main, to: completion)
  /// }
  /// ```
  /// - Parameters:
  ///   - context: Where `completion` runs.
  ///   - token: Cancels the wait. `completion` gets the cancelled failure, or the result if `Failure` cannot represent that.
  ///   - completion: Gets the result.
  @_alwaysEmitIntoClient
  public func forward(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @Sendable (Result<Value, Failure>) -> Void
  ) {
    cancelled(by: token).whenResolved(on: context, completion)
  }

  /// Calls `completion` with the result, on the main actor.
  @_alwaysEmitIntoClient
  @preconcurrency
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @MainActor (Result<Value, Failure>) -> Void
  ) {
    cancelled(by: token).whenResolved(on: context, completion)
  }

  /// Calls `completion` with the result, on the main actor.
  ///
  /// For closures without an annotation. Omit the last parameter: its name is advice in the error of a call off the main actor.
  @_alwaysEmitIntoClient
  @preconcurrency
  @MainActor
  @_disfavoredOverload
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping (Result<Value, Failure>) -> Void,
    outsideMainActorMarkItSendable: Void = ()
  ) {
    cancelled(by: token).whenResolved(on: context) { completion($0) }
  }

  /// Calls `completion` with the value or the error.
  @_alwaysEmitIntoClient
  public func forward(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @Sendable (Value?, (any Error)?) -> Void
  ) {
    cancelled(by: token).whenResolved(on: context) { completion($0.success, $0.failure) }
  }

  /// Calls `completion` with the value or the error, on the main actor.
  @_alwaysEmitIntoClient
  @preconcurrency
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @MainActor (Value?, (any Error)?) -> Void
  ) {
    cancelled(by: token).whenResolved(on: context) { completion($0.success, $0.failure) }
  }

  /// Calls `completion` with the value or the error, on the main actor.
  ///
  /// For closures without an annotation. Omit the last parameter: its name is advice in the error of a call off the main actor.
  @_alwaysEmitIntoClient
  @preconcurrency
  @MainActor
  @_disfavoredOverload
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping (Value?, (any Error)?) -> Void,
    outsideMainActorMarkItSendable: Void = ()
  ) {
    cancelled(by: token).whenResolved(on: context) { completion($0.success, $0.failure) }
  }

  /// Calls `onSuccess` with the value, or `onFailure` with the error.
  @_alwaysEmitIntoClient
  public func forward(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    onSuccess: @escaping @Sendable (Value) -> Void,
    onFailure: @escaping @Sendable (Failure) -> Void
  ) {
    cancelled(by: token).whenResolved(on: context) { $0.pass(to: onSuccess, or: onFailure) }
  }

  /// Calls `onSuccess` with the value, or `onFailure` with the error, on the main actor.
  @_alwaysEmitIntoClient
  @preconcurrency
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    onSuccess: @escaping @MainActor (Value) -> Void,
    onFailure: @escaping @MainActor (Failure) -> Void
  ) {
    cancelled(by: token).whenResolved(on: context) { $0.pass(to: onSuccess, or: onFailure) }
  }

  /// Calls `onSuccess` with the value, or `onFailure` with the error, on the main actor.
  ///
  /// For closures without an annotation. Omit the last parameter: its name is advice in the error of a call off the main actor.
  @_alwaysEmitIntoClient
  @preconcurrency
  @MainActor
  @_disfavoredOverload
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    onSuccess: @escaping (Value) -> Void,
    onFailure: @escaping (Failure) -> Void,
    outsideMainActorMarkItSendable: Void = ()
  ) {
    cancelled(by: token).whenResolved(on: context) { $0.pass(to: onSuccess, or: onFailure) }
  }

  /// Calls `completion` with both values or the error, as URLSession does.
  @_alwaysEmitIntoClient
  public func forward<First, Second>(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @Sendable (First?, Second?, (any Error)?) -> Void
  ) where Value == (First, Second) {
    cancelled(by: token).whenResolved(on: context) { completion($0.success?.0, $0.success?.1, $0.failure) }
  }

  /// Calls `completion` with both values or the error, as URLSession does, on the main actor.
  @_alwaysEmitIntoClient
  @preconcurrency
  public func forward<First, Second>(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @MainActor (First?, Second?, (any Error)?) -> Void
  ) where Value == (First, Second) {
    cancelled(by: token).whenResolved(on: context) { completion($0.success?.0, $0.success?.1, $0.failure) }
  }

  /// Calls `completion` with both values or the error, as URLSession does, on the main actor.
  ///
  /// For closures without an annotation. Omit the last parameter: its name is advice in the error of a call off the main actor.
  @_alwaysEmitIntoClient
  @preconcurrency
  @MainActor
  @_disfavoredOverload
  public func forward<First, Second>(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping (First?, Second?, (any Error)?) -> Void,
    outsideMainActorMarkItSendable: Void = ()
  ) where Value == (First, Second) {
    cancelled(by: token).whenResolved(on: context) { completion($0.success?.0, $0.success?.1, $0.failure) }
  }
}

extension Future where Value == Void {
  /// Calls `completion` with the error, or with `nil`.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that a closure such as `{ print($0) }` gets the `Result`
  public func forward(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    cancelled(by: token).whenResolved(on: context) { completion($0.failure) }
  }

  /// Calls `completion` with the error, or with `nil`, on the main actor.
  ///
  /// For closures without an annotation. Omit the last parameter: its name is advice in the error of a call off the main actor.
  @_alwaysEmitIntoClient
  @preconcurrency
  @MainActor
  @_disfavoredOverload
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping ((any Error)?) -> Void,
    outsideMainActorMarkItSendable: Void = ()
  ) {
    cancelled(by: token).whenResolved(on: context) { completion($0.failure) }
  }
}

extension Future where Failure == Never {
  /// Calls `completion` with the value.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that a closure such as `{ print($0) }` gets the `Result`
  public func forward(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @Sendable (Value) -> Void
  ) {
    cancelled(by: token).whenSucceeded(on: context, completion)
  }

  /// Calls `completion` with the value, on the main actor.
  ///
  /// For closures without an annotation. Omit the last parameter: its name is advice in the error of a call off the main actor.
  @_alwaysEmitIntoClient
  @preconcurrency
  @MainActor
  @_disfavoredOverload
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping (Value) -> Void,
    outsideMainActorMarkItSendable: Void = ()
  ) {
    cancelled(by: token).whenSucceeded(on: context) { completion($0) }
  }
}

// A closure such as `{ print($0) }` also fits the overload for a `Result`, which has to win. For other contexts, the overloads
// for an error or a value are disfavoured. For `.main`, they still have to win over the overloads that are isolated to the
// main actor, which are disfavoured, too. So these are members of the protocol, which rank in between.
extension FutureProtocol {
  /// Calls `completion` with the error, or with `nil`, on the main actor.
  @_alwaysEmitIntoClient
  @preconcurrency
  public func forward<F>(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @MainActor ((any Error)?) -> Void
  ) where Self == Future<Void, F> {
    self.cancelled(by: token).whenResolved(on: context) { completion($0.failure) }
  }

  /// Calls `completion` with the value, on the main actor.
  @_alwaysEmitIntoClient
  @preconcurrency
  public func forward<V>(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @MainActor (V) -> Void
  ) where Self == Future<V, Never> {
    self.cancelled(by: token).whenSucceeded(on: context, completion)
  }
}

extension Result {
  /// Calls `onSuccess` with the value, or `onFailure` with the error.
  @_alwaysEmitIntoClient
  func pass(to onSuccess: (Success) -> Void, or onFailure: (Failure) -> Void) {
    switch self {
    case .success(let value): onSuccess(value)
    case .failure(let error): onFailure(error)
    }
  }
}
