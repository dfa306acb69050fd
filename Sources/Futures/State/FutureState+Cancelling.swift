// Cancellation travels from a future to its producer. It is a loop and not a recursion, so a chain of any length takes no
// stack.

extension FutureState {
  /// Cancels the producer of a pending state, then resolves the state if its failure type can represent cancellation (R15).
  ///
  /// A derived state leaves its source. The source is cancelled, too, if it has no other consumer (R16). A second call has
  /// no effect.
  package final func cancel() { Self.cancel([self]) }

  /// Cancels the states, and the sources without other consumers.
  @usableFromInline
  static func cancel(_ states: [FutureState]) {
    let trampoline = Trampoline.current
    if trampoline.enterCancellation() {
      perform(states, leaving: trampoline)
    } else {
      // Not `cancel`: a blocking thread runs this at the maximum depth, where `cancel` would defer it again.
      trampoline.deferCancellation { perform(states) }
    }
  }

  /// Cancels the states at the trampoline's current depth.
  /// - Parameters:
  ///   - states: The states, in the order of their cancellation.
  ///   - trampoline: The trampoline that the caller has entered; `nil` for a deferred cancellation.
  private static func perform(_ states: [FutureState], leaving trampoline: Trampoline? = nil) {
    var states: [FutureState] = states.reversed()
    var cancelled: [FutureState] = []
    while let state = states.popLast()?.root {
      guard let (parts, derivation) = state.beginCancelling() else { continue }
      parts.progress?.release()
      parts.cancellation?.triggerUncounted()
      let isSilent = !state.canRepresentCancellation
      switch parts.producer {
      case .stage:
        if let (stage, source) = derivation, source.leave(stage, silently: isSilent) { states.append(source) }
      case .task(let task): task.cancel()
      case .upstream(let inputs): states += inputs.leave(silently: isSilent).reversed()
      case .none, .start, .broken, .merged, .extras: break
      }
      cancelled.append(state)
    }
    trampoline?.leaveCancellation()
    while let state = cancelled.popLast() { state.endCancelled() }
  }

  /// Cancels a state without consumers.
  ///
  /// The caller stands for a consumer that was cancelled before it could attach (R16).
  @usableFromInline
  final func cancelIfUnneeded() {
    let state = root
    if state.lock.withLock({ state.isUnneeded }) { state.cancel() }
  }

  /// Makes a cancelled consumer leave this state, also before it attaches.
  ///
  /// O(1).
  /// - Parameters:
  ///   - consumer: The consumer.
  ///   - isSilent: Whether the consumer still gets the result, because its failure type cannot represent cancellation.
  /// - Returns: Whether the caller must cancel this state, because it has no other consumer. A shielded view never cancels it.
  final func leave(_ consumer: Consumer, silently isSilent: Bool = false) -> Bool {
    if isSilent { return silence(consumer) }
    let (hasLeft, listed, isUnneeded) = lock.withLock { () -> (Bool, Unmanaged<Consumer>?, Bool) in
      // Relaxed: only a stage that moves on stores another source. It stores `new` with it only while its root is not
      // cancelled, and the caller has cancelled the root since, under the root's lock. So the caller has seen that source.
      switch consumer.status.load(ordering: .relaxed) {
      case .new where consumer.isConsumer(of: self): consumer.status.store(.finished, ordering: .relaxed)
      case .notified:
        consumer.status.store(.finished, ordering: .relaxed)
        orphanedInputs?.notified -= 1
      default:
        guard let listed = unlist(consumer) else { return (false, nil, false) }
        return (true, listed, self.isUnneeded(without: consumer))
      }
      return (true, nil, self.isUnneeded(without: consumer))
    }
    guard hasLeft || consumer.claimSubmitted() else { return false }
    if hasLeft { consumer.releaseUndelivered() } else { consumer.release() }
    if let listed { releaseConsumer(listed) }
    return isUnneeded
  }

