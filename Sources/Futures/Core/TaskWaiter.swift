/// A suspended task that waits for a future, and may stop waiting when it is cancelled.
@_fixed_layout
@usableFromInline
package final class TaskWaiter<Stored: OutcomeStorage>: CallbackNode, @unchecked Sendable {
  // @unchecked: as the base class says.
  @usableFromInline package typealias Continuation = UnsafeContinuation<Result<Stored.Value, Stored.Failure>?, Never>

  /// Set before the waiter is listed; resumed by whoever moved `status` to `finished` after that.
  @exclusivity(unchecked) @usableFromInline final var continuation: Continuation?

  @inlinable
  package init() {
    super.init(kind: .waiter) { node, state, _ in
      let node = unsafeDowncast(node, to: TaskWaiter.self)
      if let result = unsafeDowncast(state, to: SharedState<Stored>.self).result {
        node.continuation.unsafelyUnwrapped.resume(returning: result)
      } else {
        state.reportWaitForBrokenPromise()
      }
    }
  }
}

extension SharedState {
  /// Has `waiter` resumed with the result, or with `nil` if its wait was abandoned before it came here.
  @inlinable
  package func attach(_ waiter: TaskWaiter<Stored>, resuming continuation: TaskWaiter<Stored>.Continuation) {
    waiter.continuation = continuation
    if !attach(waiter) { continuation.resume(returning: nil) }
  }

  /// Ends the wait of `waiter` with `nil`, unless it has got a result; then its place in the list is free.
  ///
  /// O(1), but for the cancellation.
  /// - Parameters:
  ///   - waiter: Who waits.
  ///   - isCancelling: Whether the state is cancelled if nobody else needs it.
  @inlinable
  package func abandon(_ waiter: TaskWaiter<Stored>, cancelling isCancelling: Bool) {
    // Before it comes here it has no continuation yet: `attach` will see that it was withdrawn.
    let isHere = !withdraw(waiter)
    guard !isHere || remove(waiter) else { return }
    if isCancelling { cancelIfUnneeded() }
    if isHere { waiter.continuation.unsafelyUnwrapped.resume(returning: nil) }
  }
}

extension SharedState {
  /// Resolves the state from a task of the library.
  ///
  /// Those who await are resumed directly. Callbacks and transforms must not see the task's locals and its cancellation
  /// (R8), so a thread of the global queue runs them.
  @inlinable
  package func resolveFromTask(_ result: Result<Value, Failure>, fromAtMost last: Phase = .following) {
    switch transition(to: result, fromAtMost: last) {
    case .rejected, .done: break
    case .merged: typedRoot.resolveFromTask(result, fromAtMost: last)
    case .deliver:
      if resumeWaiters(in: .current) {
        deliverElsewhere()
      }
    }
  }
}
