public import Futures

extension Latest {
  /// Replaces the request by async work, and suspends until that work ends.
  ///
  /// It cancels the request before at once, and starts `operation`. Cancellation: as with a delay.
  /// - Parameters:
  ///   - isolation: The caller's actor.
  ///   - operation: The work. It runs on the actor to which its closure is isolated.
  /// - Returns: The value of `operation`.
  /// - Throws: The error of `operation`; `CancellationError`.
  public func value<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext _ operation: @escaping @Sendable @isolated(any) () async throws -> Value
  ) async throws -> Value {
    try await result(afterNanoseconds: 0, operation).get()
  }

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
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public func value<Value: Sendable>(
    after delay: Duration,
    isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext _ operation: @escaping @Sendable @isolated(any) () async throws -> Value
  ) async throws -> Value {
    try await result(afterNanoseconds: delay.nanoseconds, operation).get()
  }

  // A `Result`: in Swift 6.3 a rethrow across a hop returns off the caller's actor.
  private func result<Value: Sendable>(
    afterNanoseconds delay: Int64,
    isolation: isolated (any Actor)? = #isolation,
    _ operation: @escaping @Sendable @isolated(any) () async throws -> Value
  ) async -> Result<Value, any Error> {
    let (slot, number) = (slot, slot.begin())
    let future = Future<Void, Never>.after(nanoseconds: delay, on: timer)
      .setFailureType(to: (any Error).self)
      .flatMap { _ in Future<Value, any Error> { try await operation() } }
    slot.set(number) { future.cancel() }
    let result: Result<Value, any Error>
    do {
      result = .success(try await future.value(onCancel: .cancel))
    } catch {
      result = .failure(error)
    }
    return slot.end(number) ? result : .failure(CancellationError())
  }
}
