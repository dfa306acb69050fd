internal import Dispatch
/// A consumer that a delivery took from the list, with the list's reference to it.
///
/// If it is the last one, the list is empty now, and the delivery can end without the lock.
typealias TakenConsumer = (reference: Unmanaged<Consumer>, isLast: Bool)

// MARK: - Attaching

extension FutureState {
  /// Attaches a consumer.
  ///
  /// Delivers to it now, or before the thread's outermost delivery returns, if the state is settled.
  /// - Returns: `false` if the consumer was withdrawn before.
  @inlinable
  @discardableResult
  package final func attach(_ consumer: Consumer) -> Bool { attach(retainConsumer(consumer)) }

  /// Attaches a consumer, whose reference the list takes over without counting it again.
  @usableFromInline
  @discardableResult
  package final func attach(_ reference: Unmanaged<Consumer>) -> Bool {
    switch append(reference) {
    case .listed: break
    case .first(let lazy): start(lazy)
    case .withdrawn:
      releaseConsumer(reference)
      return false
    case .orphaned:
      let consumer = reference.takeRetainedValue()
      consumer.stateToOrphan(from: self)?.orphan(leaving: OrphanedInputs(consumer, of: self))
    case .due: deliver(to: reference)
    }
    return true
  }

  private final func deliver(to reference: Unmanaged<Consumer>) {
    let trampoline = Trampoline.current
    let entered = trampoline.enter()
    if entered || reference._withUnsafeGuaranteedRef({ !$0.kind.mayRunInline }) {
      reference._withUnsafeGuaranteedRef { $0.deliver($0, self, trampoline) }
      releaseConsumer(reference)
    } else {
      trampoline.defer {
        reference._withUnsafeGuaranteedRef { $0.deliver($0, self, trampoline) }
        self.releaseConsumer(reference)
      }
    }
    if entered { trampoline.leave() }
  }

  private enum Attachment { case listed, first(LazyStart), orphaned, due, withdrawn }

  /// Appends a consumer, or marks it as taken if the state is settled.
  /// - Parameter reference: A reference to the consumer. The list owns it if the consumer is `listed` or the `first`, and the
  ///   caller does otherwise.
  /// - Returns: The caller's next step.
  private final func append(_ reference: Unmanaged<Consumer>) -> Attachment {
    lock.withLock {
      let (status, kind) = reference._withUnsafeGuaranteedRef { ($0.status.load(ordering: .relaxed), $0.kind) }
      guard status == .new || status == .silent else { return .withdrawn }
      noteObserved()
      switch phase.load(ordering: .relaxed) {
      case .dormant where isCancelled:
        list(reference)
        return .listed
      case .dormant:
        list(reference, status)
        return .first(takeStart())
      case .pending, .following, .delivering,
        // Relaxed: the delivering thread finds the new phase, then takes the lock, and so sees the list.
        .closing where phase.compareExchange(expected: .closing, desired: .delivering, ordering: .relaxed).exchanged:
        list(reference, status)
        return .listed
      case .orphaned where kind != .input:
        // The caller consumes one reference, so the list needs its own. A promise's state is not counted in its own list.
        list(isOwn(reference) ? reference : reference.retain(), status)
        return isOwn(reference) ? .listed : .orphaned
      // The caller notifies the input that the state never resolves. The input can still leave it.
      case .orphaned:
        if status == .new { reference._withUnsafeGuaranteedRef { countNotified($0) } }
        return .due
      case .broken:
        if case .broken(let reason) = producer { reason.allowAnotherReport() }
        fallthrough
      case .closing, .resolved:
        reference._withUnsafeGuaranteedRef { markTaken($0) }
        return .due
      case .merged:
        preconditionFailure("A consumer was attached to a merged future. Merge only futures without other handles.")
      }
    }
  }

