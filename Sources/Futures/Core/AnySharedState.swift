internal import Dispatch
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
    /// Unresolved, its producer may resolve it. Next is any other.
    case pending
    /// Unresolved, and resolves as another future does (`Promise.follow`). Next is `broken`, `delivering` or `resolved`.
    case following
    /// Merged into the state that `extension` names, to which all that arrives here goes. Final.
    case merged
    /// Unresolved for ever: nobody is left to resolve it, and its failure type cannot say so. Final.
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

  /// What few states have: a `StateLabel`, the `BreakReason` of a broken state, or the target of a merged one.
  ///
  /// Under the lock. Room for cancellation and progress.
  @exclusivity(unchecked) @usableFromInline final var `extension`: AnyObject?

  @inlinable
  init(hasPromise: Bool) { self.hasPromise = hasPromise }

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

/// Why a state is broken; one object for all that were derived from the same promise.
@usableFromInline
package final class BreakReason: Sendable {
  @usableFromInline let error: BrokenPromise

  init(_ error: BrokenPromise) { self.error = error }
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

// MARK: - Consumers

extension AnySharedState {
  /// Adds a consumer; delivers to it at once, or before the thread's outermost delivery returns, if that is due.
  /// - Returns: `false` if the consumer was withdrawn before it came here.
  @usableFromInline
  @discardableResult
  package final func attach(_ node: CallbackNode) -> Bool {
    switch append(node) {
    case .listed: break
    case .withdrawn: return false
    case .due:
      let loop = DeliveryLoop.current
      let entered = loop.enter()
      if entered || !node.kind.mayRunInline {
        node.deliver(node, self, loop)
      } else {
        loop.defer { node.deliver(node, self, loop) }
      }
      if entered { loop.leave() }
    }
    return true
  }

  private enum Attachment { case listed, due, withdrawn }

  /// Appends `node` unless the state is final; then it is due at once, and counts as taken from the list.
  private final func append(_ node: CallbackNode) -> Attachment {
    lock.withLock {
      guard node.status.load(ordering: .relaxed) == .new else { return .withdrawn }
      isUnobservedFailure.store(false, ordering: .relaxed)
      switch phase.load(ordering: .relaxed) {
      case .pending, .following, .delivering:
        node.status.store(.listed, ordering: .relaxed)
        consumers.append(node)
        return .listed
      case .broken, .resolved:
        markTaken(node)
        return .due
      case .merged:
        preconditionFailure("A consumer arrived at a future that was merged while nobody could reach it.")
      }
    }
  }

  /// Notes that `node` left the list, or never got there, to be delivered to.
  ///
  /// Under the lock.
  private final func markTaken(_ node: CallbackNode) {
    let staysRemovable =
      switch node.kind {
      case .inline: false
      case .queued, .custom: true
      // Who waits for a broken future gets nothing, and can still give up.
      case .waiter: phase.load(ordering: .relaxed) == .broken
      }
    node.status.store(staysRemovable ? .submitted : .finished, ordering: .relaxed)
  }

  /// Runs the consumers before the caller returns: now, for user code; after the current stage, for a stage of the library.
  @usableFromInline
  final func deliver(in loop: DeliveryLoop?) {
    if let loop {
      loop.deliverLater(self)
    } else {
      DeliveryLoop.current.deliver(self)
    }
  }

  /// Runs the consumers on a thread of the global queue, where no task is current.
  @usableFromInline
  package final func deliverElsewhere() {
    DispatchQueue.global().async { DeliveryLoop.current.deliver(self) }
  }

  /// Runs the consumers, in order, until none is left; those that arrive meanwhile are appended and run here, too.
  @usableFromInline
  package final func drain(in loop: DeliveryLoop) {
    while let node = takeFirst() { node.deliver(node, self, loop) }
  }

  private final func takeFirst() -> CallbackNode? {
    lock.withLock {
      guard let node = consumers.popFirst() else {
        if phase.load(ordering: .relaxed) == .delivering { phase.store(.resolved, ordering: .releasing) }
        return nil
      }
      markTaken(node)
      return node
    }
  }

  /// Lets go of all consumers, in this state and those that wait for it, since there will be no result.
  @usableFromInline
  final func breakForever(_ reason: BreakReason, in loop: DeliveryLoop?) {
    let (previous, isDue) = lock.withLock {
      let previous = phase.load(ordering: .relaxed)
      guard previous <= .following else { return (previous, false) }
      self.extension = reason
      // Releasing: whoever sees the phase finds the reason.
      phase.store(.broken, ordering: .releasing)
      return (previous, !consumers.isEmpty)
    }
    if previous == .merged { return root.breakForever(reason, in: loop) }
    if isDue { deliver(in: loop) }
  }

  /// Takes out a consumer that has not been started.
  ///
  /// O(1).
  /// - Returns: Whether it was kept from running.
  @usableFromInline
  package final func remove(_ node: CallbackNode) -> Bool {
    let listed = lock.withLock { () -> CallbackNode? in
      guard node.status.load(ordering: .relaxed) == .listed else { return nil }
      node.status.store(.finished, ordering: .relaxed)
      return consumers.remove(node)
    }
    guard listed != nil || node.claimSubmitted() else { return false }
    node.release()
    return true
  }

  /// Resumes those who wait, here and now, and leaves the callbacks in the list for another thread to run.
  /// - Returns: Whether there are any.
  @usableFromInline
  package final func resumeWaiters(in loop: DeliveryLoop) -> Bool {
    var (waiters, hasCallbacks) = lock.withLock {
      guard phase.load(ordering: .relaxed) == .delivering else { return (CallbackList(), !consumers.isEmpty) }
      let waiters = consumers.takeWaiters(as: .finished)
      if consumers.isEmpty { phase.store(.resolved, ordering: .releasing) }
      return (waiters, !consumers.isEmpty)
    }
    while let waiter = waiters.popFirst() { waiter.deliver(waiter, self, loop) }
    return hasCallbacks
  }

  /// Withdraws a consumer that has not come here yet.
  @usableFromInline
  package final func withdraw(_ node: CallbackNode) -> Bool {
    lock.withLock {
      guard node.status.load(ordering: .relaxed) == .new else { return false }
      node.status.store(.finished, ordering: .relaxed)
      return true
    }
  }
}
