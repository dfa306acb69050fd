extension Future {
  /// A future with a transformed error; a value passes on unchanged.
  ///
  /// Cost: four allocations while this future is unresolved, one of them the closure; none if it is resolved.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - transform: Makes the new error.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  public func mapError<New: Error>(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Failure) -> New
  ) -> Future<Value, New> {
    // A switch: `Result.mapError(transform)` was seen to allocate a closure around `transform`.
    derive(on: context, for: .failures) { result in
      switch result {
      case .success(let value): .succeeded(value)
      case .failure(let error): .failed(transform(error))
      }
    }
  }

  /// A future that, where this one fails, resolves as the one that `transform` makes of the error; a value passes on unchanged.
  ///
  /// Recursion costs neither stack nor memory, as in `flatMap` (R6). Cost: four allocations while this future is unresolved,
  /// one of them the closure; none if it is resolved, and the one that `transform` returns is resolved or made there.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - transform: Makes the future to resolve as.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  public func flatMapError<New: Error>(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Failure) -> Future<Value, New>
  ) -> Future<Value, New> {
    derive(on: context, for: .failures) { result in
      switch result {
      case .success(let value): .succeeded(value)
      case .failure(let error): transform(error)
      }
    }
  }

  /// A future that, where this one fails, resolves as the one that `transform` makes of the error, or fails as it throws.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - transform: Makes the future to resolve as, or throws what the derived future fails with.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
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

  /// A future that cannot fail: where this one does, it succeeds with what `transform` makes of the error.
  ///
  /// Cost: four allocations while this future is unresolved, one of them the closure; none if it is resolved.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - transform: Makes a value of the error.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  public func recover(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Failure) -> Value
  ) -> Future<Value, Never> {
    flatMapError(on: context) { error in .succeeded(transform(error)) }
  }

  /// A future that, where this one fails, succeeds with what `transform` makes of the error, or fails as it throws.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - transform: Makes a value of the error, or throws what the derived future fails with.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  @_disfavoredOverload
  public func recover<New: Error>(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Failure) throws(New) -> Value
  ) -> Future<Value, New> {
    flatMapError(on: context) { error -> Future<Value, New> in
      do throws(New) {
        return .succeeded(try transform(error))
      } catch {
        return .failed(error)
      }
    }
  }

  /// A future that cannot fail, of the result of this one.
  ///
  /// Cost: four allocations while this future is unresolved, none if it is resolved.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  public func materialize() -> Future<Result<Value, Failure>, Never> {
    derive { result in .succeeded(result) }
  }

  /// The same future with an open failure type.
  ///
  /// Where this future breaks and its own failure type cannot say so, the derived one fails with `BrokenPromise` (R4).
  /// Cost: four allocations while this future is unresolved; where it is resolved, none but that of the error's box.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  public func eraseFailure() -> Future<Value, any Error> {
    derive { result in .resolved(result.mapError { $0 }) }
  }
}
