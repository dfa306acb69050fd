/// The state of a derived future, which is the consumer of its source.
///
/// Subclasses hold the user's transform and release it when it has run or was removed (R5). Their inlinable initializers
/// make the delivery closure, so that it is specialised for the caller's types.
@_fixed_layout
@usableFromInline
package class Stage<Stored: OutcomeStorage>: TypedState<Stored>, @unchecked Sendable {
  // @unchecked: as the base class says.

  /// The state whose result the stage waits for; not owned (invariant 6 of `FutureState`).
  ///
  /// Changes under the lock of the target, when the stage has left the list of its old source and is in no list yet. A cancelling
  /// thread that still has the old source asks `isConsumer(of:)` whether the stage waits there. Relaxed, because the status orders
  /// it: the stage stores the source before it enters a status (releasing), and that thread loads the status first (acquiring).
  @usableFromInline final let source: AtomicWord<Unmanaged<FutureState>?>

  /// - Parameters:
  ///   - source: The state to wait for, to which the caller attaches the stage next; `nil` if `adopt` sets it and the producer.
  ///   - deliver: Handles the result of the source.
  @inlinable
  init(of source: Unmanaged<FutureState>?, deliver: @escaping Delivery) {
    self.source = AtomicWord(source)
    super.init(isForPromise: false, isStage: source != nil, deliver: deliver)  // then it is its own producer
  }

  override final var stageSource: FutureState? { source.load(ordering: .relaxed)?.takeUnretainedValue() }

  override final func isConsumer(of source: FutureState) -> Bool {  // `false` if the stage has moved to another source
    self.source.load(ordering: .relaxed)?.toOpaque() == Unmanaged.passUnretained(source).toOpaque()
  }

  // Only a cancellation resolves the orphan `source`. Only this stage gives the target a result. So the target is an orphan, too.
  override func stateToOrphan(from source: FutureState) -> FutureState? { target }
}

/// A stage that can move on to another source, so that each source fills a part of the progress.
@_fixed_layout
@usableFromInline
package class MovingStage<Stored: OutcomeStorage>: Stage<Stored>, @unchecked Sendable {
  // @unchecked: the lock of the target protects `currentPlace`.
  @exclusivity(unchecked) @usableFromInline final var currentPlace: ProgressPlace

  /// - Parameters:
  ///   - source: As in `Stage`.
  ///   - progressShare: The share of the source in the progress; 1 for a stage that passes progress on.
  ///   - deliver: As in `Stage`.
  @inlinable
  init(of source: Unmanaged<FutureState>?, progressShare: Double, deliver: @escaping Delivery) {
    currentPlace = ProgressPlace(share: progressShare)
    super.init(of: source, deliver: deliver)
  }

  override final var canMove: Bool { true }

  override final func setStageSource(_ source: FutureState) {
    self.source.store(.passUnretained(source), ordering: .relaxed)
  }

  override final var place: ProgressPlace {
    get { currentPlace }
    set { currentPlace = newValue }
  }
}

extension TypedState {
  /// Resolves this state as `source`, which has the same type, and is resolved or broken.
  @_alwaysEmitIntoClient
  final func resolve(as source: FutureState, in trampoline: Trampoline) {
    if let result = unsafeDowncast(source, to: TypedState.self).result {
      resolve(result, in: trampoline)
    } else {
      passBreak(of: source, in: trampoline)
    }
  }
}

extension FutureState {
  /// Breaks this state for the same reason as its source.
  ///
  /// Inlinable, so that the call of `breakPromise` is specialised for the type of the stage.
  @_alwaysEmitIntoClient
  final func passBreak(of source: FutureState, in trampoline: Trampoline) {
    guard let reason = source.breakReason else {
      preconditionFailure("A stage got a delivery from a pending source. Deliver only from a settled source.")
    }
    breakPromise(reason, in: trampoline)
  }
}

/// A stage that resolves as its source.
@_fixed_layout
@usableFromInline
package final class FollowingStage<Stored: OutcomeStorage>: MovingStage<Stored>, @unchecked Sendable {
  // @unchecked: as the base class says.

  /// The promise's state to resolve, which joins no list of a source, because it can be in its own; `nil` for the stage itself.
  @usableFromInline final let promiseState: TypedState<Stored>?

  /// Makes a stage that resolves `promiseState`, or else itself; if `source` is `nil`, `adopt` sets the source later.
  @inlinable
  init(of source: Unmanaged<FutureState>? = nil, for promiseState: TypedState<Stored>? = nil, progressShare: Double = 1)
  {
    self.promiseState = promiseState
    super.init(of: source, progressShare: progressShare) { stage, source, trampoline in
      let stage = unsafeDowncast(stage, to: FollowingStage.self)
      (stage.promiseState ?? stage).resolve(as: source, in: trampoline)
    }
  }

  override var target: FutureState { promiseState ?? self }

  override func describe(into facts: inout NodeFacts, isListed: Bool) {
    // `isListed`: the caller has the lock of the source. Without that lock, `kind` can change.
    facts.setOperation(isListed && kind == .shield ? "shielded" : "follow")
  }
}
