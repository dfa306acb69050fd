internal import Futures

// Ready-made completion handlers, as those of `Promise`, for any value. A completion handler gives its value away, and a closure
// parameter cannot be `sending`, so the handlers vouch for it: the API must not use the value after it has called back.
// Each handler owns the callback: an API that drops its handler breaks the call, so nobody waits for ever.

extension Callback {
  /// For APIs that complete with a `Result`.
  public var resultHandler: @Sendable (Result<Value, any Error>) -> Void {
    { result in
      nonisolated(unsafe) let result = result
      self.resume(with: result)
    }
  }

  /// For APIs that complete with a `Result` whose failure has a type of its own.
  /// - Parameter type: The type of the failure, where it cannot be inferred.
  /// - Returns: The handler.
  public func resultHandler<Typed: Error>(of type: Typed.Type = Typed.self) -> @Sendable (Result<Value, Typed>) -> Void
  {
    { result in
      nonisolated(unsafe) let result = result.mapError { $0 as any Error }
      self.resume(with: result)
    }
  }

  /// For APIs that complete with a value, or tell success apart from failure.
  public var valueHandler: @Sendable (Value) -> Void {
    { value in
      nonisolated(unsafe) let value = value
      self.resume(returning: value)
    }
  }

  /// For APIs that tell failure by a closure of its own.
  public var failureHandler: @Sendable (any Error) -> Void {
    { self.resume(throwing: $0) }
  }

  /// For APIs that complete with a value or an error, each optional.
  ///
  /// Given both, the error wins; given neither, the call throws `CallbackContractViolation`.
  public var valueOrErrorHandler: @Sendable (Value?, (any Error)?) -> Void {
    { value, error in
      nonisolated(unsafe) let value = value
      self.resume(with: self.result(value, error))
    }
  }

  /// For APIs that complete with two values or an error, each optional, as URLSession does.
  ///
  /// An error wins over values; where a value is missing and there is no error, the call throws `CallbackContractViolation`.
  /// - Returns: The handler.
  public func valuesOrErrorHandler<First, Second>() -> @Sendable (First?, Second?, (any Error)?) -> Void
  where Value == (First, Second) {
    { first, second, error in
      nonisolated(unsafe) let values = first.flatMap { first in second.map { (first, $0) } }
      self.resume(with: self.result(values, error))
    }
  }

  private func result(_ value: sending Value?, _ error: (any Error)?) -> sending Result<Value, any Error> {
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
