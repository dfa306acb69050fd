// Completion closures of old code have no annotation, so the compiler cannot check their threads. The function names say so.
// The base name differs from `forward`: a trailing closure must never select these functions.

extension Future {
  /// Calls a completion that is neither `@Sendable` nor on the main actor, with the result.
  ///
  /// For callback code without annotations, whose callers pass closures from any thread. The compiler checks nothing, so you
  /// promise that the completion can run on `context`, and that no other thread uses its captures at the same time. The
  /// future calls the completion once, and then releases it. Prefer `forward(on:to:)` with `@Sendable` or `.main`, if you
  /// can change the callers.
  ///
  /// With main actor default isolation, a closure literal is isolated to the main actor. So it traps on any context but
  /// `.main`.
  /// - Parameters:
  ///   - context: Where the completion runs. `.immediate` is the thread that resolves the future.
  ///   - token: Cancels the wait. The completion gets the cancelled failure, or the result if `Failure` cannot represent that.
  ///   - completion: The completion.
  @_alwaysEmitIntoClient
  public func forwardUnsafely(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping (Result<Value, Failure>) -> Void
  ) {
    let completion = UncheckedTransfer(completion)
    cancelled(by: token).whenResolved(on: context) { completion.value($0) }
  }

  /// Calls a completion that is neither `@Sendable` nor on the main actor, with the value or the error.
  ///
  /// All else is as in the overload for a result.
  @_alwaysEmitIntoClient
  public func forwardUnsafely(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping (Value?, (any Error)?) -> Void
  ) {
    let completion = UncheckedTransfer(completion)
    cancelled(by: token).whenResolved(on: context) { completion.value($0.success, $0.failure) }
  }

  /// Calls a completion that is neither `@Sendable` nor on the main actor, with both values or the error.
  ///
  /// All else is as in the overload for a result.
  @_alwaysEmitIntoClient
  public func forwardUnsafely<First, Second>(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping (First?, Second?, (any Error)?) -> Void
  ) where Value == (First, Second) {
    let completion = UncheckedTransfer(completion)
    cancelled(by: token).whenResolved(on: context) { completion.value($0.success?.0, $0.success?.1, $0.failure) }
  }
}
