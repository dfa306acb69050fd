extension FutureState {
  /// The kind of a caller that resolves a state.
  @usableFromInline
  package enum Resolver {
    /// A promise. It has no effect after `follow`.
    case promise
    /// A task of the library, for a future or a promise; it has no effect after `follow`.
    ///
    /// The task resumes waiters directly. Callbacks and transforms run on a thread of the global queue. There they cannot see
    /// the task's locals and its cancellation (R8).
    case task
    /// The library: with a trampoline, a delivery of this thread; with `nil`, a cancellation or work on a context.
    case library(Trampoline?)

    /// The last of the ordered phases `pending`, `following` and `orphaned` in which the caller can resolve a state.
    var last: Phase {
      switch self {
      case .promise, .task: .pending
      case .library: .orphaned
      }
    }

    /// Whether the transition that resolves the state also takes the first consumer, because the caller delivers at once.
    ///
    /// `library` with a trampoline delivers only when the running delivery ends, and `task` on another thread.
    var canTakeFirst: Bool {
      switch self {
      case .promise, .library(nil): Trampoline.current.canDeliver
      case .task, .library: false
      }
    }
  }

  /// Resolves a pending state and runs its consumers; the first resolution wins (R1).
  /// - Parameters:
  ///   - isSuccess: Whether the result is a value.
  ///   - resolver: The kind of the caller.
  ///   - store: Stores the result. Runs under the lock.
  /// - Returns: Whether this resolution was the first.
  @usableFromInline
  final func resolve(isSuccess: Bool, by resolver: Resolver, _ store: () -> Void) -> Bool {
    var released: Released?
    switch settle(isSuccess: isSuccess, by: resolver, &released, store) {
    case .rejected: return false
    case .done: released.take()?.release()
    // The first consumer is taken only if there is nothing to release.
    case .deliver(startingWith: let first?): Trampoline.current.deliver(self, startingWith: first)
    case .deliver(startingWith: nil):
      released.take()?.release()
      switch resolver {
      case .promise: deliver()
      case .library(let trampoline): deliver(in: trampoline)
      case .task: deliverElsewhere(in: .current)
      }
    }
    return true
  }

  /// Breaks a pending state for ever: its consumers get a delivery without a result, which releases callbacks and breaks derived
  /// states.
  @usableFromInline
  final func breakForever(_ reason: BreakReason, in trampoline: Trampoline?) {
    var released: Released?
    let settlement = settleBroken(reason, &released)
    released.take()?.release()
    if case .deliver = settlement { deliver(in: trampoline) }  // `settleBroken` never takes the first consumer
  }
}
