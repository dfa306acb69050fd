public import Futures

/// Calls `operation` with a token that is cancelled with the current task, for callback code that takes a token.
///
/// Cancellation, task to token: cancelling the task before or during the call cancels the token exactly once. The
/// handlers run on the thread that cancels the task. Token to task: none, because no other code can cancel the token.
/// After this returns, nothing stays registered, and later handlers are released without running.
/// - Parameters:
///   - isolation: The caller's actor, on which `operation` runs.
///   - operation: Passes the token on, and awaits the work.
/// - Returns: The value of `operation`.
/// - Throws: The error of `operation`.
@_alwaysEmitIntoClient
public func withCancellationToken<R, E: Error>(
  isolation: isolated (any Actor)? = #isolation,
  _ operation: (CancellationToken) async throws(E) -> R
) async throws(E) -> R {
  let state = CancellationState()
  // A `Result`: in Swift 6.3 a rethrow across an actor hop returns off the caller's actor.
  let result: Result<R, E> = await withTaskCancellationHandler(
    operation: {
      do throws(E) {
        return .success(try await operation(CancellationToken(state: state)))
      } catch {
        return .failure(error)
      }
    },
    onCancel: { state.trigger() },
    isolation: isolation
  )
  state.end()  // releases the handlers that have not run
  return try result.get()
}

extension CancellationToken {
  /// Suspends until the token or the current task is cancelled.
  ///
  /// If the token can no longer be cancelled, only the task's cancellation ends the wait. Nothing stays registered.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func cancelled(fileID: StaticString = #fileID, line: UInt = #line) async {
    // A failure type with cancellation, so that a cancellation of the task also ends the await.
    let promise = Promise<Void, CancellationError>("CancellationToken.cancelled()", fileID: fileID, line: line)
    let registration = register { promise.succeed() }
    _ = await promise.future.result
    withExtendedLifetime(promise) { _ = registration.remove() }  // the token can drop the closure, the only other owner
  }

  /// Runs asynchronous work that is cancelled with the token or the calling task.
  ///
  /// Cancellation, token to task: cancelling the token or the calling task cancels the separate task in which the work
  /// runs. The work decides its outcome: if it returns a value anyway, this returns the value. Nothing stays registered
  /// afterwards.
  /// - Parameter operation: The work. It runs on the actor to which its closure is isolated, as in `Task { }`.
  /// - Returns: The value of `operation`.
  /// - Throws: The error of `operation`.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func cancelling<R: Sendable>(
    @_inheritActorContext @_implicitSelfCapture
    _ operation: sending @escaping @isolated(any) () async throws -> R
  ) async throws -> R {
    let task = Task { try await operation() }
    let registration = register { task.cancel() }
    // A `Result`: in Swift 6.3 a rethrow across an actor hop returns off the caller's actor.
    let result = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
    registration.remove()
    return try result.get()
  }
}
