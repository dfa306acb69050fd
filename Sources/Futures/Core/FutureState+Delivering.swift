internal import Dispatch

// MARK: - Attaching

extension FutureState {
  /// Attaches a consumer.
  ///
  /// If the state is settled, the consumer gets its delivery now, or before the thread's outermost delivery returns.
  /// - Returns: `false` if the consumer was removed or cancelled before this call.
  @usableFromInline
  @discardableResult
  package final func attach(_ consumer: Consumer) -> Bool { attach(retainConsumer(consumer)) }

  /// As `attach(_:)` with a consumer, but takes over the caller's reference without counting it again.
  @usableFromInline
  @discardableResult
  package final func attach(_ reference: Unmanaged<Consumer>) -> Bool {
    switch append(reference) {
    case .listed(starting: nil): break
    case .listed(starting: let lazy?): start(lazy)
    case .left:
      releaseConsumer(reference)
      return false
    case .orphaned:
      reference._withUnsafeGuaranteedRef { consumer in
        // A state that is derived from an orphan never resolves either.
        consumer.stateToOrphan(from: self)?.orphan(leaving: OrphanedInputs(consumer, of: self))
      }
      releaseConsumer(reference)
    case .due: deliver(to: reference)
    }
    return true
  }

  /// Delivers to a consumer of a settled state: now, or before the thread's outermost delivery returns.
  private final func deliver(to reference: Unmanaged<Consumer>) {
    let trampoline = Trampoline.current
    let entered = trampoline.enter()
    // Enqueueing work and resuming a waiter do not nest deliveries, so both happen now at any depth.
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

  /// Starts the producer, if the state is dormant and was not cancelled.
  final func start() {
    if let lazy = takeStartOfProducer() { start(lazy) }
  }

  /// Runs the start of a producer, or defers it while deliveries nest too deeply.
  ///
  /// A start is user code that can observe the next lazy future, whose start observes the next one, and so on.
  private final func start(_ lazy: LazyStart) {
    let trampoline = Trampoline.current
    guard trampoline.enter() else {
      return trampoline.defer {
        // The producer of a state that was cancelled meanwhile never starts (R2b).
        if self.wasCancelled { self.orphan() } else { lazy.start?(self) }
      }
    }
    lazy.start?(self)
    trampoline.leave()
  }
}

// MARK: - Delivering

extension FutureState {
  /// Runs the consumers now.
  ///
  /// With the trampoline of a running delivery it only queues the state there, so that stages never nest.
  final func deliver(in trampoline: Trampoline?) {
    if let trampoline {
      trampoline.storage.pointee.ready.append(Trampoline.ReadyState(state: self, isForProgress: false))
    } else {
      Trampoline.current.deliver(self)
    }
  }

  /// Runs the consumers on a thread of the global queue, where no task is current.
  final func deliverElsewhere() {
    let deliver: @Sendable () -> Void = { Trampoline.current.deliver(self) }
    // The test kit chooses when this delivery runs.
    if let submit = Trampoline.current.storage.pointee.submitElsewhere { return submit(deliver) }
    DispatchQueue.global().async(execute: deliver)
  }

  /// Runs the consumers in order, also the consumers that attach meanwhile.
  /// - Parameters:
  ///   - trampoline: The trampoline of this thread.
  ///   - first: The first consumer, if the resolution took it.
  final func drain(in trampoline: Trampoline, startingWith first: TakenConsumer? = nil) {
    if let next = first ?? takeNextConsumer(isBeginning: true), !run(next, in: trampoline) { drainRest(in: trampoline) }
  }

  /// Runs the consumers after the first one.
  ///
  /// This thread runs each consumer that it found, and each that it attaches itself, before its outermost call returns (R2). So it
  /// also runs those between them. Of those that other threads attach after them it runs a constant number, and the global queue
  /// runs the rest, in the same order (R28).
  @inline(never)
  private final func drainRest(in trampoline: Trampoline) {
    var last: Consumer?  // the last one that this thread must run
    var taken = 0
    repeat {
      last = trampoline.takeLast(of: self) ?? last
      // Not after each consumer, because `hasListed` takes the lock.
      if taken == trampoline.maximumForOthers {
        guard let last, hasListed(last) else {
          // Only consumers of other threads are left. Waiters resume now, because another thread can depend on them.
          if resumeWaiters(in: trampoline) { deliverElsewhere() }
          return
        }
        taken = 0
      }
      guard let consumer = takeNextConsumer() else { return }
      taken += 1
      if run(consumer, in: trampoline) { return }
    } while true
  }

  /// Runs a consumer.
  /// - Returns: Whether the delivery has ended.
  @inline(__always)
  private final func run(_ consumer: TakenConsumer, in trampoline: Trampoline) -> Bool {
    trampoline.willRun(consumer.reference, of: self)
    consumer.reference._withUnsafeGuaranteedRef { $0.deliver($0, self, trampoline) }
    trampoline.didRun()
    releaseConsumer(consumer.reference)
    return consumer.isLast && endDelivery()
  }

  /// Resumes the waiters now, and leaves the callbacks in the list for another thread.
  /// - Returns: Whether consumers are left, so that the caller arranges a later delivery to them.
  final func resumeWaiters(in trampoline: Trampoline) -> Bool {
    var (waiters, leavesCallbacks) = takeWaiters()
    while let waiter = waiters.popFirst()?.takeRetainedValue() { waiter.deliver(waiter, self, trampoline) }
    return leavesCallbacks
  }
}

// MARK: - Removing

extension FutureState {
  /// Removes a consumer that has not started; O(1).
  /// - Returns: Whether this kept the consumer from running.
  @usableFromInline
  package final func remove(_ consumer: Consumer) -> Bool {
    let departure = leave(consumer)
    // A submitted consumer is in no list. Its context skips it after this claim.
    guard departure != nil || consumer.claimSubmitted() else { return false }
    consumer.dropCaptures()
    if let reference = departure?.reference { releaseConsumer(reference) }
    return true
  }

  /// Returns a reference to a consumer for a list of this state, which `releaseConsumer` releases later.
  ///
  /// A promise's state in its own list is not counted (invariant 5).
  @inline(__always)
  final func retainConsumer(_ consumer: Consumer) -> Unmanaged<Consumer> {
    consumer === self ? .passUnretained(consumer) : .passRetained(consumer)
  }

  /// Releases the reference that a list of this state owned.
  @inline(__always)
  final func releaseConsumer(_ consumer: Unmanaged<Consumer>) {
    if consumer.toOpaque() != Unmanaged.passUnretained(self).toOpaque() { consumer.release() }
  }
}
