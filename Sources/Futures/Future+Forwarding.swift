// The other way: an asynchronous implementation keeps the signature that it had when it took a callback.
//
// Each function has two twins for the main actor: one for closures of the main actor, and one that is called there, for closures
// that say nothing, as those of old code. A completion is called once, or never, if the future never ends.

extension Future {
  /// Calls `completion` with the result.
  /// - Parameters:
  ///   - context: Where `completion` runs.
  ///   - token: Who cancels; that leaves this future, and completes with the error that says so, where `Failure` can.
  ///   - completion: Gets the result.
  public func forward(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @Sendable (Result<Value, Failure>) -> Void
  ) {
    cancelled(by: token).whenResolved(on: context, completion)
  }

  /// Calls `completion` with the result, on the main actor.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - token: Who cancels; that leaves this future, and completes with the error that says so, where `Failure` can.
  ///   - completion: Gets the result.
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @MainActor (Result<Value, Failure>) -> Void
  ) {
    cancelled(by: token).whenResolved(on: context, completion)
  }

  /// Calls `completion` with the result, on the main actor.
  ///
  /// For code of the main actor whose closures, as those of old code, do not say where they run.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - token: Who cancels; that leaves this future, and completes with the error that says so, where `Failure` can.
  ///   - completion: Gets the result.
  @MainActor
  @_disfavoredOverload
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping (Result<Value, Failure>) -> Void
  ) {
    cancelled(by: token).whenResolved(on: context) { completion($0) }
  }

  /// Calls `completion` with the value, or the error.
  /// - Parameters:
  ///   - context: Where `completion` runs.
  ///   - token: Who cancels; that leaves this future, and completes with the error that says so, where `Failure` can.
  ///   - completion: Gets the value and no error, or no value and the error.
  @_disfavoredOverload
  public func forward(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @Sendable (Value?, (any Error)?) -> Void
  ) {
    forward(on: context, cancelledBy: token) { (result: Result<Value, Failure>) in
      completion(result.success, result.failure)
    }
  }

  /// Calls `completion` with the value, or the error, on the main actor.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - token: Who cancels; that leaves this future, and completes with the error that says so, where `Failure` can.
  ///   - completion: Gets the value and no error, or no value and the error.
  @_disfavoredOverload
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @MainActor (Value?, (any Error)?) -> Void
  ) {
    forward(on: context, cancelledBy: token) { (result: Result<Value, Failure>) in
      completion(result.success, result.failure)
    }
  }

  /// Calls `completion` with the value, or the error, on the main actor.
  ///
  /// For code of the main actor whose closures, as those of old code, do not say where they run.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - token: Who cancels; that leaves this future, and completes with the error that says so, where `Failure` can.
  ///   - completion: Gets the value and no error, or no value and the error.
  @MainActor
  @_disfavoredOverload
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping (Value?, (any Error)?) -> Void
  ) {
    forward(on: context, cancelledBy: token) { (result: Result<Value, Failure>) in
      completion(result.success, result.failure)
    }
  }

  /// Calls `onSuccess` with the value, or `onFailure` with the error.
  /// - Parameters:
  ///   - context: Where they run.
  ///   - token: Who cancels; that leaves this future, and fails with the error that says so, where `Failure` can.
  ///   - onSuccess: Gets the value.
  ///   - onFailure: Gets the error.
  public func forward(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    onSuccess: @escaping @Sendable (Value) -> Void,
    onFailure: @escaping @Sendable (Failure) -> Void
  ) {
    forward(on: context, cancelledBy: token) { (result: Result<Value, Failure>) in
      switch result {
      case .success(let value): onSuccess(value)
      case .failure(let error): onFailure(error)
      }
    }
  }

  /// Calls `onSuccess` with the value, or `onFailure` with the error, on the main actor.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - token: Who cancels; that leaves this future, and fails with the error that says so, where `Failure` can.
  ///   - onSuccess: Gets the value.
  ///   - onFailure: Gets the error.
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    onSuccess: @escaping @MainActor (Value) -> Void,
    onFailure: @escaping @MainActor (Failure) -> Void
  ) {
    forward(on: context, cancelledBy: token) { (result: Result<Value, Failure>) in
      switch result {
      case .success(let value): onSuccess(value)
      case .failure(let error): onFailure(error)
      }
    }
  }

  /// Calls `onSuccess` with the value, or `onFailure` with the error, on the main actor.
  ///
  /// For code of the main actor whose closures, as those of old code, do not say where they run.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - token: Who cancels; that leaves this future, and fails with the error that says so, where `Failure` can.
  ///   - onSuccess: Gets the value.
  ///   - onFailure: Gets the error.
  @MainActor
  @_disfavoredOverload
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    onSuccess: @escaping (Value) -> Void,
    onFailure: @escaping (Failure) -> Void
  ) {
    forward(on: context, cancelledBy: token) { (result: Result<Value, Failure>) in
      switch result {
      case .success(let value): onSuccess(value)
      case .failure(let error): onFailure(error)
      }
    }
  }

  /// Calls `completion` with both values, or the error, as URLSession does.
  /// - Parameters:
  ///   - context: Where `completion` runs.
  ///   - token: Who cancels; that leaves this future, and completes with the error that says so, where `Failure` can.
  ///   - completion: Gets the values and no error, or no values and the error.
  public func forward<First, Second>(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @Sendable (First?, Second?, (any Error)?) -> Void
  ) where Value == (First, Second) {
    forward(on: context, cancelledBy: token) { (result: Result<Value, Failure>) in
      completion(result.success?.0, result.success?.1, result.failure)
    }
  }

  /// Calls `completion` with both values, or the error, as URLSession does, on the main actor.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - token: Who cancels; that leaves this future, and completes with the error that says so, where `Failure` can.
  ///   - completion: Gets the values and no error, or no values and the error.
  public func forward<First, Second>(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @MainActor (First?, Second?, (any Error)?) -> Void
  ) where Value == (First, Second) {
    forward(on: context, cancelledBy: token) { (result: Result<Value, Failure>) in
      completion(result.success?.0, result.success?.1, result.failure)
    }
  }

  /// Calls `completion` with both values, or the error, as URLSession does, on the main actor.
  ///
  /// For code of the main actor whose closures, as those of old code, do not say where they run.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - token: Who cancels; that leaves this future, and completes with the error that says so, where `Failure` can.
  ///   - completion: Gets the values and no error, or no values and the error.
  @MainActor
  @_disfavoredOverload
  public func forward<First, Second>(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping (First?, Second?, (any Error)?) -> Void
  ) where Value == (First, Second) {
    forward(on: context, cancelledBy: token) { (result: Result<Value, Failure>) in
      completion(result.success?.0, result.success?.1, result.failure)
    }
  }
}