  /// Makes a cancelled consumer silent: it still gets the result, but no longer keeps this state running.
  private final func silence(_ consumer: Consumer) -> Bool {
    var unlisted: Unmanaged<Consumer>?
    let (isSubmitted, isUnneeded) = lock.withLock { () -> (Bool, Bool) in
      // Relaxed: a stage that has moved on from this state under a cancelled root is `silent`, or `listed` elsewhere. It left
      // the list of this state in a delivery, under this lock. So each of its cases below changes nothing.
      let status = consumer.status.load(ordering: .relaxed)
      guard consumer.isConsumer(of: self) else { return (false, false) }
      switch status {
      case .new: break
      case .notified: orphanedInputs?.notified -= 1
      // During a delivery the consumer gets the result anyway.
      case .listed where phase.load(ordering: .relaxed) > .orphaned: return (false, false)
      // Cancellation cannot resolve this state either, so no result will come.
      case .listed where isNever && !canRepresentCancellation:
        unlisted = unlist(consumer)
        return (false, false)
      case .listed: madeExtras.silent.append(consumers.remove(consumer))
      case .submitted: return (true, false)
      case .silent, .finished: return (false, false)
      }
      consumer.status.store(.silent, ordering: .relaxed)
      return (false, self.isUnneeded(without: consumer))
    }
    if let unlisted { releaseConsumer(unlisted) }
    if isSubmitted { consumer.resolveWithoutContext(from: self) }
    return isUnneeded
  }

  /// Whether the state is pending, was not cancelled, and has no consumer that keeps it running.
  ///
  /// `false` for the state of `Future.never`, which other code can share.
  ///
  /// Under the lock.
  final var isUnneeded: Bool {
    let phase = phase.load(ordering: .relaxed)
    guard phase <= .orphaned, consumers.isEmpty, !isCancelled else { return false }
    return phase < .orphaned || orphanedInputs?.notified == 0
  }

  /// Whether the caller must cancel this state, which `consumer` has left.
  ///
  /// Under the lock.
  private final func isUnneeded(without consumer: Consumer) -> Bool { consumer.kind != .shield && isUnneeded }

  /// Whether this is the state of `Future.never`: an orphan without a producer and without a source.
  ///
  /// Only `cancel()` on its own handle resolves it.
  ///
  /// Under the lock.
  private final var isNever: Bool { phase.load(ordering: .relaxed) == .orphaned && orphanedInputs == nil }

  /// Marks the state as cancelled; returns `nil` if it is settled or already cancelled.
  /// - Returns: The objects to notify after unlocking, and the stage that resolves the state, with its source.
  private final func beginCancelling() -> (parts: Detached, derivation: (stage: FutureState, source: FutureState)?)? {
    lock.withLock {
      guard phase.load(ordering: .relaxed) <= .orphaned, !isCancelled else { return nil }
      insert(.isCancelled)
      // The progress of the sources must not count as done when they are cancelled, too.
      let progress = canRepresentCancellation ? progressRecord?.detach(.cancelled) : nil
      let parts = Detached(producer: producer, cancellation: extras?.cancellation, progress: progress)
      guard case .stage(let stage) = producer else { return (parts, nil) }
      // Both are alive now (invariant 6). The result keeps them alive.
      guard let source = stage.takeUnretainedValue().stageSource else {
        preconditionFailure("The stage of a cancelled future has no source. Set the source before the producer.")
      }
      // The stage leaves its source, so it is no longer the producer.
      if canRepresentCancellation { self.producer = .none }
      return (parts, (stage.takeUnretainedValue(), source))
    }
  }
}

// MARK: - Orphans

