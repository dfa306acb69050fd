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
    case .left:  // removed or cancelled before
      releaseConsumer(reference)
      return false
    case .orphaned:
      reference._withUnsafeGuaranteedRef { consumer in
        // A derived state that only a cancellation can now resolve becomes an orphan, too; when cancelled, it leaves this state.
        consumer.stateToOrphan(from: self)?.orphan(leaving: OrphanedInputs(consumer, of: self))
      }
      releaseConsumer(reference)  // the caller's, used above; if the list has the consumer, the list owns another one
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

  /// Starts the producer for a reader of the progress, if the state is dormant and was not cancelled.
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
        // A cancelled state's producer never starts (R2b). So the state becomes an orphan, unless the cancellation resolves it.
        if self.wasCancelled { self.orphan() } else { lazy.start?(self) }
      }
    }
    lazy.start?(self)  // `nil` only in the deinitializer of `LazyStart`
    trampoline.leave()
  }
}

// MARK: - Delivering

extension FutureState {
  /// Delivers to the consumers; if a running delivery passes its `trampoline`, queues the state there, so that stages never nest.
  final func deliver(in trampoline: Trampoline? = nil) {
    if let trampoline {
      trampoline.storage.pointee.ready.append(Trampoline.ReadyState(state: self, isForProgress: false))
    } else {
      Trampoline.current.deliver(self)
    }
  }

  /// Resumes the waiters, and runs the other consumers on a thread of the global queue, where no task is current.
  ///
  /// Called to keep callbacks out of a resolving task (R8), and to hand on the rest of a delivery. The waiters come first,
  /// because blocked threads can occupy the whole queue. `mayHandOn` is `false`, because a thread of the queue has no other work.
  @inline(never)
  final func deliverElsewhere(in trampoline: Trampoline) {
    guard resumeWaiters(in: trampoline) else { return }  // no callback is left
    let deliver: @Sendable () -> Void = { Trampoline.current.deliver(self, mayHandOn: false) }
    // The test kit chooses when this delivery runs.
    if let submit = trampoline.storage.pointee.submitElsewhere { return submit(deliver) }
    DispatchQueue.global().async(execute: deliver)
  }

  /// Runs the consumers in order, also the consumers that attach meanwhile.
  ///
  /// *Own* consumers were in the list when this delivery began, or were attached by this thread; the *others* come from other
  /// threads. This thread runs all own consumers, and so also the others that stand before them in the list (R2).
  ///
  /// Other threads can attach as fast as this thread runs. So after `maximumForOthers` others it hands the delivery to the global
  /// queue, as soon as no own consumer is left (R28).
  /// - Parameters:
  ///   - trampoline: The trampoline of this thread.
  ///   - first: The first consumer, if the resolution took it.
  ///   - mayHandOn: Whether this thread can hand the delivery on to the global queue; `false` if another thread handed it on.
  final func drain(in trampoline: Trampoline, startingWith first: TakenConsumer? = nil, mayHandOn: Bool = true) {
    var delivery = Trampoline.Delivery(state: .passUnretained(self), outer: trampoline.storage.pointee.delivery)
    // Without the compiler's stack protection, which is slow, and not needed: all writes stay in `delivery`.
    _withUnprotectedUnsafeMutablePointer(to: &delivery) { delivery in
      // `append` looks here to see whether a consumer is own. In a debug build a wait in a callback looks here, too.
      trampoline.storage.pointee.delivery = delivery
      defer { trampoline.storage.pointee.delivery = delivery.pointee.outer }
      var leftForOthers = trampoline.maximumForOthers
      var taken = first ?? takeNextConsumer()
      while let consumer = taken {
        trampoline.willRun(consumer.reference)  // lets a debug build report a callback that waits for this delivery
        consumer.reference._withUnsafeGuaranteedRef { $0.deliver($0, self, trampoline) }
        trampoline.didRun()
        releaseConsumer(consumer.reference)
        if consumer.isLast, endDelivery() { return }  // `false` if another consumer came meanwhile
        if consumer.isOfOtherThread {
          leftForOthers &-= 1
          if leftForOthers == 0, mayHandOn {
            // `nil`: no own consumer is left, and this call has ended the delivery on this thread.
            guard let othersBeforeOwn = giveUpDeliveryIfOnlyOthers() else { return deliverElsewhere(in: trampoline) }
            leftForOthers = othersBeforeOwn + 1  // `+ 1`: asks again after the first other behind the last own consumer
          }
        }
        taken = takeNextConsumer()
      }
    }
  }

  /// Resumes the waiters now, and leaves the callbacks in the list for a later delivery, by this thread or another one.
  /// - Returns: Whether callbacks are left, so that the caller arranges a later delivery to them.
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
    // If `leave` returns `nil`, the context of the consumer can have it. Then this claim makes the context skip it.
    guard departure != nil || consumer.claimSubmitted() else { return false }
    consumer.dropCaptures()
    if let reference = departure?.reference { releaseConsumer(reference) }  // `nil` if no list had the consumer
    return true
  }

  /// Returns the reference with which a list of this state keeps a consumer alive; `releaseConsumer` releases the reference.
  ///
  /// Exception: a promise's state that stores its first callback or join is itself the consumer, in its own list. The promise keeps
  /// that state alive, so the list does not own it (invariant 5).
  @inline(__always)
  final func retainConsumer(_ consumer: Consumer) -> Unmanaged<Consumer> {
    consumer === self ? .passUnretained(consumer) : .passRetained(consumer)
  }

  /// Releases a list's reference to `consumer`; there is none if `consumer` is this state, as `retainConsumer` explains.
  @inline(__always)
  final func releaseConsumer(_ consumer: Unmanaged<Consumer>) {
    if consumer.toOpaque() != Unmanaged.passUnretained(self).toOpaque() { consumer.release() }
  }
}
