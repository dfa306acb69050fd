public import Futures

extension Latest {
  /// Replaces the request by async work, and suspends until that work ends.
  ///
  /// It cancels the request before at once, and starts `operation` after the delay.
  ///
  /// Cancellation: `operation` runs in a task of its own. That task is cancelled when a newer request starts, when `cancel()` is
  /// called, and when the calling task is cancelled. This then throws `CancellationError`, also if a newer request starts on
  /// the caller's actor after the result has arrived and before this resumes. So only the newest request returns.
  /// - Parameters:
  ///   - delay: The delay, so that a burst of calls starts the work once.
  ///   - isolation: The caller's actor.
  ///   - operation: The work. It runs on the actor to which its closure is isolated.
  /// - Returns: The value of `operation`.
  /// - Throws: The error of `operation`; `CancellationError`.
  public func value<Value: Sendable>(
    after delay: Duration = .zero,
    isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext _ operation: @escaping @Sendable @isolated(any) () async throws -> Value
  ) async throws -> Value {
    let (slot, number) = (slot, slot.begin())
    let future = Future<Void, Never>.after(delay, on: timer)
      .setFailureType(to: (any Error).self)
      .flatMap { _ in Future<Value, any Error> { try await operation() } }
    slot.set(number) { future.cancel() }
    // A `Result`: in Swift 6.3 a rethrow across a hop returns off the caller's actor.
    let result: Result<Value, any Error>
    do {
      result = .success(try await future.value(onCancel: .cancel))
    } catch {
      result = .failure(error)
    }
    guard slot.end(number) else { throw CancellationError() }
    return try result.get()
  }
}
