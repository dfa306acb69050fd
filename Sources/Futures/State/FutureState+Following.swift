// A stage whose transform made a pending future resolves as that future. There are two ways:
//
//     outer ─▶ stage          merging: `inner` has no other handle. Its producer now resolves `outer`,
//     inner ─▶ producer       and `inner` only refers to `outer`.
//
//     outer ─▶ stage ─┐       relinking: `inner` stays. The stage moves from the list of its source
//     inner ◀─────────┘       to the list of `inner`.
//
// Merging keeps the memory of `f(n) = step().flatMap { f(n - 1) }` bounded. Each level's state is merged into the outermost
// one, and goes away with its step. Without merging, each level would add a stage to a chain.

extension TypedState {
  /// Locks a promise in: its future resolves as `other`.
  @inlinable
  final func followForPromise<V, F>(_ other: consuming Future<V, F>) where Stored == Outcome<V, F> {
    if let result = other.peek() {
      resolve(result, fromAtMost: .pending, in: nil)
    } else if beginFollowing() {
      // In one expression, so that no second reference to the state exists, which would prevent a merge.
      followMerging(other.takeState().unsafelyUnwrapped)
    } else if lock.withLock({ isCancelled }), let source = other.takeState() {
      source.cancelIfUnneeded()
    }
  }

  @usableFromInline
  final func followMerging(_ other: consuming FutureState) {
    require(!isMerged(into: other), Self.followsItself)
    if FutureState.merge(&other, into: self, replacing: nil) { return }
    // A stage that is merged into this state from the start, because the state's own links can be in use.
    let stage = FollowingStage<Stored>()
    stage.producer = .merged(self)
    stage.phase.store(.merged, ordering: .relaxed)  // no other thread has the stage yet
    stage.relink(to: other)
  }
}

extension FutureState {
  static var followsItself: String {
    "A future cannot resolve as itself, because it would stay pending for ever. Follow or return a different future."
  }

  /// Makes this stage resolve as `other`, which is pending.
  @usableFromInline
  final func follow(_ other: consuming FutureState) {
    require(!isMerged(into: other), Self.followsItself)
    if !Self.merge(&other, into: self, replacing: self) { relink(to: other) }
  }

  /// Whether this is `other`, or is merged into it.
  final func isMerged(into other: FutureState) -> Bool {
    // Relaxed: a hint where to look; `root` looks again.
    self === other || phase.load(ordering: .relaxed) == .merged && root === other
  }
}

// MARK: - Relinking

extension FutureState {
  /// Attaches this stage, which is in no list, to `source`, as the producer of its root.
  ///
  /// If the root was cancelled, the stage leaves `source` at once (R17).
  final func relink(to source: FutureState) {
    let (attaches, leaves) = adopt(self, waitingFor: source)
    if attaches { source.attach(.passRetained(self)) }
    if leaves { source.cancelIfUnneeded() }
  }

  /// Makes `stage` the producer of this state, if the state is pending.
  /// - Returns: Whether the stage attaches to `source`, and whether it leaves it or attaches as a silent consumer.
  private final func adopt(_ stage: FutureState, waitingFor source: FutureState) -> (attaches: Bool, leaves: Bool) {
    let (adoption, hasProgress) = lock.withLock { () -> ((attaches: Bool, leaves: Bool)?, Bool) in
      let phase = phase.load(ordering: .relaxed)
      guard phase != .merged else { return (nil, false) }
      guard phase <= .following else { return ((false, true), false) }
      stage.place = stage.place.next
      stage.kind = .follower
      stage.setStageSource(source)
      // Releasing: a cancelling thread that looks for the stage in the list of its old source finds the new source. See
      // `Stage.source`.
      stage.status.store(isCancelled ? .silent : .new, ordering: .releasing)
      producer = .stage(.passUnretained(stage))
      return ((true, isCancelled), progressRecord != nil)
    }
    if hasProgress { relinkProgress() }
    return adoption ?? root.adopt(stage, waitingFor: source)
  }

  /// Replaces a finished stage as the producer of the root, if the root is pending.
  final func setProducer(upstream: Upstream) {
    let state = root
    state.lock.withLock {
      if state.phase.load(ordering: .relaxed) <= .following { state.producer = .upstream(upstream) }
    }
  }

  /// Makes `work` the producer of a promise without one: tasks that await the promise's future raise the tasks of `work`.
  final func setProducer(sharedWork work: FutureState) {
    let upstream = SharedWork(work)
    lock.withLock {
      if phase.load(ordering: .relaxed) == .pending, case .none = producer { producer = .upstream(upstream) }
    }
  }