  /// Makes a dormant state pending, and returns the start of its producer for the caller to run.
  ///
  /// Under the lock.
  private final func takeStart() -> LazyStart {
    guard case .start(let lazy) = producer else { preconditionFailure("A dormant future has no producer to start.") }
    producer = .none
    // Relaxed: it publishes no data. The data of a pending state is read under the lock.
    phase.store(.pending, ordering: .relaxed)
    // A promise is about to exist, so no thread must merge the state.
    insert(.hasPromise)
    return lazy
  }

  /// Starts the producer of a dormant state.
  final func start() {
    let lazy = lock.withLock {
      phase.load(ordering: .relaxed) == .dormant && !isCancelled ? takeStart() : nil
    }
    if let lazy { start(lazy) }
  }

  /// Adds a consumer to the list, or to the silent consumers if it was silent before it attached.
  ///
  /// Under the lock.
  private final func list(_ reference: Unmanaged<Consumer>, _ status: Consumer.Status = .new) {
    if status == .silent, !isResolved {
      madeExtras.silent.append(reference)
    } else {
      // Releasing: see `Stage.source`.
      reference._withUnsafeGuaranteedRef { $0.status.store(.listed, ordering: .releasing) }
      consumers.append(reference)
    }
  }

  /// Runs the start of a producer, for the first consumer.
  ///
  /// This is user code of unknown depth: it can observe the next lazy future.
  private final func start(_ lazy: LazyStart) {
    let trampoline = Trampoline.current
    guard trampoline.enter() else {
      return trampoline.defer {
        if self.wasCancelled { self.orphan() } else { lazy.start?(self) }
      }
    }
    lazy.start?(self)
    trampoline.leave()
  }

  /// Sets the status of a consumer that is about to get its delivery.
  ///
  /// Under the lock.
  final func markTaken(_ consumer: Consumer) {
    let staysRemovable =
      switch consumer.kind {
      case .inline, .follower, .shield, .input, .progress: false
      case .queued, .custom: true
      // The waiter of a broken future gets no result. Its task can still end the wait.
      case .waiter: phase.load(ordering: .relaxed) == .broken
      }
    consumer.status.store(staysRemovable ? .submitted : .finished, ordering: .relaxed)
  }
}

// MARK: - Delivering

extension FutureState {
  /// Runs the consumers: at once in user code, after the current stage in a stage.
  final func deliver(in trampoline: Trampoline?) {
    if let trampoline {
      trampoline.storage.pointee.ready.append(self)
    } else {
      Trampoline.current.deliver(self)
    }
  }

  /// Runs the consumers on a thread of the global queue, where no task is current.
  final func deliverElsewhere() {
    let deliver: @Sendable () -> Void = { Trampoline.current.deliver(self) }
    if let submit = Trampoline.current.storage.pointee.submitElsewhere { return submit(deliver) }
    DispatchQueue.global().async(execute: deliver)
  }

  /// Runs the consumers in order, also the consumers that attach meanwhile.
  /// - Parameters:
  ///   - trampoline: The trampoline of this thread.
  ///   - first: The first consumer, if the resolution took it.
  final func drain(in trampoline: Trampoline, startingWith first: TakenConsumer? = nil) {
    var taken = first ?? takeFirst()
    while let consumer = taken {
      trampoline.willRun(consumer.reference, of: self)
      consumer.reference._withUnsafeGuaranteedRef { $0.deliver($0, self, trampoline) }
      trampoline.didRun()
      releaseConsumer(consumer.reference)
      if consumer.isLast, endDelivery() { return }
      taken = takeFirst()
    }
  }

  /// Takes the first consumer from the list.
  ///
  /// After the last one, the delivery can end without the lock.
  private final func takeFirst() -> TakenConsumer? {
    lock.withLock {
      let phase = phase.load(ordering: .relaxed)
      guard let reference = consumers.popFirst() else {
        if phase == .delivering { self.phase.store(.resolved, ordering: .releasing) }
        return nil
      }
      reference._withUnsafeGuaranteedRef { markTaken($0) }
      let isLast = consumers.isEmpty
      if isLast, phase == .delivering { self.phase.store(.closing, ordering: .releasing) }
      return (reference, isLast)
    }
  }