extension FutureState {
  /// Makes orphans of this state and its derived states: from now on only a cancellation resolves them.
  ///
  /// No producer owns an orphan. Its handles do, and the list of its source. It refers to the source weakly, and leaves it
  /// when it is cancelled.
  /// - Parameters:
  ///   - last: The last phase that allows this.
  ///   - inputs: The orphans from which this state is derived.
  @usableFromInline
  final func orphan(fromAtMost last: Phase = .following, leaving inputs: OrphanedInputs? = nil) {
    var states = [(state: self, sources: inputs)]
    // A derived state refers to its source without owning it, until it is an orphan itself.
    var kept: [FutureState] = []
    defer { withExtendedLifetime(kept) {} }
    while let (state, sources) = states.popLast() {
      let state = state.root
      kept.append(state)
      let (consumers, inputs, detached) = state.becomeOrphan(of: sources, fromAtMost: last)
      states += consumers.compactMap { consumer in
        consumer.stateToOrphan(from: state).map { ($0, OrphanedInputs(consumer, of: state)) }
      }
      for input in inputs {
        // The input can make another orphan, and so on. The calls nest only as deep as deliveries do.
        let trampoline = Trampoline.current
        trampoline.runOrDefer { input.deliver(input, state, trampoline) }
      }
      detached?.release()
    }
  }

  /// Breaks a state if some of its inputs never resolve, and leaves these inputs.
  ///
  /// Without an error the state becomes an orphan. It leaves the inputs when it is cancelled or released.
  @usableFromInline
  final func breakPromise(_ reason: BreakReason, leaving inputs: [JoinedInput], in trampoline: Trampoline?) {
    guard reason.error != nil else {
      let sources = OrphanedInputs(inputs)
      orphan(leaving: sources)
      // An earlier cancellation or resolution found no inputs to leave.
      let state = root
      let isLate = state.lock.withLock { state.phase.load(ordering: .relaxed) != .orphaned || state.isCancelled }
      if isLate { Self.cancel(sources.leave(silently: false)) }
      return
    }
    breakPromise(reason, in: trampoline)
    Self.cancel(inputs.filter { $0.state.leave($0.consumer) }.map(\.state))
  }

  /// Makes an orphan of this state alone.
  /// - Returns: The consumers that stay, the removed inputs to notify, and the objects to release after unlocking.
  private final func becomeOrphan(
    of sources: OrphanedInputs?,
    fromAtMost last: Phase
  ) -> ([Consumer], [Consumer], Detached?) {
    lock.withLock {
      guard phase.load(ordering: .relaxed) <= last else { return ([], [], nil) }
      let detached = Detached(producer: producer, progress: progressRecord?.detach(.orphaned))
      let all = consumers.all + (extras?.silent.all ?? [])
      producer = sources.map { .upstream($0) } ?? .none
      // Relaxed: it publishes no data. The data of an orphan is read under the lock.
      phase.store(.orphaned, ordering: .relaxed)
      let inputs = all.filter { $0.kind == .input }
      for input in inputs {
        let isCounted = input.status.load(ordering: .relaxed) == .listed
        // Not the last reference: `all` has another.
        if let reference = unlist(input) { releaseConsumer(reference) }
        if isCounted { countNotified(input) }
      }
      return (all.filter { $0.kind != .input }, inputs, detached)
    }
  }

  /// The sources of an orphan; `nil` for `never` and for a state that is not an orphan.
  ///
  /// Under the lock.
  private final var orphanedInputs: OrphanedInputs? {
    guard phase.load(ordering: .relaxed) == .orphaned, case .upstream(let inputs) = producer else { return nil }
    return inputs as? OrphanedInputs
  }

  /// Counts an input as a consumer of this orphan until the input leaves, although it is in no list.
  ///
  /// Under the lock.
  final func countNotified(_ input: Consumer) {
    input.status.store(.notified, ordering: .relaxed)
    orphanedInputs?.notified += 1
  }

  /// Ends the count of an input that was taken over.
  /// - Returns: Whether this state has no other consumer, so that the caller can cancel it.
  final func leaveNotified() -> Bool {
    lock.withLock {
      orphanedInputs?.notified -= 1
      return isUnneeded
    }
  }
}
