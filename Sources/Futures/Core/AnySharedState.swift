public import Synchronization

/// The part of a future's shared state that does not depend on its types: phase, lock, consumers.
///
/// One object per unresolved future. Its owners are the handles (`Future`), and *one* producer while it is unresolved: a
/// `Promise`, a task, or the node of a derived future in the list of its source. Consumers are owned by the list.
/// A cycle (state → node → closure → state) lasts as long as somebody can still resolve the state, because a producer that
/// goes away breaks it, and both ends empty the list. Futures that were made to follow each other in a circle, and are
/// observed, are the exception: nothing ever resolves or breaks them.
///
/// Memory: header 16, phase and lock 8, list 8, extension 8, outcome; 49 bytes for an `Int`.
@usableFromInline
package class AnySharedState: @unchecked Sendable {
  // @unchecked: `consumers`, `extension` and the result are protected by `lock` until `phase` is final, and never change
  // after it.

  /// Where a future is in its life.
  ///
  /// Changes under the lock only.
  @usableFromInline
  package enum Phase: UInt8, AtomicRepresentable, Comparable {
    /// Unresolved, and what resolves it (`lazy`) starts with the first consumer. Next is `pending`.
    case dormant
    /// Unresolved, its producer may resolve it. Next is any of those below.
    case pending
    /// Unresolved, and resolves as another future does (`Promise.follow`). Next is `broken`, `delivering` or `resolved`.
    case following
    /// Merged into the state that `extension` names, to which all that arrives here goes. Final.
    case merged
    /// Unresolved for ever: nobody is left to resolve it, and its failure type cannot say so; or nobody ever was (`never`).
    /// Final.
    case broken
    /// Resolved; one thread runs the consumers, the others append theirs. Next is `resolved`.
    case delivering
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

  @exclusivity(unchecked) @usableFromInline final var consumers = CallbackList()

  /// What few states have: a `StateLabel`, the `LazyStart` of a dormant state, the `BreakReason` of a broken one, or the
  /// target of a merged one.
  ///
  /// Under the lock. Room for cancellation and progress.
  @exclusivity(unchecked) @usableFromInline final var `extension`: AnyObject?

  @inlinable
  init(hasPromise: Bool) { self.hasPromise = hasPromise }

  /// A state whose producer starts with the first consumer.
  init(_ start: LazyStart) {
    hasPromise = false
    self.extension = start
    phase.store(.dormant, ordering: .relaxed)  // nobody else has the state yet
  }

  deinit {
    // `consumers` is empty: while it was not, a producer owned this state, and a producer that goes away breaks it.
    if phase.load(ordering: .relaxed) == .merged { releaseTargets() }
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
    let target = self.extension
    self.extension = nil
    return target.map { unsafeDowncast($0, to: AnySharedState.self) }
  }
}

/// The name of a state, for diagnostics.
///
/// Few have one.
final class StateLabel {
  let text: String

  init(_ text: String) { self.text = text }
}

/// What starts the producer of a dormant state.
final class LazyStart: Sendable {
  let start: @Sendable (AnySharedState) -> Void

  init(_ start: @escaping @Sendable (AnySharedState) -> Void) { self.start = start }
}

/// Why a state is broken; one object for all that were derived from the same promise.
@usableFromInline
package final class BreakReason: Sendable {
  /// The mistake; `nil` where it is none, since the future was made to never resolve.
  @usableFromInline let error: BrokenPromise?

  init(_ error: BrokenPromise?) { self.error = error }

  /// The reason of `Future.never`, and of what is derived from it.
  static let never = BreakReason(nil)
}

extension AnySharedState {
  /// The state that stands for this one: itself, unless it was merged into another.
  @usableFromInline
  final var root: AnySharedState {
    var state = self
    // Acquiring: what the merge wrote before it.
    while state.phase.load(ordering: .acquiring) == .merged {
      state = unsafeDowncast(state.extension.unsafelyUnwrapped, to: AnySharedState.self)
    }
    return state
  }

  @usableFromInline
  package final var isResolved: Bool {
    phase.load(ordering: .relaxed) >= .delivering
  }

  @usableFromInline
  final var label: String? {
    lock.withLock { (self.extension as? StateLabel)?.text }
  }

  /// Names the state, if it has nothing else to remember.
  @usableFromInline
  final func setLabel(_ label: String) {
    let named = StateLabel(label)
    lock.withLock {
      if self.extension == nil { self.extension = named }
    }
  }

  @usableFromInline
  final var breakReason: BreakReason? {
    // Acquiring: pairs with the releasing store after the reason was written, which is final.
    guard phase.load(ordering: .acquiring) == .broken else { return nil }
    return unsafeDowncast(self.extension.unsafelyUnwrapped, to: BreakReason.self)
  }
}
