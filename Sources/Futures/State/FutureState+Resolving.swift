extension FutureState {
  /// The follow-up of a resolution attempt, performed after unlocking.
  private enum Resolution {
    /// The state was already settled, or follows another future.
    case rejected
    /// The state is resolved. The caller has no consumers to run.
    case done
    /// The state is resolved. The caller runs the consumers.
    case deliver
    /// As `deliver`, and the first consumer is already taken.
    case deliverFirst(TakenConsumer)
    /// The state is merged. The caller tries again with the root.
    case merged
  }

  /// Resolves a pending state and runs its consumers; the first resolution wins (R1).
  /// - Parameters:
  ///   - isSuccess: Whether the result is a value.
  ///   - last: The last phase that allows this: `pending` for a promise, which `follow` locks in; `orphaned` for a stage
  ///     and for a cancellation.
  ///   - trampoline: The trampoline of the delivery in which a stage does this; `nil` in user code.
  ///   - isFromTask: Whether a task of the library does this. It resumes waiters directly. Callbacks and transforms run on a
  ///     thread of the global queue. There they cannot see the task's locals and its cancellation (R8).
  ///   - store: Stores the result in the state that it gets, which is the root. Runs under the lock.
  /// - Returns: Whether this resolution was the first.
  @usableFromInline
  final func resolve(
    isSuccess: Bool,
    fromAtMost last: Phase,
    in trampoline: Trampoline?,
    fromTask isFromTask: Bool,
    _ store: (FutureState) -> Void
  ) -> Bool {
    let isTakingFirst = trampoline == nil && !isFromTask
    var detached: Detached?
    let resolution = lock.withLock { () -> Resolution in
      transition(isSuccess: isSuccess, fromAtMost: last, takingFirst: isTakingFirst, &detached, store)
    }
    switch resolution {
    case .rejected: return false
    case .merged:
      return root.resolve(isSuccess: isSuccess, fromAtMost: last, in: trampoline, fromTask: isFromTask, store)
    case .deliverFirst(let first): Trampoline.current.deliver(self, startingWith: first)
    case .done: detached?.release()
    case .deliver:
      detached?.release()
      if !isFromTask {
        deliver(in: trampoline)
      } else if resumeWaiters(in: .current) {
        deliverElsewhere()
      }
    }
    return true
  }

  /// Resolves a pending state, and returns the follow-up.
  ///
  /// Under the lock.
  @inline(__always)
  private final func transition(
    isSuccess: Bool,
    fromAtMost last: Phase,
    takingFirst isTaking: Bool,
    _ detached: inout Detached?,
    _ store: (FutureState) -> Void
  ) -> Resolution {
    let current = phase.load(ordering: .relaxed)
    guard current <= last else { return current == .merged ? .merged : .rejected }
    store(self)
    if isPlain {
      guard let first = consumers.first else {
        if !isSuccess { insert(.isUnobservedFailure) }
        // Releasing: a thread that sees the phase sees the outcome.
        phase.store(.resolved, ordering: .releasing)
        return .done
      }
      // At the maximum depth the consumers wait for their turn in the list, where they can be removed.
      guard isTaking, Trampoline.current.canDeliver else {
        phase.store(.delivering, ordering: .releasing)  // as above
        return .deliver
      }
      // No code runs between the resolution and the first delivery. So this saves locking again.
      consumers.remove(first)
      first._withUnsafeGuaranteedRef { markTaken($0) }
      let isLast = consumers.isEmpty
      phase.store(isLast ? .closing : .delivering, ordering: .releasing)  // as above
      return .deliverFirst((first, isLast))
    }
    detached = detach()
    if !isSuccess, consumers.isEmpty { insert(.isUnobservedFailure) }
    let isNotifying = progressRecord?.end(isSuccess: isSuccess, before: &consumers) ?? false
    let isIdle = consumers.isEmpty
    phase.store(isIdle ? .resolved : .delivering, ordering: .releasing)  // as above
    return isIdle || isNotifying ? .done : .deliver
  }

  /// Breaks a pending state for ever: releases its consumers, and breaks its derived states.
  @usableFromInline
  final func breakForever(_ reason: BreakReason, in trampoline: Trampoline?) {
    var detached: Detached?
    let (previous, isDue) = lock.withLock { () -> (Phase, Bool) in
      let previous = phase.load(ordering: .relaxed)
      guard previous <= .following else { return (previous, false) }
      var isNotifying = false
      if !isPlain {
        detached = detach()
        isNotifying = progressRecord?.end(isSuccess: false, before: &consumers) ?? false
      }
      producer = .broken(isCancelled ? reason.excused : reason)
      // Releasing: a thread that sees the phase finds the reason.
      phase.store(.broken, ordering: .releasing)
      return (previous, !consumers.isEmpty && !isNotifying)
    }
    detached?.release()
    if previous == .merged { return root.breakForever(reason, in: trampoline) }
    if isDue { deliver(in: trampoline) }
  }

  /// Marks a pending state as following another future.
  /// - Returns: `false` if the state was settled, or followed another future before.
  @usableFromInline
  final func beginFollowing() -> Bool {
    lock.withLock {
      guard phase.load(ordering: .relaxed) == .pending else { return false }
      // Relaxed: it publishes no data. The data of a following state is read under the lock.
      phase.store(.following, ordering: .relaxed)
      return true
    }
  }
}
