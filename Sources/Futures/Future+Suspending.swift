extension Future {
  /// Suspends the current task until the future is resolved, or, where `Failure` can say so, until the task is cancelled.
  ///
  /// Three allocations, and one more that the runtime makes for a cancellation handler.
  @inlinable
  nonisolated(nonsending) package func awaitResult() async -> Result<Value, Failure> {
    guard case .shared(let state) = storage else { return peek().unsafelyUnwrapped }
    let waiter = TaskWaiter<Outcome<Value, Failure>>()
    guard Cancelled<Failure>.isExpressible else {
      return await withUnsafeContinuation { continuation in
        waiter.continuation = continuation
        state.attach(waiter)
      }
    }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        state.attach(waiter, resuming: continuation, orIfAbandoned: Self.cancelledResult)
      }
    } onCancel: {
      state.abandon(waiter, with: Self.cancelledResult)
    }
  }

  /// The result of a wait that was abandoned; only where `Failure` can say so.
  @inlinable
  static var cancelledResult: Result<Value, Failure> { .failure(Cancelled<Failure>.failure.unsafelyUnwrapped) }
}
