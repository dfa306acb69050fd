/// A suspended task that waits for a future; cancelling the task can end the wait.
@_fixed_layout
@usableFromInline
package final class TaskWaiter<Stored: OutcomeStorage>: Consumer, @unchecked Sendable {
  // @unchecked: as the base class says.
  @usableFromInline package typealias Continuation = UnsafeContinuation<Result<Stored.Value, Stored.Failure>?, Never>

  /// Set before the waiter is attached; resumed by the thread that then moves `status` to `finished`.
  @exclusivity(unchecked) @usableFromInline final var continuation: Continuation?

  @inlinable
  package init() {
    super.init(kind: .waiter) { consumer, state, _ in
      let consumer = unsafeDowncast(consumer, to: TaskWaiter.self)
      if let result = unsafeDowncast(state, to: TypedState<Stored>.self).result {
        consumer.continuation.unsafelyUnwrapped.resume(returning: result)
      } else {
        // A broken future has no result, so the task stays suspended until it is cancelled: see `endWait`.
        state.reportWaitForBrokenPromise()
      }
    }
  }

  // A continuation is a reference to its task, in all versions of the runtime.
  override func describe(into facts: inout NodeFacts, isListed: Bool) {
    facts.task = continuation.map { unsafeBitCast($0, to: UnsafeRawPointer.self) }
  }
}

extension TypedState {
  /// Attaches `waiter`, which the result then resumes; if the wait was abandoned before, resumes it with `nil` at once.
  @inlinable
  package func attach(_ waiter: TaskWaiter<Stored>, resuming continuation: TaskWaiter<Stored>.Continuation) {
    waiter.continuation = continuation
    if !attach(.passRetained(waiter)) { continuation.resume(returning: nil) }  // then `attach` has released `waiter`
  }

  /// Removes `waiter` and resumes it with `nil`, unless a delivery resumes it.
  ///
  /// If `isCancelling`, also cancels the state if no other consumer needs it. Apart from that, O(1).
  @inlinable
  package func abandon(_ waiter: TaskWaiter<Stored>, cancelling isCancelling: Bool) {
    if endWait(of: waiter, cancelling: isCancelling) { waiter.continuation.unsafelyUnwrapped.resume(returning: nil) }
  }
}

extension FutureState {
  /// Removes a waiter, and cancels the state if the caller asks for that and no other consumer needs it.
  /// - Returns: Whether the caller resumes the waiter. A waiter that is not attached yet is resumed by `attach(_:resuming:)`.
  @usableFromInline
  final func endWait(of waiter: Consumer, cancelling isCancelling: Bool) -> Bool {
    let departure = leave(waiter)
    // If the waiter has left the list, its delivery normally resumes it. But the delivery of a broken future leaves the task
    // suspended, and the waiter `submitted`: then the first caller of `claimSubmitted` resumes the task.
    guard departure != nil || waiter.claimSubmitted() else { return false }
    if let reference = departure?.reference { releaseConsumer(reference) }
    if isCancelling { cancelIfUnneeded() }
    return departure?.previous != .new  // `true` also for a waiter that this call has claimed: it has no departure
  }
}
