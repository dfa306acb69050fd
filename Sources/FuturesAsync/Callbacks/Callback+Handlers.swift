internal import Futures

// Completion handlers for the common callback shapes, as on `Promise`, but for any value. Each handler owns the
// callback. If an API releases its handler without a call, the waiting task gets `BrokenPromise`.

extension Callback {
  /// A handler for APIs that complete with a `Result`.
  public var resultHandler: @Sendable (Result<Value, any Error>) -> Void {
    { self.resume(given: $0) }
  }

  /// Returns a handler for APIs that complete with a `Result` of another failure type.
  public func resultHandler<Typed: Error>(of type: Typed.Type = Typed.self) -> @Sendable (Result<Value, Typed>) -> Void
  {
    { result in self.resume(given: result.mapError { $0 as any Error }) }
  }

  /// A handler for APIs that complete with a value, or report success separately from failure.
  public var valueHandler: @Sendable (Value) -> Void {
    { self.resume(given: .success($0)) }
  }

  /// A handler for APIs that report failure to a separate closure.
  public var failureHandler: @Sendable (any Error) -> Void {
    { self.resume(throwing: $0) }
  }

  /// A handler for APIs that complete with a value or an error, each optional.
  ///
  /// If the API passes both, the error wins. If it passes neither, `withCallback` throws `CallbackContractViolation`.
  public var valueOrErrorHandler: @Sendable (Value?, (any Error)?) -> Void {
    { value, error in self.resume(given: self.result(value, error)) }
  }

  /// Returns a handler for APIs that complete with two values or an error, each optional, as URLSession does.
  ///
  /// An error wins over values. If a value is missing and there is no error, `withCallback` throws
  /// `CallbackContractViolation`.
  public func valuesOrErrorHandler<First, Second>() -> @Sendable (First?, Second?, (any Error)?) -> Void
  where Value == (First, Second) {
    { first, second, error in
      let values: Value? = if let first, let second { (first, second) } else { nil }
      self.resume(given: self.result(values, error))
    }
  }

  /// Resumes the waiting call with the arguments of a completion handler.
  private func resume(given result: Result<Value, any Error>) {
    // Unsafe: a completion handler transfers its value, but APIs declare its parameter without `sending`. So this line
    // asserts the transfer. The API must not use the value after it has called back.
    nonisolated(unsafe) let result = result
    resume(with: result)
  }

  /// Returns the error if there is one, otherwise the value; if there is neither, a violation of the API's contract.
  private func result(_ value: Value?, _ error: (any Error)?) -> Result<Value, any Error> {
    if let error { return .failure(error) }
    guard let value else { return .failure(slot.site.contractViolation) }
    return .success(value)
  }
}

extension Callback where Value == Void {
  /// Resumes the waiting call.
  public func resume() { resume(returning: ()) }

  /// A handler for APIs that complete without a value.
  public var voidHandler: @Sendable () -> Void {
    { self.resume(returning: ()) }
  }

  /// A handler for APIs that complete with an error, or `nil` for success.
  public var errorHandler: @Sendable ((any Error)?) -> Void {
    { error in
      if let error { self.resume(throwing: error) } else { self.resume(returning: ()) }
    }
  }
}