  /// Makes `task` the producer of a pending state without one.
  ///
  /// Cancelling the state then cancels the task, and an await of the future raises the task's priority.
  @inlinable
  package final func setProducer<Success, Failure>(task: Task<Success, Failure>) {
    // A task handle is one reference for all parameters, and this code uses none of them.
    setProducer(anyTask: unsafeBitCast(task, to: Task<Void, any Error>.self))
  }

  @usableFromInline
  final func setProducer(anyTask task: Task<Void, any Error>) {
    let isCancelled = lock.withLock {
      if phase.load(ordering: .relaxed) <= .following, case .none = producer { producer = .task(task) }
      return self.isCancelled
    }
    if isCancelled { task.cancel() }
  }
}

// MARK: - Merging

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
  static func collapse(_ state: inout FutureState) -> Bool {
    var follower: Unmanaged<Consumer>?
    var isCycle = false
    _ = retrying(&state) { state in
      guard state.phase.load(ordering: .relaxed) == .following, !state.has(.hasPromise),
        let only = state.consumers.only, only.kind == .follower, isOnlyHandle(&state)
      else { return .refused }
      let stage = unsafeDowncast(only, to: FutureState.self)
      let target = stage.root
      isCycle = target === state
      guard !isCycle, state.isPlain, !state.isCancelled else { return .refused }
      let attempt = state.giveProducer(to: target, replacing: stage)
      if case .merged = attempt { follower = state.consumers.remove(stage) }
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
    whileLocked(&state) { state in
      guard state.isUnobserved, state.progressRecord == nil, isOnlyHandle(&state) else { return false }
      switch state.producer {
      case .stage(let stage):
        // It is alive now (invariant 6).
        stage._withUnsafeGuaranteedRef { $0.place = $0.place.inside(ProgressPlace(share: share).next) }
        return true
      // Inputs cannot map their progress to a region.
      case .upstream: return share >= 1
      default: return true
      }
    }
  }

  /// Calls `body` under the lock of `state`, without retaining the state.
  ///
  /// In a debug build, `state.lock.withLock` retains the state while it runs. Then no handle would ever be the only one.
  private static func whileLocked<Result>(
    _ state: inout FutureState,
    _ body: (inout FutureState) -> Result
  ) -> Result {
    // A mutex never moves, so the pointer stays valid while the caller keeps the state alive.
    let lock = withUnsafePointer(to: state.lock) { $0 }
    return lock.pointee.withLock { body(&state) }
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

  /// The result of an attempt to merge one state into another.
  private enum MergeAttempt {
    /// If the target has progress, the new producer now supplies it.
    case merged(relinking: FutureState?)
    case refused
    /// Another thread had the lock of the target, or merged the target into a third state.
    case delayed(by: FutureState)
  }

  /// Attempts a merge under the lock of `state` until it succeeds or is refused.
  /// - Returns: Whether it succeeded.
  private static func retrying(_ state: inout FutureState, _ attempt: (inout FutureState) -> MergeAttempt) -> Bool {
    while true {
      switch whileLocked(&state, attempt) {
      case .merged(let target):
        target?.relinkProgress()
        return true
      case .refused: return false
      case .delayed(let other): other.lock.withLock {}  // waits until it is free
      }
    }
  }

  /// Merges this state into `target`, which takes over the producer.
  ///
  /// Under the lock of this state. It also takes the lock of `target`. So a thread that finds this state merged finds the
  /// producer in `target`. It does not wait for the second lock, because two states could merge into each other.
  private final func giveProducer(to target: FutureState, replacing stage: FutureState?) -> MergeAttempt {
    guard target !== self else { return .refused }
    let attempt = target.lock.withLockIfAvailable { () -> MergeAttempt in
      let phase = target.phase.load(ordering: .relaxed)
      guard phase != .merged else { return .delayed(by: target) }
      guard phase <= .following, !target.isCancelled else { return .refused }
      // It is alive now (invariant 6).
      if case .stage(let producer) = producer, let stage {
        producer._withUnsafeGuaranteedRef { $0.place = $0.place.inside(stage.place.next) }
      }
      target.producer = producer
      producer = .merged(target)
      // Releasing: a thread that sees the phase finds the target.
      self.phase.store(.merged, ordering: .releasing)
      return .merged(relinking: target.progressRecord == nil ? nil : target)
    }
    return attempt ?? .delayed(by: target)
  }

  /// Whether the state has no consumer, and no promise can make another handle.
  ///
  /// Under the lock.
  private final var isUnobserved: Bool {
    let phase = phase.load(ordering: .relaxed)
    return (phase == .pending || phase == .following) && !has(.hasPromise) && consumers.isEmpty
  }
}
