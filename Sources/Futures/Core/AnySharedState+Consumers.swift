internal import Dispatch
internal import Synchronization

extension AnySharedState {
  /// Adds a consumer; delivers to it at once, or before the thread's outermost delivery returns, if that is due.
  /// - Returns: `false` if the consumer was withdrawn before it came here.
  @inlinable
  @discardableResult
  package final func attach(_ node: CallbackNode) -> Bool { attach(Unmanaged.passRetained(node)) }

  /// The same for a node whose reference is given away.
  ///
  /// A new node's only reference becomes that of the list, without being counted on the way.
  @usableFromInline
  @discardableResult
  package final func attach(_ reference: Unmanaged<CallbackNode>) -> Bool {
    switch append(reference) {
    case .listed: break
    case .first(let lazy): start(lazy)
    case .withdrawn:
      reference.release()
      return false
    case .orphaned: reference.takeRetainedValue().stateToOrphan()?.orphan()
    case .due:
      let node = reference.takeRetainedValue()
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

  private enum Attachment { case listed, first(LazyStart), orphaned, due, withdrawn }

  /// Appends a node unless the state is final; then it is due at once, and counts as taken from the list.
  /// - Parameter reference: A reference to the node, which is the list's if the node is `listed`, or the `first`, and the caller's
  ///   otherwise.
  /// - Returns: What is to be done now.
  private final func append(_ reference: Unmanaged<CallbackNode>) -> Attachment {
    lock.withLock {
      let (status, kind) = reference._withUnsafeGuaranteedRef { ($0.status.load(ordering: .relaxed), $0.kind) }
      guard status == .new || status == .silent else { return .withdrawn }
      isUnobservedFailure.store(false, ordering: .relaxed)
      switch phase.load(ordering: .relaxed) {
      case .dormant where isCancelled:
        list(reference)
        return .listed
      case .dormant:
        list(reference, status)
        return .first(takeStart())
      case .pending, .following, .delivering:
        list(reference, status)
        return .listed
      // Relaxed: who finds that the phase has changed takes the lock, and so sees the list.
      case .closing where phase.compareExchange(expected: .closing, desired: .delivering, ordering: .relaxed).exchanged:
        list(reference, status)
        return .listed
      case .orphaned where kind != .input:
        list(reference.retain())
        return .orphaned
      case .orphaned, .broken, .closing, .resolved:
        reference._withUnsafeGuaranteedRef { markTaken($0) }
        return .due
      case .merged:
        preconditionFailure("A consumer arrived at a future that was merged while nobody could reach it.")
      }
    }
  }

  /// Takes what starts a dormant state, which is to be started now.
  ///
  /// Under the lock.
  private final func takeStart() -> LazyStart {
    guard case .dormant(let lazy) = producer else { preconditionFailure("A dormant future has nothing to start.") }
    setProducer(.none)
    // Releasing, as every store of a phase. A promise is about to exist, so nobody must merge the state.
    phase.store(.pending, ordering: .releasing)
    hasPromise = true
    return lazy
  }

  /// Starts what resolves the state, if it is dormant.
  final func start() {
    let lazy = lock.withLock {
      phase.load(ordering: .relaxed) == .dormant && !isCancelled ? takeStart() : nil
    }
    if let lazy { start(lazy) }
  }

  /// Lists a consumer that is new, or silent from the beginning.
  ///
  /// Under the lock.
  private final func list(_ reference: Unmanaged<CallbackNode>, _ status: CallbackNode.Status = .new) {
    if status == .silent, !isResolved {
      record.silent.append(reference)
    } else {
      reference._withUnsafeGuaranteedRef { $0.status.store(.listed, ordering: .relaxed) }
      consumers.append(reference)
    }
  }

  /// Starts what resolves a dormant state, which has its first consumer now.
  ///
  /// That is user code of unknown depth, since it may observe the next lazy future.
  private final func start(_ lazy: LazyStart) {
    let loop = DeliveryLoop.current
    guard loop.enter() else {
      return loop.defer {
        if self.wasCancelled { self.orphan() } else { lazy.start?(self) }
      }
    }
    lazy.start?(self)
    loop.leave()
  }

  /// Notes that `node` left the list, or never got there, to be delivered to.
  ///
  /// Under the lock.
  private final func markTaken(_ node: CallbackNode) {
    let staysRemovable =
      switch node.kind {
      case .inline, .input, .progress: false
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
    while let (node, isLast) = takeFirst() {
      withExtendedLifetime(node) { node.deliver(node, self, loop) }
      if isLast, endDelivery() { return }
    }
  }

  /// Takes the consumer that is due; after the last one, nobody needs the lock to end the delivery.
  private final func takeFirst() -> (node: CallbackNode, isLast: Bool)? {
    lock.withLock {
      let phase = phase.load(ordering: .relaxed)
      guard let node = consumers.popFirst() else {
        if phase == .delivering { self.phase.store(.resolved, ordering: .releasing) }
        return nil
      }
      markTaken(node)
      guard consumers.isEmpty else { return (node, false) }
      if phase == .delivering { self.phase.store(.closing, ordering: .releasing) }
      return (node, true)
    }
  }

  /// Ends a delivery, unless another consumer came while the last one ran.
  private final func endDelivery() -> Bool {
    // Releasing, as every store of a phase.
    let (hasEnded, phase) = phase.compareExchange(expected: .closing, desired: .resolved, ordering: .releasing)
    // Nobody joins the consumers of a broken state.
    return hasEnded || phase == .broken
  }

  /// Lets go of all consumers, in this state and those that wait for it, since there will be no result.
  @usableFromInline
  final func breakForever(_ reason: BreakReason, in loop: DeliveryLoop?) {
    var ended: Ended?
    let (previous, isDue) = lock.withLock { () -> (Phase, Bool) in
      let previous = phase.load(ordering: .relaxed)
      guard previous <= .following else { return (previous, false) }
      var isTelling = false
      if !details.isTrivial {
        ended = takeDetails()
        isTelling = endProgress(isSuccess: false)
      }
      setProducer(.broken(reason))
      // Releasing: whoever sees the phase finds the reason.
      phase.store(.broken, ordering: .releasing)
      return (previous, !consumers.isEmpty && !isTelling)
    }
    ended?.release()
    if previous == .merged { return root.breakForever(reason, in: loop) }
    if isDue { deliver(in: loop) }
  }

  /// Takes out a consumer that has not been started.
  ///
  /// O(1).
  /// - Returns: Whether it was kept from running.
  @usableFromInline
  package final func remove(_ node: CallbackNode) -> Bool {
    let (listed, unneeded) = lock.withLock { () -> (CallbackNode?, AnyObject?) in
      guard let listed = unlist(node) else { return (nil, nil) }
      return (listed, takeUnneeded())
    }
    guard listed != nil || node.claimSubmitted() else { return false }
    node.release()
    _ = unneeded  // released here, outside the lock
    return true
  }

  /// Takes a consumer out of the list in which it is.
  ///
  /// Under the lock.
  final func unlist(_ node: CallbackNode) -> CallbackNode? {
    switch node.status.load(ordering: .relaxed) {
    case .listed:
      node.status.store(.finished, ordering: .relaxed)
      // Those who listen to the progress come to the others when the state ends.
      if node.kind == .progress, phase.load(ordering: .relaxed) <= .orphaned {
        return progressRecord?.listeners.remove(node)
      }
      return consumers.remove(node)
    case .silent:
      node.status.store(.finished, ordering: .relaxed)
      guard node.isListed else { return node }  // it has not come here yet
      // Those that were silenced come back to the others when the state ends.
      return phase.load(ordering: .relaxed) <= .orphaned ? record.silent.remove(node) : consumers.remove(node)
    case .new, .submitted, .finished: return nil
    }
  }

  /// Resumes those who wait, here and now, and leaves the callbacks in the list for another thread to run.
  /// - Returns: Whether there are any.
  @usableFromInline
  package final func resumeWaiters(in loop: DeliveryLoop) -> Bool {
    var (waiters, hasCallbacks) = lock.withLock {
      guard phase.load(ordering: .relaxed) == .delivering else { return (CallbackList(), !consumers.isEmpty) }
      // The last report comes before the completion, also for those who wait (R20).
      guard consumers.firstNode?.kind != .progress else { return (CallbackList(), true) }
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
