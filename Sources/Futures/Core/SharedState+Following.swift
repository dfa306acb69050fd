internal import Synchronization

extension SharedState {
  /// Makes a promise's future resolve as `other` does, and as nobody else from now on.
  @inlinable
  func followForPromise<V, F>(_ other: consuming Future<V, F>) where Stored == Outcome<V, F> {
    if let result = other.peek() {
      resolve(result, fromAtMost: .pending, in: nil)
    } else if settle() {
      follow(other, in: nil)
    } else if lock.withLock({ isCancelled }), let source = other.takeState() {
      source.cancelIfUnneeded()
    }
  }

  /// Makes a stage's future resolve as `other`, which its transform made.
  ///
  /// - Parameters:
  ///   - other: The future to follow.
  ///   - loop: The loop of the delivery in which that happens.
  ///   - share: The share of the progress of what came before, where no stage knows it.
  @inlinable
  func follow<V, F>(
    _ other: consuming Future<V, F>,
    in loop: DeliveryLoop?,
    after share: Double = 1
  ) where Stored == Outcome<V, F> {
    if let result = other.peek() {
      resolve(result, in: loop)
    } else if var source = other.takeState() {
      precondition(!isMerged(into: source), "A future was told to resolve as itself, which would never end.")
      let region = ProgressRegion.rest(after: share)
      if !Self.merge(&source, into: self, region) {
        FollowerNode(self, region: region).attach(to: source, resolving: self)
      }
    }
  }

  /// Leaves the resolution to a future that is followed, unless it was settled before.
  @usableFromInline
  func settle() -> Bool {
    lock.withLock {
      guard phase.load(ordering: .relaxed) == .pending else { return false }
      // Releasing, as every store of a phase; it announces nothing.
      phase.store(.following, ordering: .releasing)
      return true
    }
  }
}

// MARK: - Merging

extension SharedState {
  /// Merges `inner` into `outer`, if nobody but the caller can ever reach it: its producer then resolves `outer` directly.
  ///
  /// That is what keeps the memory of `f(n) = step().flatMap { f(n - 1) }` bounded: each level's state is merged into
  /// the outermost one, and goes away with the step that produced it, instead of adding a follower to a chain. It is the
  /// linking of Scala's promises, but only where it cannot be noticed: with a second handle, or a promise from which one
  /// can be had, `inner` could be observed and cancelled on its own.
  ///
  /// - Returns: Whether it was merged. If so, `inner` must not be used any more.
  @usableFromInline
  static func merge(_ inner: inout SharedState, into outer: SharedState, _ region: ProgressRegion) -> Bool {
    retrying {
      whileLocked(&inner) { inner in
        guard inner.isUnobserved, inner.hasNoDetails, isOnlyHandle(&inner) else { return .refused }
        return inner.giveProducer(to: outer.root, region)
      }
    }
  }

  /// Merges a following state into its only follower, if nobody else can ever reach it.
  ///
  /// Called when the promise of `state` goes away, with the promise's own reference. It is what collapses a chain of
  /// promises that follow each other: `p.follow(f(n - 1))` in `f(n)` takes no more memory than `flatMap` does.
  ///
  /// - Returns: Whether the state turns out to follow itself, by way of others, so that nothing can ever resolve it.
  @usableFromInline
  static func collapse(_ state: inout SharedState) -> Bool {
    var follower: FollowerNode<Stored>?
    var isCycle = false
    _ = retrying {
      whileLocked(&state) { state in
        guard state.phase.load(ordering: .relaxed) == .following, !state.hasPromise,
          let only = state.consumers.only as? FollowerNode<Stored>, isOnlyHandle(&state)
        else { return .refused }
        let target = only.follower.root
        isCycle = target === state
        guard !isCycle, state.hasNoDetails else { return .refused }
        let attempt = state.giveProducer(to: target, .whole)
        switch attempt {
        case .merged, .mergedWithProgress:
          _ = state.consumers.remove(only)
          follower = only
        case .refused, .delayed: break
        }
        return attempt
      }
    }
    _ = follower  // released here, outside the lock
    return isCycle
  }

