public import Synchronization

/// The part of a future's shared state that does not depend on its types: phase, lock, consumers.
///
/// One object per unresolved future. Its owners are the handles (`Future`), and *one* producer while it is unresolved: a
/// `Promise`, a task, or the node of a derived future in the list of its source. Consumers are owned by the list.
/// A cycle (state → node → closure → state) lasts as long as somebody can still resolve the state, because a producer that
/// goes away breaks it, and both ends empty the list. Futures that were made to follow each other in a circle, and are
/// observed, are the exception: nothing ever resolves or breaks them.
///
/// Memory: header 16, phase, flags and lock 8, list 8, details 8, outcome; 49 bytes for an `Int`.
@_fixed_layout
@usableFromInline
package class AnySharedState: @unchecked Sendable {
  // @unchecked: `consumers`, `details` and the result are protected by `lock` until `phase` is final, and never change
  // after it.

  /// Where a future is in its life.
  ///
  /// Changes under the lock only, but for `closing` to `resolved`.
  @usableFromInline
  package enum Phase: UInt8, AtomicRepresentable, Comparable {
    /// Unresolved, and what resolves it (`lazy`) starts with the first consumer. Next is `pending`.
    case dormant
    /// Unresolved, its producer may resolve it. Next is any of those below.
    case pending
    /// Unresolved, and resolves as another future does (`Promise.follow`). Next is any of those below.
    case following
    /// Unresolved, and nobody will ever resolve it, which is no mistake (`never`); it can still be cancelled.
    ///
    /// Owned by its handles, and by those of what it was derived from. Next is `delivering` or `resolved`.
    case orphaned
    /// Merged into the state that `details` names, to which all that arrives here goes. Final.
    case merged
    /// Unresolved for ever: nobody is left to resolve it, and its failure type cannot say so. Final.
    case broken
    /// Resolved; one thread runs the consumers, the others append theirs. Next is `closing` or `resolved`.
    case delivering
    /// Resolved; one thread runs the last of the consumers, and none has come since.
    ///
    /// Next is `delivering` if another one comes, which needs the lock, or `resolved`, which does not: that saves each delivery
    /// the second of two turns with the lock. Whoever exchanges the phase first has decided.
    case closing
    /// Resolved, and all consumers that were attached have been run or handed to their contexts. Final.
    case resolved

    @inlinable
    package static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
  }

  @usableFromInline final let lock = Lock()

  /// Stored with `releasing` after what it announces (the result), loaded with `acquiring` where that is read without the
  /// lock, and relaxed where the lock is held.
  @usableFromInline final let phase = Atomic<Phase>(.pending)

  /// Whether a `Promise` exists, from which new handles can be had.
  ///
  /// Under the lock, but for the initial value.
  @exclusivity(unchecked) @usableFromInline final var hasPromise: Bool

  /// Whether the result is a failure that nobody has looked at.
  ///
  /// Relaxed: it is only a hint for diagnostics, read in `deinit`, which comes after every other access.
  @usableFromInline final let isUnobservedFailure = Atomic<Bool>(false)

  /// Whether the state was cancelled; it may still be unresolved, if its failure type cannot say so.
  ///
  /// Under the lock.
  @exclusivity(unchecked) @usableFromInline final var isCancelled = false

  @exclusivity(unchecked) @usableFromInline final var consumers = CallbackList()

  /// Who resolves this state, where somebody must know; and what few states have.
  ///
  /// Under the lock, but for the initial value.
  @exclusivity(unchecked) @usableFromInline final var details = StateDetails.none

  @inlinable
  init(hasPromise: Bool) { self.hasPromise = hasPromise }

  /// A state whose producer starts with the first consumer.
  init(_ start: LazyStart) {
    hasPromise = false
    details = .dormant(start)
    phase.store(.dormant, ordering: .relaxed)  // nobody else has the state yet
  }

  deinit {
    let phase = phase.load(ordering: .relaxed)
    if phase <= .orphaned { releaseConsumers() }
    if phase == .merged { releaseTargets() }
    if isUnobservedFailure.load(ordering: .relaxed), FuturesDiagnostics.hasHandler { reportUnobservedFailure() }
  }

  /// Ends a state that nobody can resolve any more: it fails with the reason if its failure type can hold that, and stays
  /// unresolved for ever otherwise, its callbacks released (R4).
  @usableFromInline
  package func breakPromise(_ reason: BreakReason, in loop: DeliveryLoop?) {
    breakForever(reason, in: loop)
  }

  func reportUnobservedFailure() {}

  /// Lets go of the states that this one was merged into, one after another, since a chain of them may be long.
  private final func releaseTargets() {
    var next = takeTarget()
    while let state = next, state.phase.load(ordering: .relaxed) == .merged {
      _ = consume state
      guard isKnownUniquelyReferenced(&next) else { return }
      next = next?.takeTarget()
    }
  }

  private final func takeTarget() -> AnySharedState? {
    guard case .merged(let target) = details else { return nil }
    details = .none
    return target
  }

  /// Lets go of the consumers of an orphan, which may own the next orphan, and so on; this nests only as deep as deliveries do.
  ///
  /// An unresolved state that is none has consumers only where a token was left that could have cancelled it: while others
  /// have consumers, a producer owns them, and one that goes away breaks them.
  private final func releaseConsumers() {
    if consumers.isEmpty, case .none = details { return }
    var lists = [consumers]
    if case .record(let record) = details {
      lists.append(record.silent)
      if let progress = record.progress { lists.append(progress.listeners) }
    }
    let release = { [lists] in
      for var list in lists {
        while list.popFirst() != nil {}
      }
    }
    let loop = DeliveryLoop.current
    guard loop.enter() else { return loop.defer(release) }
    release()
    loop.leave()
  }

  // MARK: What needs the types

  /// What nobody needs any more, now that a consumer has been removed; called under the lock, released outside it.
  func takeUnneeded() -> AnyObject? { nil }

  /// Whether the failure type can say "cancelled".
  class var canSayCancelled: Bool { false }

  /// Whether the state is resolved with a value.
  var hasSucceeded: Bool { false }

  /// Resolves the state as cancelled, if its failure type can say so, and nobody has resolved it before.
  func endCancelled() {}
}

extension AnySharedState {
  /// The state that stands for this one: itself, unless it was merged into another.
  @usableFromInline
  final var root: AnySharedState {
    var state = self
    // Acquiring: what the merge wrote before it, which is final.
    while state.phase.load(ordering: .acquiring) == .merged, case .merged(let target) = state.details { state = target }
    return state
  }

  /// Whether this state, or what it was merged into, is resolved.
  @usableFromInline
  final var hasEnded: Bool { root.isResolved }

  /// Whether this state, or what it was merged into, was cancelled.
  @usableFromInline
  final var wasCancelled: Bool {
    let state = root
    return state.lock.withLock { state.isCancelled }
  }

  @usableFromInline
  package final var isResolved: Bool {
    phase.load(ordering: .relaxed) >= .delivering
  }

  @usableFromInline
  final var breakReason: BreakReason? {
    // Acquiring: pairs with the releasing store after the reason was written, which is final.
    guard phase.load(ordering: .acquiring) == .broken, case .broken(let reason) = producer else { return nil }
    return reason
  }
}
