// Old completion closures that nobody has annotated. The compiler cannot check on which thread they may run, so each function has
// that promise in its name. The base name is its own: a trailing closure must never choose these functions.

extension Future {
  /// Calls a completion that is neither `@Sendable` nor on the main actor, with the result.
  ///
  /// For the completions of code from before Swift's concurrency, which callers pass from any thread. The compiler checks nothing,
  /// so you promise two things: the completion may run on `context`, and nothing that it captured is in use on another
  /// thread at that time. It is called once and not kept. Prefer `forward(on:to:)` with `@Sendable` or `.main`, if you can
  /// change the callers.
  ///
  /// With main actor default isolation, a closure literal is isolated to the main actor. So it traps on any context but
  /// `.main`.
  /// - Parameters:
  ///   - context: Where the completion runs. `.immediate` is the thread that resolves the future.
  ///   - token: Cancels the wait: the completion gets the cancelled failure.
  ///   - completion: The completion.
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
  /// - Parameters:
  ///   - context: Where the completion runs.
  ///   - token: Cancels the wait: the completion gets the cancelled failure.
  ///   - completion: The completion.
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
  /// - Parameters:
  ///   - context: Where the completion runs.
  ///   - token: Cancels the wait: the completion gets the cancelled failure.
  ///   - completion: The completion.
  public func forwardUnsafely<First, Second>(
    on context: ExecutionContext,
    cancelledBy token: CancellationToken = .none,
    to completion: @escaping (First?, Second?, (any Error)?) -> Void
  ) where Value == (First, Second) {
    let completion = UncheckedTransfer(completion)
    cancelled(by: token).whenResolved(on: context) { completion.value($0.success?.0, $0.success?.1, $0.failure) }
  }
}
