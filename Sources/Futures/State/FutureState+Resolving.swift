extension FutureState {
  /// Resolves a pending state and runs its consumers; the first resolution wins (R1).
  /// - Parameters:
  ///   - isSuccess: Whether the result is a value.
  ///   - resolver: Who resolves it.
  ///   - store: Stores the result in the state that it gets, which is the root. Runs under the lock.
  /// - Returns: Whether this resolution was the first.
  @usableFromInline
  final func resolve(isSuccess: Bool, by resolver: Resolver, _ store: (FutureState) -> Void) -> Bool {
    var released: Released?
    switch settle(isSuccess: isSuccess, by: resolver, &released, store) {
    case .rejected: return false
    case .merged: return root.resolve(isSuccess: isSuccess, by: resolver, store)
    case .deliverFirst(let first): Trampoline.current.deliver(self, startingWith: first)
    case .done: released.take()?.release()
    case .deliver:
      released.take()?.release()
      switch resolver {
      case .promise, .library: deliver(in: nil)
      case .stage(let trampoline): deliver(in: trampoline)
      case .promiseInTask, .task: if resumeWaiters(in: .current) { deliverElsewhere() }
      }
    }
    return true
  }

  /// Breaks a pending state for ever: releases its consumers, and breaks its derived states.
  @usableFromInline
  final func breakForever(_ reason: BreakReason, in trampoline: Trampoline?) {
    var released: Released?
    let breaking = settleBroken(reason, &released)
    released.take()?.release()
    switch breaking {
    case .done: break
    case .deliver: deliver(in: trampoline)
    case .merged: root.breakForever(reason, in: trampoline)
    }
  }
}
