/// Flags of a state in one byte, changed with its lock and without it.
///
/// Relaxed: no flag publishes other memory. Under the lock, the lock orders the flags; without it, a flag is a hint or picks a
/// winner. Each change leaves the other flags alone, so it is one atomic operation.
@frozen
@usableFromInline
struct StateFlags: OptionSet {
  @usableFromInline let rawValue: UInt8

  @inlinable
  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A `Promise` exists, which can make new handles; changes under the lock.
  @inlinable static var hasPromise: StateFlags { StateFlags(rawValue: 1) }

  /// The room of a `PromiseState` for its first callback or join is free.
  ///
  /// The thread that clears the flag fills the room before it attaches the state. The lock then publishes the content.
  @inlinable static var hasFreeSlot: StateFlags { StateFlags(rawValue: 2) }

  /// The result is a failure that no consumer and no reader has seen; a hint for diagnostics.
  static var isUnobservedFailure: StateFlags { StateFlags(rawValue: 4) }

  /// Only the producer and one follower refer to the state, so no other consumer can ever attach.
  ///
  /// Set under the lock; without it, a hint.
  static var isPrivate: StateFlags { StateFlags(rawValue: 32) }

  /// The state is broken: settled without an outcome, because its failure type cannot hold `BrokenPromise`.
  ///
  /// Set under the lock, before the releasing store of the phase that settles the state.
  @usableFromInline static var isBroken: StateFlags { StateFlags(rawValue: 64) }

  /// The state was cancelled.
  ///
  /// Set under the lock. The state can still be pending, if its failure type cannot represent cancellation.
  static var isCancelled: StateFlags { StateFlags(rawValue: 8) }

  /// The state waits for nothing but a delay or a context, and so gets no share in the progress of other states.
  ///
  /// Set before the state is shared.
  @inlinable static var onlyWaits: StateFlags { StateFlags(rawValue: 16) }

  /// A task resolves the state on the main actor, where its closure runs, so a blocked main thread keeps it pending (R10a).
  ///
  /// Set before the state is shared. It has a meaning only if the producer is a task.
  static var needsMainActor: StateFlags { StateFlags(rawValue: 128) }
}

extension FutureState {
  @inlinable
  final func has(_ flag: StateFlags) -> Bool { flags.load(ordering: .relaxed) & flag.rawValue != 0 }

  @usableFromInline
  final func insert(_ flag: StateFlags) { flags.bitwiseOr(flag.rawValue, ordering: .relaxed) }

  /// Clears a flag.
  /// - Returns: Whether it was set.
  @usableFromInline
  @discardableResult
  final func remove(_ flag: StateFlags) -> Bool {
    // The load first, because it costs less than an atomic change.
    has(flag) && flags.bitwiseAnd(~flag.rawValue, ordering: .relaxed).oldValue & flag.rawValue != 0
  }

  @usableFromInline final var isCancelled: Bool { has(.isCancelled) }

  /// Notes that a consumer or a reader sees the result, so that a failure is not reported as unobserved.
  @usableFromInline
  final func noteObserved() { remove(.isUnobservedFailure) }
}
