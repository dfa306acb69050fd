internal import Futures

// Ready-made completion handlers, as those of `Promise`, for any value.
// Each handler owns the callback: an API that drops its handler breaks the call, so nobody waits for ever.

extension Callback {
  /// For APIs that complete with a `Result`.
  public var resultHandler: @Sendable (Result<Value, any Error>) -> Void {
    { self.resume(given: $0) }
  }

  /// For APIs that complete with a `Result` whose failure has a type of its own.
  /// - Parameter type: The type of the failure, where it cannot be inferred.
  /// - Returns: The handler.
  public func resultHandler<Typed: Error>(of type: Typed.Type = Typed.self) -> @Sendable (Result<Value, Typed>) -> Void
  {
    { result in self.resume(given: result.mapError { $0 as any Error }) }
  }

  /// For APIs that complete with a value, or tell success apart from failure.
  public var valueHandler: @Sendable (Value) -> Void {
    { self.resume(given: .success($0)) }
  }

  /// For APIs that tell failure by a closure of its own.
  public var failureHandler: @Sendable (any Error) -> Void {
    { self.resume(throwing: $0) }
  }

  /// For APIs that complete with a value or an error, each optional.
  ///
  /// Given both, the error wins; given neither, the call throws `CallbackContractViolation`.
  public var valueOrErrorHandler: @Sendable (Value?, (any Error)?) -> Void {
    { value, error in self.resume(given: self.result(value, error)) }
  }

  /// For APIs that complete with two values or an error, each optional, as URLSession does.
  ///
  /// An error wins over values; where a value is missing and there is no error, the call throws `CallbackContractViolation`.
  /// - Returns: The handler.
  public func valuesOrErrorHandler<First, Second>() -> @Sendable (First?, Second?, (any Error)?) -> Void
  where Value == (First, Second) {
    { first, second, error in
      let values = first.flatMap { first in second.map { (first, $0) } }
      self.resume(given: self.result(values, error))
    }
  }

  /// Resumes with what an API gave to its completion handler.
  private func resume(given result: Result<Value, any Error>) {
    // Unsafe: a completion handler gives its value away, and a closure's parameter cannot be `sending`. So this vouches for the
    // API, which must not use the value after it has called back.
    nonisolated(unsafe) let result = result
    resume(with: result)
  }

  private func result(_ value: Value?, _ error: (any Error)?) -> Result<Value, any Error> {
    if let error { return .failure(error) }
    guard let value else { return .failure(slot.site.contractViolation) }
    return .success(value)
  }
}

extension Callback where Value == Void {
  /// Has the call return.
  public func resume() { resume(returning: ()) }

  /// For APIs that complete without a value.
  public var voidHandler: @Sendable () -> Void {
    { self.resume(returning: ()) }
  }

  /// For APIs that complete with an error, or `nil` for success.
  public var errorHandler: @Sendable ((any Error)?) -> Void {
    { error in
      if let error { self.resume(throwing: error) } else { self.resume(returning: ()) }
    }
  }
}
