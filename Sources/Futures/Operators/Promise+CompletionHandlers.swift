// Completion handlers for the common callback shapes. `promise.succeed` itself cannot be passed, because it returns a
// `Bool`. Each handler owns the promise. If an API releases its handler without a call, the promise breaks.

extension Promise {
  /// A handler for APIs that complete with a `Result`.
  @_alwaysEmitIntoClient
  public var resultHandler: @Sendable (Result<Value, Failure>) -> Void {
    { self.resolve($0) }
  }

  /// A handler for APIs that complete with a value, or report success separately from failure.
  @_alwaysEmitIntoClient
  public var valueHandler: @Sendable (Value) -> Void {
    { self.succeed($0) }
  }

  /// A handler for APIs that report failure to a separate closure.
  @_alwaysEmitIntoClient
  public var failureHandler: @Sendable (Failure) -> Void {
    { self.fail($0) }
  }
}

extension Promise where Value == Void {
  /// A handler for APIs that complete without a value.
  @_alwaysEmitIntoClient
  public var voidHandler: @Sendable () -> Void {
    { self.succeed() }
  }
}

extension Promise where Failure == any Error {
  /// Returns a handler for APIs that complete with a `Result` of another failure type.
  /// - Parameter type: The failure type, if it cannot be inferred.
  /// - Returns: The handler.
  @_alwaysEmitIntoClient
  public func resultHandler<Typed: Error>(of type: Typed.Type = Typed.self) -> @Sendable (Result<Value, Typed>) -> Void
  {
    { self.resolve($0.mapError { $0 }) }
  }

  /// A handler for APIs that complete with a value or an error, each optional.
  ///
  /// If the API passes both, the error wins. If it passes neither, the future fails with `CallbackContractViolation`.
  @_alwaysEmitIntoClient
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

  /// Returns a handler for APIs that complete with two values or an error, each optional, as URLSession does.
  ///
  /// An error wins over values. If a value is missing and there is no error, the future fails with
  /// `CallbackContractViolation`.
  @_alwaysEmitIntoClient
  public func valuesOrErrorHandler<First, Second>() -> @Sendable (First?, Second?, (any Error)?) -> Void
  where Value == (First, Second) {
    let handler = valueOrErrorHandler
    return { first, second, error in
      let both = first.flatMap { first in second.map { second in (first, second) } }  // `nil` if a value is missing
      handler(both, error)
    }
  }
}

extension Promise where Value == Void, Failure == any Error {
  /// A handler for APIs that complete with an error, or `nil` for success.
  @_alwaysEmitIntoClient
  public var errorHandler: @Sendable ((any Error)?) -> Void {
    { error in
      if let error { self.fail(error) } else { self.succeed() }
    }
  }
}

extension Promise {
  /// The error for an API that calls its handler with neither a value nor an error.
  @usableFromInline
  func contractViolation() -> CallbackContractViolation {
    CallbackContractViolation(label: state.label, fileID: String(cString: fileID), line: UInt(line))
  }
}
