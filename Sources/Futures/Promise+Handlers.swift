// Ready-made completion handlers. `promise.succeed` itself cannot be passed as one, because it returns a `Bool`.
// Each handler owns the promise: a callback API that drops its handler breaks the promise, so nobody waits for ever.

extension Promise {
  /// For APIs that complete with a `Result`.
  @inlinable
  public var resultHandler: @Sendable (Result<Value, Failure>) -> Void {
    { self.resolve($0) }
  }

  /// For APIs that complete with a value, or tell success apart from failure.
  @inlinable
  public var valueHandler: @Sendable (Value) -> Void {
    { self.succeed($0) }
  }

  /// For APIs that tell failure by a closure of its own.
  @inlinable
  public var failureHandler: @Sendable (Failure) -> Void {
    { self.fail($0) }
  }
}

extension Promise where Value == Void {
  /// For APIs that complete without a value.
  @inlinable
  public var voidHandler: @Sendable () -> Void {
    { self.succeed() }
  }
}

extension Promise where Failure == any Error {
  /// For APIs that complete with a `Result` whose failure has a type of its own.
  /// - Parameter type: The type of the failure, where it cannot be inferred.
  /// - Returns: The handler.
  @inlinable
  public func resultHandler<Typed: Error>(of type: Typed.Type = Typed.self) -> @Sendable (Result<Value, Typed>) -> Void
  {
    { self.resolve($0.mapError { $0 }) }
  }

  /// For APIs that complete with a value or an error, each optional.
  ///
  /// Given both, the error wins; given neither, the future fails with `CallbackContractViolation`.
  @inlinable
  public var valueOrErrorHandler: @Sendable (Value?, (any Error)?) -> Void {
    { value, error in
      if let error {
        self.fail(error)
      } else if let value {
        self.succeed(value)
      } else {
        self.fail(self.contractViolation())
      }
    }
  }

  /// For APIs that complete with two values or an error, each optional, as URLSession does.
  ///
  /// An error wins over values; where a value is missing and there is no error, the future fails with
  /// `CallbackContractViolation`.
  /// - Returns: The handler.
  @inlinable
  public func valuesOrErrorHandler<First, Second>() -> @Sendable (First?, Second?, (any Error)?) -> Void
  where Value == (First, Second) {
    let handler = valueOrErrorHandler
    return { first, second, error in
      handler(first.flatMap { first in second.map { (first, $0) } }, error)
    }
  }
}

extension Promise where Value == Void, Failure == any Error {
  /// For APIs that complete with an error, or `nil` for success.
  @inlinable
  public var errorHandler: @Sendable ((any Error)?) -> Void {
    { error in
      if let error { self.fail(error) } else { self.succeed() }
    }
  }
}

extension Promise {
  @usableFromInline
  func contractViolation() -> CallbackContractViolation {
    CallbackContractViolation(label: state.label, fileID: String(cString: fileID), line: UInt(line))
  }
}