  /// Whether the caller holds the only handle of an unresolved future, so that nobody else can ever observe it, nor has.
  ///
  /// If so, and a stage resolves it, its progress is placed in the rest after `share` of a whole. What resolves it otherwise, a
  /// task or what is deferred, reports no progress of its own.
  @usableFromInline
  static func isExclusive(_ state: inout SharedState, after share: Double) -> Bool {
    whileLocked(&state) { state in
      guard state.isUnobserved, state.progressRecord == nil, isOnlyHandle(&state) else { return false }
      switch state.producer {
      case .stage(let stage):
        // It is alive now, as `StateDetails.stage` says.
        stage._withUnsafeGuaranteedRef { $0.region = ProgressRegion.rest(after: share).of($0.region) }
        return true
      // Several inputs know no region.
      case .inputs: return share >= 1
      default: return true
      }
    }
  }

  /// Calls `body` under the lock of `state`, without a reference of its own: in a debug build, `state.lock.withLock` holds
  /// one for as long as it runs, and no handle would ever be the only one.
  private static func whileLocked<Result>(
    _ state: inout SharedState,
    _ body: (inout SharedState) -> Result
  ) -> Result {
    // A mutex is never moved, so the pointer is to the lock in the state, which the caller keeps alive.
    let lock = withUnsafePointer(to: state.lock) { $0 }
    return lock.pointee.withLock { body(&state) }
  }

  /// Whether `state` has two references: the caller's, and that of its producer.
  ///
  /// Under the lock, while it is unresolved.
  ///
  /// Swift tells only whether there is one. So the producer's is taken away for the moment of the question. It is there
  /// to be taken, because a producer lets go of a state only after it has resolved, broken or merged it, which needs the
  /// lock; and the count cannot reach zero, because the caller holds the other.
  private static func isOnlyHandle(_ state: inout SharedState) -> Bool {
    let reference = Unmanaged.passUnretained(state)
    reference.release()
    defer { _ = reference.retain() }
    return isKnownUniquelyReferenced(&state)
  }
}

// MARK: - What needs no types

// Here, because unspecialised code of a generic type looks up the metadata of what is nested in it.
extension AnySharedState {
  /// What came of an attempt to merge one state into another.
  fileprivate enum MergeAttempt {
    case merged
    /// The same, and the other has progress, which comes from somebody else now.
    case mergedWithProgress(AnySharedState)
    case refused
    /// The other was busy, or has just been merged into a third.
    case delayed(by: AnySharedState)
  }

  /// Attempts a merge until it has succeeded, or is refused.
  /// - Returns: Whether it has succeeded.
  fileprivate static func retrying(_ attempt: () -> MergeAttempt) -> Bool {
    while true {
      switch attempt() {
      case .merged: return true
      case .mergedWithProgress(let target):
        target.relinkProgress()
        return true
      case .refused: return false
      case .delayed(let other): other.lock.withLock {}  // parks until that is free
      }
    }
  }

  /// Merges this state into `target`: what resolves it resolves `target` from now on, and is cancelled with it.
  ///
  /// Under the lock of this state, and takes that of `target` while it has it: once anybody finds this state merged, the
  /// target knows its producer. It does not wait for that lock, since two states could be about to merge into each other.
  fileprivate final func giveProducer(to target: AnySharedState, _ region: ProgressRegion) -> MergeAttempt {
    guard target !== self else { return .refused }
    let attempt = target.lock.withLockIfAvailable { () -> MergeAttempt in
      let phase = target.phase.load(ordering: .relaxed)
      guard phase != .merged else { return .delayed(by: target) }
      guard phase <= .following, !target.isCancelled else { return .refused }
      if case .stage(let stage) = producer {
        stage._withUnsafeGuaranteedRef {
          $0.region = region.of($0.region)
          target.setProducer(next: $0)
        }
      } else {
        target.setProducer(producer)
      }
      details = .merged(target)
      // Releasing: whoever sees the phase finds the target.
      self.phase.store(.merged, ordering: .releasing)
      return target.progressRecord == nil ? .merged : .mergedWithProgress(target)
    }
    return attempt ?? .delayed(by: target)
  }

  /// Whether this state has nothing but a stage that resolves it, or nobody.
  ///
  /// Under the lock.
  fileprivate final var hasNoDetails: Bool { details.isTrivial && !isCancelled }

  /// Whether nobody observes this state, and no promise can hand out another handle.
  ///
  /// Under the lock.
  fileprivate final var isUnobserved: Bool {
    let phase = phase.load(ordering: .relaxed)
    return (phase == .pending || phase == .following) && !hasPromise && consumers.isEmpty
  }

  /// Whether this is `other`, or was merged into it.
  @usableFromInline
  final func isMerged(into other: AnySharedState) -> Bool {
    // Relaxed: a hint where to look; `root` looks again.
    self === other || phase.load(ordering: .relaxed) == .merged && root === other
  }
}
