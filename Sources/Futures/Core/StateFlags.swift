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

  /// The room for a first consumer is free; see `PromiseState`.
  ///
  /// The lock publishes what the room then holds.
  @inlinable static var hasFreeSlot: StateFlags { StateFlags(rawValue: 2) }

  /// The result is a failure that no consumer and no reader has seen; a hint for diagnostics.
  static var isUnobservedFailure: StateFlags { StateFlags(rawValue: 4) }

  /// Only the producer and one follower refer to the state, so no other consumer can ever attach.
  ///
  /// Under the lock. Without it, a hint.
  static var isPrivate: StateFlags { StateFlags(rawValue: 32) }

  /// The state is broken: settled without an outcome, because its failure type cannot hold `BrokenPromise`.
  ///
  /// Set under the lock, before the releasing store of the phase that settles the state.
  @usableFromInline static var isBroken: StateFlags { StateFlags(rawValue: 64) }

  /// The state was cancelled.
  ///
  /// Under the lock. The state can still be pending, if its failure type cannot represent cancellation.
  static var isCancelled: StateFlags { StateFlags(rawValue: 8) }

  /// The state only waits, for a delay or a context, and no work comes before it; it has no share of a progress.
  ///
  /// Set before the state is shared.
  @inlinable static var onlyWaits: StateFlags { StateFlags(rawValue: 16) }

  /// A task resolves the state on the main actor, where its closure runs, so a blocked main thread keeps it pending (R10a).
  ///
  /// Set before the state is shared. It says nothing about a state with another producer.
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

  /// Notes that a consumer or a reader sees the result.
  @usableFromInline
  final func noteObserved() { remove(.isUnobservedFailure) }
}