  #if DEBUG
    /// Whether `stage` waits for its delivery in the list.
    final func hasListed(_ stage: FutureState) -> Bool {
      lock.withLock {
        let status = stage.status.load(ordering: .acquiring)  // see `Stage.source`
        return (status == .listed || status == .silent) && stage.isConsumer(of: self)
      }
    }
  #endif

  /// Ends a delivery, unless another consumer came while the last one ran.
  private final func endDelivery() -> Bool {
    // Releasing: a thread that finds the state resolved runs its callback at once, after the callbacks of this one (R2).
    let (hasEnded, phase) = phase.compareExchange(expected: .closing, desired: .resolved, ordering: .releasing)
    // A broken state takes no more consumers.
    return hasEnded || phase == .broken
  }

  /// Resumes the waiters now, and leaves the callbacks in the list for another thread.
  /// - Returns: Whether callbacks are left.
  final func resumeWaiters(in trampoline: Trampoline) -> Bool {
    var (waiters, hasCallbacks) = lock.withLock {
      guard phase.load(ordering: .relaxed) == .delivering else { return (ConsumerList(), !consumers.isEmpty) }
      // Listeners get the last progress before a waiter resumes (R20).
      guard consumers.first?._withUnsafeGuaranteedRef({ $0.kind }) != .progress else { return (ConsumerList(), true) }
      let waiters = consumers.takeWaiters()
      if consumers.isEmpty { phase.store(.resolved, ordering: .releasing) }
      return (waiters, !consumers.isEmpty)
    }
    while let waiter = waiters.popFirst()?.takeRetainedValue() { waiter.deliver(waiter, self, trampoline) }
    return hasCallbacks
  }
}

// MARK: - Removing

extension FutureState {
  /// Removes a consumer that has not started.
  ///
  /// O(1).
  /// - Returns: Whether this kept the consumer from running.
  @usableFromInline
  package final func remove(_ consumer: Consumer) -> Bool {
    let (listed, unneeded) = lock.withLock { () -> (Unmanaged<Consumer>?, AnyObject?) in
      guard let listed = unlist(consumer) else { return (nil, nil) }
      return (listed, takeUnneeded())
    }
    guard listed != nil || consumer.claimSubmitted() else { return false }
    consumer.release()
    if let listed { releaseConsumer(listed) }
    _ = unneeded  // released here, outside the lock
    return true
  }

  /// Removes a consumer from its list.
  ///
  /// Under the lock.
  /// - Returns: The reference to the consumer, which the caller releases; `nil` if it is in no list of this state.
  final func unlist(_ consumer: Consumer) -> Unmanaged<Consumer>? {
    // Acquiring: see `Stage.source`.
    let status = consumer.status.load(ordering: .acquiring)
    guard status == .listed || status == .silent, consumer.isConsumer(of: self) else { return nil }
    consumer.status.store(.finished, ordering: .relaxed)
    // A consumer that became silent before it attached is in no list.
    guard consumer.next != nil else { return retainConsumer(consumer) }
    // A settled state has moved the other lists to this one.
    guard phase.load(ordering: .relaxed) <= .orphaned, let extras else { return consumers.remove(consumer) }
    if status == .silent { return extras.silent.remove(consumer) }
    if consumer.kind == .progress { return progressRecord?.remove(consumer) }
    return consumers.remove(consumer)
  }

  /// Finishes a consumer that is in no list: a new one, or an input that this orphan has notified.
  ///
  /// This orphan still counts a notified input, so the caller must call `leaveNotified()` later.
  /// - Returns: `false` if the consumer no longer has that status.
  @usableFromInline
  package final func withdraw(_ consumer: Consumer, from status: Consumer.Status = .new) -> Bool {
    lock.withLock {
      guard consumer.status.load(ordering: .relaxed) == status else { return false }
      consumer.status.store(.finished, ordering: .relaxed)
      return true
    }
  }
}
