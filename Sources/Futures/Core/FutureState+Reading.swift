// Reads of a state. They change nothing, so they need the transitions of `FutureState` only for the lock.

extension FutureState {
  /// Whether the state is settled without a result, for ever.
  final var isBroken: Bool { isSettled && has(.isBroken) }

  /// Whether all earlier consumers have the result.
  ///
  /// Relaxed: a caller that reads the result next loads the phase again, with `acquiring`. That value is the same or a later
  /// one.
  @usableFromInline
  final var isDelivered: Bool { currentPhase == .resolved }

  /// Whether a thread runs the consumers now, or is about to.
  final var isDelivering: Bool {
    // One load for both tests: the phase can change between two loads.
    let phase = currentPhase
    return phase >= .due && phase < .resolved
  }

  /// A word for a state without a result, in the description of a future.
  final var pendingDescription: String {
    underLock { isDormant ? "not started" : isBroken ? "broken" : "pending" }
  }

  @usableFromInline
  final var wasCancelled: Bool { underLock { isCancelled } }

  /// Whether a consumer that keeps the state running is in the list.
  final var hasConsumers: Bool { underLock { !consumers.onlyWantsResults } }

  /// The number of consumers, in O(n).
  package final var consumerCount: Int { underLock { consumers.all.count } }

  #if DEBUG
    /// Whether `stage` waits in the list of this state; for the check of a callback that waits for its own delivery.
    final func hasListed(_ stage: FutureState) -> Bool {
      // A stage in a list has one of these statuses. The status comes first, because it publishes the source (`Stage.source`).
      underLock { [.listed, .listedByOther, .resultOnly].contains(stage.currentStatus) && stage.isConsumer(of: self) }
    }
  #endif

  /// If this state is private, the state that its only consumer, a stage, resolves; otherwise `nil`.
  final var privateFollower: FutureState? {
    underLock { has(.isPrivate) ? consumers.only.map { unsafeDowncast($0, to: FutureState.self).target } : nil }
  }

  /// The facts about a state that a walk from a future to its sources needs.
  struct Origin {
    let producer: Producer
    /// The label of the promise with its place in the code.
    let label: PromiseLabel?
    let derivation: Derivation?
  }

  final var origin: Origin {
    underLock { Origin(producer: producer, label: extras?.label, derivation: derivation) }
  }

  /// Whether no consumer keeps this pending state running, so that the caller can cancel it: `isUnneeded`, with the lock.
  final var lacksConsumers: Bool { underLock { isUnneeded } }

  /// Read after `orphan(leaving:)`: whether the state was cancelled or resolved first, and so has not left its inputs.
  final var isLateOrphan: Bool { underLock { currentPhase != .orphaned || isCancelled } }

  final var label: String? { underLock { extras?.label?.text } }

  /// The inputs that resolve the state together, under the lock.
  final var inputs: Inputs? { if case .inputs(let inputs) = producer { inputs } else { nil } }
}

// MARK: - Invariants

#if DEBUG
  extension FutureState {
    /// Reports a transition from `previous` that has broken an invariant of `FutureState`; under the lock, after the transition.
    final func checkInvariants(after previous: Phase) {
      let current = phaseForCheck
      // `phaseAfterTransition` is of the transition before this one. Between transitions, only `endDelivery` changes the phase.
      let hasEnded = phaseAfterTransition == .closing && previous == .resolved
      expect(
        previous == phaseAfterTransition || hasEnded,
        "1: the phase changed from \(phaseAfterTransition) to \(previous) outside of a transition"
      )
      let isAllowed =
        switch previous {
        case .pending, .following: current >= previous
        case .orphaned: current == .orphaned || current >= .due
        case .resolved: current == previous
        case .due, .delivering: current >= .due  // `giveUpDeliveryIfOnlyOthers` goes back from `delivering` to `due`
        case .closing: current >= .delivering  // `append` reopens it; `endDelivery` can end it at any time
        }
      expect(isAllowed, "1: the phase changed from \(previous) to \(current)")
      expect(
        hasOutcome == (current >= .due && !has(.isBroken)),
        "2: a future is \(current), and \(hasOutcome ? "has an" : "has no") outcome"
      )
      expect(current != .resolved || consumers.isEmpty, "5: a resolved future has a consumer left")
      for consumer in consumers.all {
        let status = consumer.statusForCheck
        let isMarked = status == .listedByOther && current >= .due  // another thread attached it in a delivery
        expect(status == .listed || status == .resultOnly || isMarked, "5: a consumer in a list is \(status)")
        expect(consumer.isConsumer(of: self), "5: a consumer is in the list of a state that is not its source")
      }
    }

    private final func expect(_ holds: Bool, _ invariant: @autoclosure () -> String) {
      if !holds { FuturesDiagnostics.invariantHandler?("Invariant \(invariant()).") }
    }
  }
#endif
