public import Futures

/// Calls `operation` with a token that is cancelled when the current task is: for callback code that takes a token.
///
/// Cancellation, task to token: the token is cancelled when the task is, before or during the call, exactly once; handlers run
/// on the thread that cancels the task. Token to task: nobody else can cancel this token. Nothing is left registered when this
/// returns: later handlers are released unrun.
/// - Parameters:
///   - isolation: The actor of the caller, on which `operation` runs.
///   - operation: Hands the token on, and awaits what comes of it.
/// - Returns: What `operation` returns.
/// - Throws: What `operation` throws.
@inlinable
public func withCancellationToken<R, E: Error>(
  isolation: isolated (any Actor)? = #isolation,
  _ operation: (CancellationToken) async throws(E) -> R
) async throws(E) -> R {
  let state = CancellationState()
  // A result, because Swift 6.3 gets a rethrow across a hop wrong.
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
  state.end()
  return try result.get()
}

extension CancellationToken {
  /// Waits until the token is cancelled, or the current task is.
  ///
  /// A token that can no longer be cancelled waits for the task alone. Nothing is left registered afterwards.
  nonisolated(nonsending) public func cancelled() async {
    let promise = Promise<Void, CancellationError>("CancellationToken.cancelled()")
    let registration = register { promise.succeed() }
    _ = await promise.future.result
    registration.remove()
  }

  /// Runs asynchronous work that is cancelled with the token, and with the calling task.
  ///
  /// Cancellation, token to task: the work runs in a task of its own, which is cancelled when the token is. Task to work:
  /// it is cancelled when the calling task is. The work decides what that means: a value that it returns anyway is returned
  /// here. Nothing is left registered afterwards.
  /// - Parameter operation: The work. It runs on the actor that its closure is isolated to, as in `Task { }`.
  /// - Returns: What `operation` returns.
  /// - Throws: What `operation` throws.
  nonisolated(nonsending) public func cancelling<R: Sendable>(
    @_inheritActorContext @_implicitSelfCapture
    _ operation: sending @escaping @isolated(any) () async throws -> R
  ) async throws -> R {
    let task = Task { try await operation() }
    let registration = register { task.cancel() }
    // A result, because Swift 6.3 gets a rethrow across a hop wrong.
    let result = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
    registration.remove()
    return try result.get()
  }
}
