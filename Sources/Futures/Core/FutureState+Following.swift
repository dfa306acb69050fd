// A stage whose transform made a pending future resolves as that future: it moves from the list of its source to the list of
// `inner`. If the stage's own state is private, its follower moves on instead, and the stage goes away:
//
//     outer ◀─ stage ◀─ source          outer ◀─┐
//                       inner     ══▶           └─ inner
//
// So the memory of `f(n) = step().flatMap { f(n - 1) }` is bounded: the outermost state always follows the newest one. Without
// this, each level would add a stage to a chain.

extension TypedState {
  /// Makes the state of a promise resolve as `other`, which is pending.
  @_alwaysEmitIntoClient
  final func followForPromise(_ other: consuming FutureState) {
    follow(other, by: FollowingStage<Stored>(for: self))
  }
}

extension FutureState {
  static var followsItself: String {
    "A future cannot resolve as itself, because it would stay pending for ever. Follow or return a different future."
  }

  /// Makes this state resolve as `other` through `stage`, which is new; consumes `other`, because `move` counts its references.
  @usableFromInline
  final func follow(_ other: consuming FutureState, by stage: FutureState) {
    require(self !== other, Self.followsItself)
    move(stage, to: &other, inside: nil)  // `nil`: a new stage has no previous source
  }

  /// Makes this stage, which has left the list of its source, resolve as the pending state `other`.
  ///
  /// While the stage resolves a private state, the only follower of that state takes the stage's place, and the state goes away.
  @usableFromInline
  final func follow(_ other: consuming FutureState) {
    require(self !== other, Self.followsItself)
    guard has(.isPrivate) else { return move(self, to: &other, inside: nil) }  // others can attach to this state too
    var stage: FutureState = self
    var place: ProgressPlace?  // `nil` until a follower replaces the stage
    // Until `move`, keeps each state that has lost its follower, because the follower refers to the state without owning it.
    var replaced: [FutureState] = []
    defer { withExtendedLifetime(replaced) {} }
    while true {
      let state = stage.target  // at first `self`, and then the state that the last follower resolves
      var released: Released?
      // Relaxed: a hint that saves the lock. A private state stays private.
      guard state.has(.isPrivate), let follower = state.takeFollower(replacing: stage, &place, &released) else { break }
      released.take()?.release()  // here, because `takeFollower` runs under the lock
      if state !== self { replaced.append(state) }  // the caller keeps `self` alive
      stage = unsafeDowncast(follower.takeRetainedValue(), to: FutureState.self)
    }
    let target = stage.target  // that of the last follower, so it is compared, too
    require(target !== other, Self.followsItself)
    target.move(stage, to: &other, inside: place)
  }

  /// Makes `stage`, which is in no list, the producer of this state, and attaches it to `source`.
  ///
  /// If the state was cancelled, `source` is cancelled too if nothing else waits for it (R17).
  /// - Parameters:
  ///   - stage: The stage, whose target is this state.
  ///   - source: The state to wait for.
  ///   - place: Where `source` stands inside the progress of the stage's previous source; `nil` if it comes after that source.
  final func move(_ stage: FutureState, to source: inout FutureState, inside place: ProgressPlace?) {
    guard let adoption = adopt(stage, waitingFor: source, inside: place) else {
      // This state is settled, an orphan, or about to resolve as cancelled, so the stage does not attach.
      return source.cancelIfUnneeded()
    }
    // Marks `source` as private if only its producer and this stage refer to it. `relinkProgress()` would add a reference.
    Self.makePrivate(&source)
    if adoption.needsRelink { relinkProgress() }
    source.attach(.passRetained(stage))
    if adoption.isCancelled { source.cancelIfUnneeded() }  // a result-only stage does not count as a consumer
  }

  /// Makes `task` the producer of a pending state, if it has none: the task can already have made its promise follow a future.
  ///
  /// Cancelling the state, also before this call, cancels the task. An await of the future raises the task's priority.
  @_alwaysEmitIntoClient
  package final func setProducer<Success, Failure>(task: Task<Success, Failure>) {
    // A task handle is one reference, whatever its type parameters are, and this code uses neither the value nor the error.
    setProducer(anyTask: unsafeBitCast(task, to: Task<Void, any Error>.self))
  }

  /// Notes whether the task that resolves this state runs on the main actor; `actor` is the actor of the task's closure.
  ///
  /// Called before the task starts. For the graph, and for the search for work that a blocked main thread holds up (R10a).
  @usableFromInline
  package final func noteActorOfTask(_ actor: any Actor) {
    if actor === MainActor.shared { insert(.needsMainActor) }
  }

  /// Does the work of `setProducer(task:)` without generic code: `task` is a task of any type, cast to this type.
  @usableFromInline
  final func setProducer(anyTask task: Task<Void, any Error>) {
    // `onlyIfFirst`: if the task's promise already follows a future, the following stage stays the producer.
    let wasCancelledBefore = setProducer(.task(task), onlyIfFirst: true)
    if wasCancelledBefore { task.cancel() }
  }
}
