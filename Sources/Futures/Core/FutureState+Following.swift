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
  /// Makes the state of a promise resolve as `other`, which is pending.
  @usableFromInline
  final func followMerging(_ other: consuming FutureState) {
    require(!isMerged(into: other), Self.followsItself)
    if FutureState.merge(&other, into: self, replacing: nil) { return }
    // A stage that is merged into this state from the start, because the state's own links can be in use.
    let stage = FollowingStage<Stored>()
    stage.beginMerged(into: self)
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

  /// Attaches this stage, which is in no list, to `source`, as the producer of its root.
  ///
  /// If the root was cancelled, the stage leaves `source` at once (R17).
  final func relink(to source: FutureState) { move(self, to: source) }

  /// Attaches `stage` to `source`, as the producer of this state or its root.
  private final func move(_ stage: FutureState, to source: FutureState) {
    switch adopt(stage, waitingFor: source) {
    case .attach(let isCancelled, let needsRelink):
      if needsRelink { relinkProgress() }
      source.attach(.passRetained(stage))
      if isCancelled { source.cancelIfUnneeded() }
    case .drop: source.cancelIfUnneeded()
    case .merged: root.move(stage, to: source)
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
    if adopt(task) { task.cancel() }
  }
}