extension Future where Value == Void {
  /// Calls `completion` with no error, or the error.
  /// - Parameters:
  ///   - context: Where `completion` runs.
  ///   - token: Who cancels; that leaves this future, and completes with the error that says so, where `Failure` can.
  ///   - completion: Gets the error, or `nil` for success.
  @_disfavoredOverload
  public func forward(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    forward(on: context, cancelledBy: token) { (result: Result<Void, Failure>) in completion(result.failure) }
  }

  /// Calls `completion` with no error, or the error, on the main actor.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - token: Who cancels; that leaves this future, and completes with the error that says so, where `Failure` can.
  ///   - completion: Gets the error, or `nil` for success.
  @_disfavoredOverload
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @MainActor ((any Error)?) -> Void
  ) {
    forward(on: context, cancelledBy: token) { (result: Result<Void, Failure>) in completion(result.failure) }
  }

  /// Calls `completion` with no error, or the error, on the main actor.
  ///
  /// For code of the main actor whose closures, as those of old code, do not say where they run.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - token: Who cancels; that leaves this future, and completes with the error that says so, where `Failure` can.
  ///   - completion: Gets the error, or `nil` for success.
  @MainActor
  @_disfavoredOverload
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping ((any Error)?) -> Void
  ) {
    forward(on: context, cancelledBy: token) { (result: Result<Void, Failure>) in completion(result.failure) }
  }
}

extension Future where Failure == Never {
  /// Calls `completion` with the value.
  /// - Parameters:
  ///   - context: Where `completion` runs.
  ///   - token: Who cancels; that leaves this future, which still completes as its producer decides.
  ///   - completion: Gets the value.
  @_disfavoredOverload
  public func forward(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @Sendable (Value) -> Void
  ) {
    cancelled(by: token).whenSucceeded(on: context, completion)
  }

  /// Calls `completion` with the value, on the main actor.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - token: Who cancels; that leaves this future, which still completes as its producer decides.
  ///   - completion: Gets the value.
  @_disfavoredOverload
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping @MainActor (Value) -> Void
  ) {
    cancelled(by: token).whenSucceeded(on: context, completion)
  }

  /// Calls `completion` with the value, on the main actor.
  ///
  /// For code of the main actor whose closures, as those of old code, do not say where they run.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - token: Who cancels; that leaves this future, which still completes as its producer decides.
  ///   - completion: Gets the value.
  @MainActor
  @_disfavoredOverload
  public func forward(
    on context: MainContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping (Value) -> Void
  ) {
    cancelled(by: token).whenSucceeded(on: context) { completion($0) }
  }
}
