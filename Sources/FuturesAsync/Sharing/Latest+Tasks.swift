public import Futures

extension Latest {
  /// Replaces the request by async work, and suspends until that work ends.
  ///
  /// It cancels the previous request, and starts `operation` at once. Cancellation: as in the overload with a delay.
  @_alwaysEmitIntoClient
  public func value<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext _ operation: @escaping @Sendable @isolated(any) () async throws -> Value
  ) async throws -> Value {
    try await result(LatestPace(), operation).get()  // the pace: no delay
  }

  /// Replaces the request by async work, and suspends until that work ends.
  ///
  /// It cancels the previous request at once, and starts `operation` after the delay.
  ///
  /// Cancellation: `operation` runs in a task of its own. That task is cancelled when a newer request starts, when `cancel()` is
  /// called, and when the calling task is cancelled. Then this throws `CancellationError`, even if the result has
  /// already arrived, and this call has only to resume. So only the newest request returns.
  /// - Parameters:
  ///   - delay: The delay, so that a burst of calls starts the work once.
  ///   - maximum: The maximum time from the first waiting call to the start of the newest work; `nil` for no maximum.
  ///   - leading: Whether work starts without a delay if none has started within the last `delay`, and no call waits.
  ///   - isolation: The caller's actor.
  ///   - operation: The work. It runs on the actor to which its closure is isolated.
  /// - Returns: The value of `operation`.
  /// - Throws: The error of `operation`; `CancellationError`.
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  @_alwaysEmitIntoClient
  public func value<Value: Sendable>(
    after delay: Duration,
    atMost maximum: Duration? = nil,
    leading: Bool = false,
    isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext _ operation: @escaping @Sendable @isolated(any) () async throws -> Value
  ) async throws -> Value {
    let pace = LatestPace(delay, atMost: maximum, isLeading: leading)
    return try await result(pace, operation).get()
  }

  /// Does the work of both functions `value`.
  ///
  /// Returns a `Result`, because in Swift 6.3 a rethrow across an actor hop returns off the caller's actor.
  @_alwaysEmitIntoClient
  func result<Value: Sendable>(
    _ pace: LatestPace,
    isolation: isolated (any Actor)? = #isolation,
    _ operation: @escaping @Sendable @isolated(any) () async throws -> Value
  ) async -> Result<Value, any Error> {
    // Copies, so that the closures do not keep `self` alive. `begin` stops the previous request, and returns this one's number.
    let (slot, timer, number) = (slot, timer, slot.begin())
    let future = slot.wait(pace, on: timer)
      .setFailureType(to: (any Error).self)
      .flatMap { _ in
        // `start` is `false` if a newer request or `cancel()` has superseded this one. Then the stop action below cancels `future`.
        slot.start(number, pace, on: timer) ? Future<Value, any Error> { try await operation() } : .never
      }
    slot.setStop(of: number) { future.cancel() }  // runs when this request is superseded, at once if it already is
    let result: Result<Value, any Error>
    do {
      result = .success(try await future.value(onCancel: .cancel))
    } catch {
      result = .failure(error)
    }
    // `end` returns `false` if this request has been superseded: its result does not count, even if it has arrived.
    return slot.end(number) ? result : .failure(CancellationError())
  }
}
