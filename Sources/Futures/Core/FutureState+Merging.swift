extension FutureState {
  /// Merges `inner` into the root of `outer`, if only the caller can ever reach `inner`.
  ///
  /// Its producer then resolves the root.
  ///
  /// This is the linking of Scala's promises, for cases that no code can observe. Through a second handle, or through
  /// a promise that can make one, code could observe and cancel `inner`.
  /// - Parameters:
  ///   - inner: The state to merge. The caller has its only handle.
  ///   - outer: The state to merge it into.
  ///   - stage: The stage whose place in the progress the producer of `inner` takes.
  /// - Returns: Whether it was merged. If so, `inner` must not be used any more.
  static func merge(_ inner: inout FutureState, into outer: FutureState, replacing stage: FutureState?) -> Bool {
    // Relaxed: a hint that saves the lock. If the promise is dropped meanwhile, the states are relinked, which is as
    // correct.
    guard !inner.has(.hasPromise) else { return false }
    return retrying(&inner) { inner in
      guard inner.isUnobserved, inner.isPlain, !inner.isCancelled, isOnlyHandle(&inner) else { return .refused }
      return inner.giveProducer(to: outer.root, replacing: stage)
    }
  }

  /// Merges a following state into the root of its only consumer, if no other code can ever reach it.
  ///
  /// The promise of `state` calls this when it goes away, with its own reference. This collapses a chain of promises that
  /// follow each other: `p.follow(f(n - 1))` in `f(n)` takes no more memory than `flatMap` does.
  ///
  /// - Returns: Whether the state follows itself through other states, so that nothing can ever resolve it.
  static func mergeIntoFollower(_ state: inout FutureState) -> Bool {
    var follower: Unmanaged<Consumer>?
    var isCycle = false
    _ = retrying(&state) { state in
      guard state.currentPhase == .following, !state.has(.hasPromise),
        let only = state.consumers.only, only.kind == .follower, isOnlyHandle(&state)
      else { return .refused }
      let stage = unsafeDowncast(only, to: FutureState.self)
      let target = stage.root
      isCycle = target === state
      guard !isCycle, state.isPlain, !state.isCancelled else { return .refused }
      let attempt = state.giveProducer(to: target, replacing: stage)
      if case .merged = attempt { follower = state.takeMergedFollower(stage) }
      return attempt
    }
    follower?.release()  // outside the lock
    return isCycle
  }

  /// Whether the caller holds the only handle of a pending future that has no consumer and no progress.
  ///
  /// If so, and if a stage resolves it, this maps the stage's progress to the rest after `share`. Without a promise, no
  /// other producer reports progress.
  @usableFromInline
  static func isExclusive(_ state: inout FutureState, after share: Double) -> Bool {
    reading(&state) { state in
      guard state.isUnobserved, state.progressRecord == nil, isOnlyHandle(&state) else { return false }
      switch state.producer {
      case .stage(let stage):
        // It is alive now (invariant 6).
        stage._withUnsafeGuaranteedRef { $0.place = $0.place.inside(ProgressPlace(share: share).next) }
        return true
      // Inputs cannot map their progress to a region.
      case .inputs: return share >= 1
      default: return true
      }
    }
  }

  /// Whether `state` has two references: the caller's, and that of its producer.
  ///
  /// Under the lock, while it is pending.
  ///
  /// Swift can only test for one reference. So this releases the producer's reference during the test. That reference
  /// exists: a producer first resolves, breaks or merges the state, which needs the lock. The count cannot reach zero,
  /// because the caller holds the other reference. A stage that relinks has a third reference, from the thread that
  /// delivers to it, and the result is `false`.
  private static func isOnlyHandle(_ state: inout FutureState) -> Bool {
    let reference = Unmanaged.passUnretained(state)
    reference.release()
    defer { _ = reference.retain() }
    return isKnownUniquelyReferenced(&state)
  }

  /// Attempts a merge under the lock of `state` until it succeeds or is refused.
  /// - Returns: Whether it succeeded.
  private static func retrying(_ state: inout FutureState, _ attempt: (inout FutureState) -> Merging) -> Bool {
    while true {
      switch reading(&state, attempt) {
      case .merged(let target):
        target?.relinkProgress()
        return true
      case .refused: return false
      case .delayed(let other): other.reading {}  // waits until it is free
      }
    }
  }

  /// Whether the state has a producer that has started, and no consumer, and no promise can make another handle.
  ///
  /// Under the lock.
  private final var isUnobserved: Bool {
    currentPhase <= .following && !isDormant && !has(.hasPromise) && consumers.isEmpty
  }
}
