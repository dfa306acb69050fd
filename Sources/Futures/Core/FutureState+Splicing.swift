extension FutureState {
  /// Removes a state from its chain if the state only passes a result on, and no other code can ever reach it.
  ///
  /// Called when the promise of `state` goes away; `state` is the promise's own reference. `state` follows `source` by `stage`:
  /// `source → stage → state → follower → target` becomes `source → follower → target`. So a chain of promises that follow each
  /// other, by `p.follow(f(n - 1))` in `f(n)`, takes no more memory than `flatMap` does.
  /// - Returns: Whether the state follows itself through other states, so that nothing can ever resolve it.
  static func splice(_ state: inout FutureState) -> Bool {
    switch takeFollower(ofPromise: &state) {
    case .refused: return false
    case .circle: return true
    case .moving(let reference, let derivation, let place):
      let follower = unsafeDowncast(reference.takeRetainedValue(), to: FutureState.self)
      let (target, source, stage) = (follower.target, derivation.source, derivation.stage)
      guard let adoption = target.adopt(follower, waitingFor: source, inside: nil), !adoption.isCancelled,
        let stageReference = source.replace(stage, by: follower)  // needs the status `new`, which `adopt` sets
      else {
        // `target` is settled or was cancelled, `source` delivers to `stage` now, or `stage` has another source by now. So `stage`
        // stays, and `follower` waits for `state` again, if `target` is pending.
        target.move(follower, to: &state, inside: nil)
        return false
      }
      state.setProducer(.none)  // because the state does not own `stage`, which is released below
      // `source` fills only `place` in the follower's region. `adopt` got `nil` and kept that region, as the move could fail.
      if target.narrow(follower, to: place) { target.relinkProgress() }
      stageReference.release()
      return false
    }
  }

  /// Returns whether a future that a transform made can itself be the derived future, so that no stage has to follow it.
  ///
  /// The future must have no other handle (copy) and no consumer. Its progress must fit behind `share`, the source's part of the
  /// derived progress. If a stage produces the future, this call moves the stage's progress there.
  @usableFromInline
  static func claimExclusive(_ state: inout FutureState, after share: Double) -> Bool {
    underLock(&state) { state in
      guard state.canBeExclusive, state.progressRecord == nil, isOnlyHandle(&state) else { return false }
      // Whether the future's part is the whole progress. After a share of 1, the future fills again what the source has filled.
      let isWhole = share <= 0 || share >= 1
      switch state.producer {
      case .stage(let stage):
        // The stage is alive now (invariant 6). Only one that can move has a place in the progress.
        return stage._withUnsafeGuaranteedRef { stage in
          guard stage.canMove else { return isWhole }
          stage.place = stage.place.inside(ProgressPlace(share: share).next)
          return true
        }
      // Inputs cannot map their progress to a part of the derived progress.
      case .inputs: return isWhole
      default: return true  // reports no progress: it has no promise (`canBeExclusive`)
      }
    }
  }

  /// Whether a pending state has only two references, the caller's and that of its producer; under the lock.
  ///
  /// Swift can only test for one reference. So this releases the producer's reference during the test. The count cannot reach
  /// zero, because the caller holds the other one. The producer cannot release its reference meanwhile: it first resolves or
  /// breaks the state, which needs the lock. If the state is a stage that has just left its previous source, the thread that
  /// still delivers from there holds a third reference. Then the result is `false`.
  static func isOnlyHandle(_ state: inout FutureState) -> Bool {
    let reference = Unmanaged.passUnretained(state)
    reference.release()
    defer { _ = reference.retain() }
    return isKnownUniquelyReferenced(&state)
  }

  /// Whether one handle (a `Future`) and the producer can be all that refers to the state; under the lock.
  ///
  /// The state is pending without a consumer, no promise can make another handle, and a lazy producer has started.
  final var canBeExclusive: Bool {
    currentPhase <= .following && !isDormant && !has(.hasPromise) && consumers.isEmpty
  }
}
