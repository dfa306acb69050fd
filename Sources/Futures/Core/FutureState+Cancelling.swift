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
      // Too many nested cancellations. If this thread has to block before they end, `runPending` runs the closure at this depth.
      trampoline.deferCancellation { perform(states) }  // not `cancel`, which would defer itself again at that depth
    }
  }

  /// Cancels the states, and the sources without other consumers, in a loop; the work of `cancel`.
  /// - Parameters:
  ///   - states: The states, in the order of their cancellation.
  ///   - trampoline: The trampoline in which the caller has counted this cancellation; `nil` for a deferred one, which is not
  ///     counted.
  private static func perform(_ states: [FutureState], leaving trampoline: Trampoline? = nil) {
    var states: [FutureState] = states.reversed()  // a stack, the next one last
    var cancelled: [FutureState] = []
    while let state = states.popLast() {
      guard let cancellation = state.beginCancelling() else { continue }
      cancellation.released.progress?.release()  // first, so that a cancelled source does not count as done
      cancellation.released.cancellation?.run()
      let needsResult = !state.canRepresentCancellation  // if `true`, `state` still waits for its source or inputs
      switch cancellation.released.producer {
      case .stage:
        if let derivation = cancellation.derivation,
          derivation.source.removeCancelled(derivation.stage, forResult: needsResult)
        {
          states.append(derivation.source)
        }
      case .task(let task): task.cancel()
      case .inputs(let inputs): states += inputs.removeFromInputs(forResult: needsResult).reversed()
      case .none, .start, .broken, .extras: break  // nothing runs, or a promise, whose handlers ran above
      }
      cancelled.append(state)
    }
    trampoline?.leaveCancellation()  // first, so that consumers run outside of this cancellation
    // From the back, so that sources resolve before the consumers of their derived states run.
    while let state = cancelled.popLast() { state.resolveAsCancelled() }
  }

  /// Cancels a pending state that no consumer needs.
  ///
  /// The caller acts for a consumer that was cancelled, has left, or no longer has to attach (R16).
  @usableFromInline
  final func cancelIfUnneeded() {
    if lacksConsumers { cancel() }  // a consumer that attaches in between gets the cancellation, too
  }

  /// Removes a cancelled consumer from this state, or keeps it from attaching; O(1).
  /// - Parameters:
  ///   - consumer: The consumer.
  ///   - needsResult: Whether the consumer still gets the result, because its failure type cannot represent cancellation.
  /// - Returns: Whether the caller must cancel this state, because nothing else needs it. A shield passes no cancellation on.
  final func removeCancelled(_ consumer: Consumer, forResult needsResult: Bool = false) -> Bool {
    guard let departure = leave(consumer, forResult: needsResult) else {
      // Only a `submitted` consumer can still be ended here: a delivery or its context has it, and has not started it.
      if needsResult {
        consumer.resolveWithoutContext(from: self)  // without a `bypass`, the transform still runs
      } else if consumer.claimSubmitted() {
        consumer.dropCaptures()  // the consumer never starts; no `dropContext()`: a delivery can be reading the context
      }
      return false
    }
    // A `notified` input of a join keeps its captures, because another thread can be delivering to it at this moment.
    if !needsResult, departure.previous != .notified {
      consumer.dropContext()
      consumer.dropCaptures()
    }
    if let reference = departure.reference { releaseConsumer(reference) }
    return departure.isUnneeded
  }
}

// MARK: - Orphans

extension FutureState {
  /// Makes orphans of this state and its derived states: from now on only a cancellation resolves them.
  ///
  /// For `Future.never`, for a producer that never starts (R2b), and for states derived from an orphan.
  ///
  /// The handles of an orphan and the list of its source own it, but no producer does. An orphan refers to its source
  /// weakly, and leaves the source when it is cancelled.
  /// - Parameters:
  ///   - isDormantOnly: Whether to change this state only if its producer has not started; derived states are never dormant.
  ///   - sources: The orphans from which this state is derived; `nil` if it is derived from none.
  @usableFromInline
  final func orphan(onlyDormant isDormantOnly: Bool = false, leaving sources: OrphanedInputs? = nil) {
    var states = [(state: self, sources: sources)]
    // Keeps each source alive: a derived state refers to it without owning it, until the derived state is an orphan, too.
    var kept: [FutureState] = []
    defer { withExtendedLifetime(kept) {} }
    while let (state, sources) = states.popLast() {
      kept.append(state)
      var released: Released?
      let orphaning = state.becomeOrphan(of: sources, onlyDormant: isDormantOnly && state === self, &released)
      for consumer in orphaning.consumers {
        guard let derived = consumer.stateToOrphan(from: state) else { continue }
        states.append((derived, OrphanedInputs(consumer, of: state)))
      }
      for input in orphaning.inputs {
        // Tells the input's join that `state` never resolves. The join can be the next orphan, so deep calls are deferred.
        let trampoline = Trampoline.current
        trampoline.runOrDefer { input.deliver(input, state, trampoline) }
      }
      released.take()?.release()
    }
  }

  /// Breaks the state of a join because some of its inputs never resolve, and leaves all of `inputs`.
  ///
  /// If `reason` has no error, the inputs that never resolve are orphans. Then the state becomes an orphan, too, and leaves the
  /// inputs only when it is cancelled or released.
  @usableFromInline
  final func breakPromise(_ reason: BreakReason, leaving inputs: [JoinedInput], in trampoline: Trampoline?) {
    guard reason.error != nil else {
      let sources = OrphanedInputs(inputs)
      orphan(leaving: sources)
      // A cancellation or resolution that came before `orphan(leaving:)` did not find `sources`. So the state leaves them now.
      if isLateOrphan { Self.cancel(sources.removeFromInputs(forResult: false)) }  // `false`: the join awaits no result
      return
    }
    breakPromise(reason, in: trampoline)
    Self.cancel(inputs.filter { $0.state.removeCancelled($0.consumer) }.map(\.state))  // those without other consumers
  }
}
