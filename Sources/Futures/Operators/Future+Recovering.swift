extension Future {
  /// Transforms the error; a value passes on unchanged.
  ///
  /// Cost: four allocations while this future is pending, one of them the closure; none if it is resolved.
  /// - Returns: The derived future. Cancelling it cancels this future, too, unless something else waits for that (R16).
  @_alwaysEmitIntoClient
  @inline(never)  // compiled once for each combination of types
  public func mapError<New: Error>(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Failure) -> New
  ) -> Future<Value, New> {
    // Not `result.mapError(transform)`, which allocates a closure around `transform`, as a measurement showed.
    @Sendable func apply(_ result: Result<Value, Failure>) -> Future<Value, New> {
      result.orElse { error in .failed(transform(error)) }
    }
    // `deriveAtOnce` allocates no closure, and returns `nil` if `apply` cannot run inline now.
    return deriveAtOnce(on: context, for: .failures, apply) ?? derive(on: context, for: .failures, apply)
  }

  /// Replaces a failure by the future that `transform` returns; a value passes on unchanged.
  ///
  /// Recursion costs neither stack nor memory, as in `flatMap` (R6).
  /// Cost: four allocations while this future is pending, one of them the closure; none if this future is resolved, and
  /// the returned one is resolved too or was made in `transform`.
  /// - Returns: The derived future. Cancelling it cancels this future, too, unless something else waits for that (R16).
  @_alwaysEmitIntoClient
  @inline(never)  // compiled once for each combination of types
  public func flatMapError<New: Error>(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Failure) -> Future<Value, New>
  ) -> Future<Value, New> {
    // `deriveAtOnce` allocates no closure, and returns `nil` if `apply` cannot run inline now.
    @Sendable func apply(_ result: Result<Value, Failure>) -> Future<Value, New> { result.orElse(transform) }
    return deriveAtOnce(on: context, for: .failures, apply) ?? derive(on: context, for: .failures, apply)
  }

  /// Replaces a failure by the future that `transform` returns, or by the error that it throws.
  @_alwaysEmitIntoClient
  @inline(never)  // compiled once for each combination of types
  @_disfavoredOverload
  public func flatMapError<New: Error>(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Failure) throws(New) -> Future<Value, New>
  ) -> Future<Value, New> {
    flatMapError(on: context) { error in
      do throws(New) {
        return try transform(error)
      } catch {
        return .failed(error)
      }
    }
  }

  /// Replaces a failure by the value that `transform` returns, or by the error that it throws.
  ///
  /// Use it where a default is as good as the value, such as a placeholder for a picture. To try something else that is
  /// asynchronous, write `flatMapError`.
  ///
  /// ```swift
  /// loadName().recover { _ in "unknown" }
  ///   .whenSucceeded(on: .main) { name in label.text = name }
  /// ```
  ///
  /// If `transform` does not throw, `New` is `Never`, or `any Error` where the rest of the expression needs it. For
  /// another failure type, write `setFailureType()` after `recover`.
  /// Cost: four allocations while this future is pending, one of them the closure; none if it is resolved.
  /// - Parameters:
  ///   - context: Where `transform` runs; `.immediate` by default.
  ///   - transform: Makes a value of the error, or throws the derived future's failure.
  /// - Returns: The derived future. Cancelling it cancels this future, too, unless something else waits for that (R16).
  @_alwaysEmitIntoClient
  @inline(never)  // compiled once for each combination of types, and not in each caller
  public func recover<New: Error>(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Failure) throws(New) -> Value
  ) -> Future<Value, New> {
    // One overload, also for closures that do not throw: with a second one, a chain took ten times as long to type-check.
    @Sendable func apply(_ result: Result<Value, Failure>) -> Future<Value, New> {
      switch result {
      case .success(let value): return .succeeded(value)  // inline and not on `context`, because of `for: .failures`
      case .failure(let error):
        do throws(New) {
          return .succeeded(try transform(error))
        } catch {
          return .failed(error)
        }
      }
    }
    // `deriveAtOnce` allocates no closure, and returns `nil` if `apply` cannot run inline now.
    return deriveAtOnce(on: context, for: .failures, apply) ?? derive(on: context, for: .failures, apply)
  }

  /// Turns the result into a value, so the derived future cannot fail.
  ///
  /// Cost: four allocations while this future is pending, none if it is resolved.
  /// - Returns: The derived future. Cancelling it cancels this future, too, unless something else waits for that (R16).
  @_alwaysEmitIntoClient
  public func materialize() -> Future<Result<Value, Failure>, Never> {
    derive { result in .succeeded(result) }
  }

  /// Changes the failure type to `any Error`.
  ///
  /// `flatMap`, `zip` and `all` need it where futures have several failure types.
  ///
  /// If this future breaks and its failure type cannot hold `BrokenPromise`, the derived future fails with
  /// `BrokenPromise` (R4).
  ///
  /// Cost: four allocations while this future is pending. If it is resolved: only the box of the error.
  /// - Returns: The derived future. Cancelling it cancels this future, too, unless something else waits for that (R16).
  @_alwaysEmitIntoClient
  public func eraseFailure() -> Future<Value, any Error> {
    derive { result in .resolved(result.mapError { $0 }) }
  }
}
