/// The part of a future's state that does not depend on its types.
///
/// Read this page first. It owns the lock, the phase, the list of consumers and the producer: no other file can change them.
/// Each change is one function of this file, a *transition*. A transition takes the lock, changes the state, and returns the
/// follow-up for its caller. Objects that the state no longer needs leave a transition as `Released`. So the lock covers no
/// release of a user's object.
///
/// A pending future shares one state with its copies and its producer. The state of a derived future is also the consumer
/// of its source: a stage is one object.
///
/// ```
///      handles (Future)          handles (Future)
///            │ own                     │ own
///            ▼                         ▼
///      ┌───────────┐   consumers  ┌───────────┐   consumers  ┌──────────┐
///      │   state   │─────────────▶│   stage   │─────────────▶│ observer │──▶ user's closure
///      └───────────┘     own      └───────────┘     own      └──────────┘
///            ▲    ◀╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┘  source (not owned)
///            │ owns
///        Promise, task, join
/// ```
///
/// | phase | meaning | next |
/// |---|---|---|
/// | `pending` | The producer can resolve it. With a `start` as its producer it is dormant: its first consumer starts it. | `following`, `orphaned`, `due`, `delivering`, `closing`, `resolved` |
/// | `following` | Pending. Only the followed future resolves it (`Promise.follow`). | as `pending` |
/// | `orphaned` | Pending without a producer (`never`). Only a cancellation resolves it. | `due`, `delivering`, `closing`, `resolved` |
/// | `due` | Resolved. One thread is about to run the consumers. | `delivering`, `closing`, `resolved` |
/// | `delivering` | Resolved. One thread runs the consumers, other threads append theirs. | `due`, `closing`, `resolved` |
/// | `closing` | Resolved. One thread runs the last consumer. | `delivering`, `resolved` |
/// | `resolved` | Resolved, and every consumer has run or is with its context. | – |
///
/// A state whose promise was dropped, and whose failure type cannot hold `BrokenPromise`, is *broken*: it goes through the last
/// four phases without an outcome, with the flag `isBroken` and the reason as its producer.
///
/// The transitions, in the order of a future's life, as in this file:
///
/// | transition | what happens | callers |
/// |---|---|---|
/// | `setProducer` | A stage, a task, inputs or a `start` will resolve the state. | `TypedState.init(_:)`, `Join.start`, `ItemQueue`, `setProducer(task:)`, `InterruptibleStage` |
/// | `setLabel`, `setPlace` | The promise gets a name or a place, for diagnostics. | `Promise` |
/// | `beginFollowing` | Only another future can resolve the state. | `Promise.follow` |
/// | `endPromise` | No new handles can be made. | `Promise.deinit` |
/// | `append` | A consumer joins the list, or gets the result at once. | `attach` |
/// | `takeStart` | A lazy producer starts. | `append`, `start` |
/// | `adopt` | A stage that has left its source waits for another one. | `move`, `splice` |
/// | `makePrivate`, `takeFollower`, `replace`, `narrow` | A follower takes the place of a state that no other code can reach. | `move`, `follow`, `splice` |
/// | `leave` | A consumer was removed or cancelled. | `remove`, `removeCancelled`, `endWait`, `ProgressLink.disconnect` |
/// | `beginCancelling` | The state is cancelled. | `cancel` |
/// | `cancellationHandlers` | The state gets its `onCancel` handlers. | `cancellationToken` |
/// | `becomeOrphan`, `claimNotified`, `leaveNotified` | The state never resolves, and its consumers learn it. | `orphan`, `OrphanedInputs` |
/// | `settle`, `settleBroken` | The state gets its outcome, or the reason of its break. | `resolve`, `breakForever` |
/// | `takeNextConsumer`, `giveUpDeliveryIfOnlyOthers`, `takeWaiters`, `endDelivery` | The consumers get the result, one after another. | `drain`, `resumeWaiters` |
///
/// A resolution in time, and a cancellation of a derived state:
///
/// ```
/// resolve ─▶ settle ── lock ── outcome, phase ── unlock ─▶ release the producer's objects
///                                                       ─▶ takeNextConsumer ── deliver ── … ─▶ endDelivery
/// cancel ─▶ beginCancelling ── lock ── flag ── unlock ─▶ onCancel handlers ─▶ the source: leave ─▶ … up the chain
///                                                     ─▶ resolveAsCancelled, from the last source down ─▶ settle
/// ```
///
/// Invariants, of which `checkInvariants` tests 1, 2 and 5 after each transition:
/// 1. The phase changes under `lock`, as the table says. Two exchanges leave `closing`, and the first one wins. The
///    delivering thread ends the delivery without the lock. A late consumer reopens it under the lock.
/// 2. The outcome is written once, under the lock, before a releasing store of the phase. So a reader needs no lock.
/// 3. No user code, no release of a user's object and no resumption runs under a lock.
/// 4. No thread takes the lock of a second state while it holds one. The lock of a join or a queue comes after that of its
///    derived state.
/// 5. A list owns its consumers, and so a source owns its stages. One consumer is not counted: a promise's state in its own
///    list, because the promise keeps it alive. A producer owns its state until it resolves or breaks the state. A stage
///    refers to its source without owning it.
/// 6. A stage and its source are alive while the stage's target is pending and names the stage as its producer. Before the
///    delivery the source's producer keeps the source alive, and during it the delivering thread does. The delivering
///    thread resolves the target, or gives the stage another source under the target's lock, before it releases either.
///
/// A cycle (state → stage → closure → state) lasts as long as a producer exists. A dropped producer breaks the state, which
/// empties the list, as a resolution does. Futures that follow each other in a circle are the exception: nothing resolves or
/// breaks them.
///
/// Memory: 50 bytes of the consumer, phase and flags 2, lock 4, consumers 8, producer or extras 8, then the outcome.
@_fixed_layout
@usableFromInline
package class FutureState: Consumer, @unchecked Sendable {
  // @unchecked: `lock` protects the variables, except where they say otherwise, until the phase is final. They never change
  // after that.

  @usableFromInline
  package enum Phase: UInt8, BitwiseCopyable, Comparable {
    case pending, following, orphaned, due, delivering, closing, resolved

    @inlinable
    package static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
  }

  /// Stored with `releasing` after the data that it publishes, and relaxed if it publishes none.
  ///
  /// Loaded with `acquiring` before a read of that data without the lock, and relaxed under the lock.
  fileprivate final let phase = AtomicByte<Phase>(.pending)

  @usableFromInline final let flags: AtomicByte<StateFlags.RawValue>

  fileprivate final let lock = Lock()

  @exclusivity(unchecked) fileprivate(set) final var consumers = ConsumerList()

  /// The word that `producer` and `extras` read and change.
  ///
  /// Q: Why one word for both? A: Few states have extras, and a word more would put each state into the next size of the allocator.
  @exclusivity(unchecked) fileprivate final var producerOrExtras = Producer.none

  #if DEBUG
    /// The phase at the end of the last transition, to find changes outside of transitions (invariant 1).
    @exclusivity(unchecked) fileprivate(set) final var phaseAfterTransition = Phase.pending
  #endif

  /// - Parameters:
  ///   - isForPromise: Whether a promise resolves the state, which then has a free slot for the closure of a callback or join.
  ///   - isStage: Whether the state is a stage that resolves itself, and has its source from the start.
  ///   - deliver: Handles the source's result. Runs when the state is a consumer.
  @usableFromInline
  init(isForPromise: Bool, isStage: Bool, deliver: @escaping Delivery) {
    flags = AtomicByte((isForPromise ? [.hasPromise, .hasFreeSlot] : [] as StateFlags).rawValue)
    super.init(kind: .inline, deliver: deliver)
    if isStage { producerOrExtras = .stage(.passUnretained(self)) }
  }

  deinit {
    if isPending { releaseConsumers() }  // a settled state has none
    if has(.isUnobservedFailure), FuturesDiagnostics.hasHandler { reportUnobservedFailure() }
  }

  // MARK: Overridden by typed states

  /// Breaks a state that has lost its producer (R4).
  ///
  /// The state fails with the reason, if its failure type can hold that. Otherwise it is broken: it gets no result, and releases
  /// its callbacks. A reason without an error makes it an orphan. `trampoline` has the effect that it has in `resolve(_:in:)`.
  @usableFromInline
  package func breakPromise(_ reason: BreakReason, in trampoline: Trampoline? = nil) {
    breakForever(reason, in: trampoline)  // never runs: each state is a `TypedState`, which overrides this function
  }

  /// Reports the failure of a released state to the handler of misuse, because no consumer and no reader has seen the failure.
  func reportUnobservedFailure() {}

  /// If this is the resolved source that a call of `Future(on:)` made, the place of that call; `nil` for any other state.
  var startPlace: PromisePlace? { nil }

  var canRepresentCancellation: Bool { false }

  var hasSucceeded: Bool { false }

  #if DEBUG
    var hasOutcome: Bool { false }
  #endif

  /// Resolves the state as cancelled, if its failure type can represent that and the state is pending.
  func resolveAsCancelled() {}

  // MARK: Overridden by stages

  /// The state that a stage resolves: the stage itself, or the state of the promise that follows the stage's source.
  var target: FutureState { self }

  /// The state whose result a stage waits for.
  var stageSource: FutureState? { nil }

  /// Changes the state whose result a stage waits for, under the lock of the target.
  func setStageSource(_ source: FutureState) {
    preconditionFailure("Only a stage that can move on gets another source.")
  }

  /// Whether a stage can move on to another source, and change its place in the progress.
  var canMove: Bool { false }

  /// The part of the target's progress that the source of a stage fills; under the lock of the target.
  var place: ProgressPlace {
    get { .whole }
    set { preconditionFailure("Only a stage that can move on changes its place in the progress.") }
  }
}

/// The rarely needed data of a state, allocated on first use.
@usableFromInline
final class StateExtras {
  fileprivate(set) var producer: Producer

  /// Names the promise of the state in diagnostics, if it has a label.
  fileprivate(set) var label: PromiseLabel?

  /// The place of the promise that failed the state, if a handler of misuse was set.
  fileprivate(set) var place: PromisePlace?

  /// The progress of the work, once a producer reports it or a listener asks for it.
  fileprivate(set) var progress: ProgressRecord?

  /// The `onCancel` handlers.
  fileprivate(set) var cancellation: CancellationHandlers?

  fileprivate init(_ producer: Producer) { self.producer = producer }
}

// MARK: - Reading

extension FutureState {
  /// The phase; relaxed, because the caller has the lock, or reads no other data of the state.
  final var currentPhase: Phase { phase.load(ordering: .relaxed) }

  /// Whether the state can still be resolved, broken or cancelled.
  final var isPending: Bool { currentPhase <= .orphaned }

  /// Whether the state is pending, and no orphan: its producer, which can be a promise, can still resolve it.
  final var hasProducer: Bool { currentPhase <= .following }

  /// Whether the state has an outcome, or is broken.
  ///
  /// Acquiring: pairs with the releasing store after the outcome, or the reason and the flag of the break, was written.
  @usableFromInline
  final var isSettled: Bool { phase.load(ordering: .acquiring) >= .due }

  /// Whether the state has a result.
  @usableFromInline
  package final var isResolved: Bool { isSettled && !has(.isBroken) }

  /// The reason of the break; `nil` if the state is not broken.
  @usableFromInline
  final var breakReason: BreakReason? {
    guard isBroken, case .broken(let reason) = producer else { return nil }
    return reason
  }

  #if DEBUG
    /// The phase for a check of the invariants; the explorer does not count this load as a step.
    final var phaseForCheck: Phase { phase.load(ordering: .relaxed) }
  #endif

  /// Calls `body` under the lock, to read several things at once, or to change the record of the progress.
  @inline(__always)
  final func underLock<Output>(_ body: () -> Output) -> Output { lock.withLock(body) }

  /// As `underLock(_:)`, but returns `nil` without calling `body` if another thread has the lock.
  final func underLockIfAvailable<Output>(_ body: () -> Output) -> Output? { lock.withLockIfAvailable(body) }

  /// Calls `body` under the lock of `state`, without retaining the state.
  ///
  /// In a debug build, `state.lock.withLock` retains the state while it runs. Then `isOnlyHandle` would never be `true`.
  @inline(__always)
  static func underLock<Output>(_ state: inout FutureState, _ body: (inout FutureState) -> Output) -> Output {
    // A lock never moves, so the pointer stays valid while the caller keeps the state alive.
    let lock = withUnsafePointer(to: state.lock) { $0 }
    return lock.pointee.withLock { body(&state) }
  }

  /// The record of the progress, if it was requested or reported; under the lock.
  final var progressRecord: ProgressRecord? { extras?.progress }
}

// MARK: - Under the lock

extension FutureState {
  fileprivate(set) final var producer: Producer {
    get { if case .extras(let extras) = producerOrExtras { extras.producer } else { producerOrExtras } }
    set {
      if case .extras(let extras) = producerOrExtras { extras.producer = newValue } else { producerOrExtras = newValue }
    }
  }

  final var extras: StateExtras? {
    if case .extras(let extras) = producerOrExtras { extras } else { nil }
  }

  private final func makeExtras() -> StateExtras {
    if let extras { return extras }
    let extras = StateExtras(producer)  // they hold the producer from now on, because they take its place in the state
    producerOrExtras = .extras(extras)
    return extras
  }

  /// Whether the state has no extras, and nothing of its producer to release when it settles.
  final var isPlain: Bool {
    switch producerOrExtras {
    case .none, .stage: true
    default: false
    }
  }

  /// Whether the producer has not started, because no consumer has attached yet.
  ///
  /// The patterns leave out the payload of `.start`, because a copy of the producer would count a reference.
  final var isDormant: Bool {
    guard currentPhase == .pending else { return false }  // in no other phase is the producer a `.start`
    switch producerOrExtras {
    case .start: return true
    case .extras(let extras): if case .start = extras.producer { return true } else { return false }
    default: return false
    }
  }

  /// The sources of an orphan, which is pending without a producer; `nil` for an orphan without sources and for any other state.
  final var orphanedInputs: OrphanedInputs? {
    guard currentPhase == .orphaned, case .inputs(let inputs) = producer else { return nil }
    return inputs as? OrphanedInputs  // never `nil`: `becomeOrphan` has set them, and no other inputs replace them
  }

  /// Whether the state is pending, was not cancelled, and has no consumer that keeps it running.
  ///
  /// An orphan has removed the inputs of joins from its list, but `notified` still counts them as consumers. `false` for the
  /// state of `Future.never`, which other code can share.
  final var isUnneeded: Bool {
    guard isPending, consumers.onlyWantsResults, !isCancelled else { return false }
    return hasProducer || orphanedInputs?.notified == 0  // `never` has no `orphanedInputs`
  }

  /// The stage that resolves a pending state, and its source.
  ///
  /// Both are alive now (invariant 6), and the result keeps them alive. A settled state still names its stage, whose source
  /// can be gone.
  final var derivation: Derivation? {
    guard hasProducer, case .stage(let reference) = producer else { return nil }
    let stage = reference.takeUnretainedValue()
    guard let source = stage.stageSource else {
      preconditionFailure("The stage of a pending future has no source. Set the source before the producer.")
    }
    return Derivation(stage: stage, source: source)
  }
}

// MARK: - Transitions: producers

extension FutureState {
  /// Makes `new` the producer of a pending state; has no effect on an orphan or a settled state.
  /// - Parameters:
  ///   - new: The producer.
  ///   - isFirstOnly: Whether to keep a producer that was set before, such as the stage of a promise that follows a future.
  /// - Returns: Whether the state was cancelled before, so that the caller cancels the new producer.
  @usableFromInline
  @discardableResult
  final func setProducer(_ new: Producer, onlyIfFirst isFirstOnly: Bool = false) -> Bool {
    changing {
      // `hasProducer` asks the phase: a promise is a producer, too, for which the variable is `.none`.
      if hasProducer, !isFirstOnly || isProducerUnset { producer = new }
      return isCancelled
    }
  }

  private final var isProducerUnset: Bool { if case .none = producer { true } else { false } }

  /// Sets the label of the promise for which the state was just made, for diagnostics.
  @usableFromInline
  final func setLabel(_ label: PromiseLabel) { changing { makeExtras().label = label } }

  /// Notes where the state's promise, which is about to go away, was made: for the report of an unobserved failure.
  final func setPlace(_ place: PromisePlace) { changing { makeExtras().place = place } }

  /// Makes the progress record of a state that has none, under the lock.
  final func makeProgressRecord() -> ProgressRecord {
    let record = ProgressRecord()
    makeExtras().progress = record
    return record
  }

  /// Marks a pending state as following another future.
  /// - Returns: `false` if the state is settled, is an orphan, or already follows another future.
  @usableFromInline
  final func beginFollowing() -> Bool {
    changing {
      guard currentPhase == .pending else { return false }
      // Relaxed: it publishes no data. The data of a following state is read under the lock.
      phase.store(.following, ordering: .relaxed)
      return true
    }
  }

  /// Notes that the promise makes no more futures of this state; called when the promise is released.
  /// - Returns: The phase. The caller breaks the state if it is `pending`; a `following` one resolves as the followed future.
  final func endPromise() -> Phase {
    changing {
      remove(.hasPromise)
      return currentPhase
    }
  }
}

// MARK: - Transitions: attaching

extension FutureState {
  /// Appends a consumer to the list, unless the consumer has left, or the caller delivers to it at once.
  /// - Parameter reference: A reference to the consumer. The list owns it if the consumer is `listed`, and the caller does
  ///   otherwise.
  /// - Returns: The caller's next step.
  final func append(_ reference: Unmanaged<Consumer>) -> Attachment {
    changing {
      let (status, attachedKind) = reference._withUnsafeGuaranteedRef { ($0.currentStatus, $0.kind) }
      guard status == .new || status == .resultOnly else { return .left }  // `resultOnly`: still needs the result
      var current = currentPhase
      if current == .closing {
        // Reopens a delivery that is about to end (invariant 1). Relaxed: the delivering thread finds the new phase, then takes the
        // lock, and so sees the list.
        let isReopened = phase.compareExchange(expected: .closing, desired: .delivering, ordering: .relaxed).exchanged
        current = isReopened ? .delivering : .resolved
      }
      if current >= .due {  // resolved or broken
        noteObserved()  // only here, because a pending state is never marked as unobserved
        // A consumer of a broken state waits for ever. An earlier report does not cover this one, so another report is allowed.
        if has(.isBroken), case .broken(let reason) = producer { reason.allowAnotherReport() }
      }
      switch current {
      case .pending:
        let start = isDormant ? takeStart() : nil
        list(reference, status)
        return .listed(starting: start)
      case .following, .due, .delivering:
        list(reference, status)
        // Marks a consumer that another thread attaches during the delivery, so that the delivering thread can hand it on after
        // 1,000 of these (R28). The delivering thread itself has the delivery in its trampoline.
        if current == .delivering, !Trampoline.current.deliveries.contains(where: { $0.delivers(self) }) {
          reference._withUnsafeGuaranteedRef { $0.enter(.listedByOther) }
        }
        return .listed(starting: nil)
      case .orphaned where attachedKind != .input:
        if status == .resultOnly, isEndless {  // not even a cancellation brings the result that the consumer waits for
          reference._withUnsafeGuaranteedRef { $0.enter(.finished) }
          return .orphaned
        }
        // The list gets a reference of its own, because the caller uses `reference` to make an orphan of the derived state, too.
        list(retainConsumer(reference.takeUnretainedValue()), status)
        return .orphaned
      case .orphaned:  // the consumer is an input of a join
        // Its delivery notifies the join that this state never resolves. The input is in no list, but counts as a consumer of
        // this state until it leaves. A result-only one does not count, because it keeps no state running.
        if status == .new { reference._withUnsafeGuaranteedRef { countNotified($0) } }
        return .due
      case .closing, .resolved:  // not `closing`, which was replaced above
        reference._withUnsafeGuaranteedRef { markTaken($0) }
        return .due
      }
    }
  }

  /// Takes the closure that starts a lazy producer, for `start()`; `nil` if it has started already, or the state was cancelled.
  final func takeStartOfProducer() -> LazyStart? { changing { isDormant ? takeStart() : nil } }

  /// Takes the closure that starts a dormant state's producer; `nil` if the state was cancelled; under the lock.
  private final func takeStart() -> LazyStart? {
    guard !isCancelled, case .start(let lazy) = producer else { return nil }
    producer = .none
    // The closure gets a promise, through which other code can reach the state. So `makePrivate` must leave the state alone.
    insert(.hasPromise)
    return lazy
  }

  /// Adds a consumer to the list; under the lock.
  ///
  /// A result-only consumer was cancelled before it attached. It keeps this status while the state is pending, so that it does
  /// not keep the state running. It goes to the front, because `onlyWantsResults` looks only at the last consumer.
  @inline(__always)
  private final func list(_ reference: Unmanaged<Consumer>, _ status: Consumer.Status) {
    if status == .resultOnly, isPending {
      consumers.prepend(reference)
    } else {  // a new consumer, or any consumer of a settled state, which only delivers
      reference._withUnsafeGuaranteedRef { $0.enter(.listed) }
      consumers.append(reference)
    }
  }
}

// MARK: - Transitions: moving on

extension FutureState {
  /// Makes `stage`, which has left its source and waits for `source` from now on, the producer of this state.
  /// - Parameters:
  ///   - stage: The stage, which is in no list. Its target is this state: the stage itself, or the state of a promise.
  ///   - source: The stage's next source.
  ///   - place: The place of `source` in the progress of the stage's previous source; `nil` if it comes after that.
  /// - Returns: How the caller attaches the stage; `nil` if the state is settled, an orphan, or about to resolve as cancelled.
  final func adopt(_ stage: FutureState, waitingFor source: FutureState, inside place: ProgressPlace?) -> Adoption? {
    changing {
      guard hasProducer, !isCancelled || !canRepresentCancellation else { return nil }
      stage.place = place?.inside(stage.place) ?? stage.place.next  // `next`: the place after the previous source
      stage.kind = .follower  // passes the next source's result on
      stage.setStageSource(source)
      // After the source is set: this releasing store makes the source visible to a thread that loads the status.
      stage.enter(isCancelled ? .resultOnly : .new)
      producer = .stage(.passUnretained(stage))
      return Adoption(isCancelled: isCancelled, needsRelink: progressRecord != nil)  // the record has the links
    }
  }

  /// Marks a state as private if only its producer and the caller, which attaches a follower to it next, refer to the state.
  ///
  /// No other consumer can come. So if the stage that produces the state moves on to another source, the follower can wait for
  /// that source in place of the stage.
  static func makePrivate(_ state: inout FutureState) {
    // A promise can make more handles. This relaxed load only saves the lock, because `canBeExclusive` asks again under it.
    if state.has(.hasPromise) { return }
    underLock(&state) { state in
      // `takeFollower` drops a private state. So it must have no handlers and no progress (`isPlain`), and no cancellation that it
      // would pass on to its next source.
      guard state.canBeExclusive, state.isPlain, !state.isCancelled else { return }
      if isOnlyHandle(&state) { state.insert(.isPrivate) }
    }
  }

  /// Takes the follower of this private state from the list, so that the follower can wait for the next source in place of `stage`.
  ///
  /// Afterwards the state has no producer and no consumer, and goes away.
  /// - Parameters:
  ///   - stage: The stage that would resolve this state. It is in no list.
  ///   - place: The place of the next source in the progress of `stage`'s previous source; `nil` if it comes after that. This
  ///     call replaces it by the place in the progress of this state, which was the follower's source.
  ///   - released: The objects that the state no longer needs.
  /// - Returns: The list's reference to the follower; `nil` if it has left, or this state was cancelled or has no producer.
  final func takeFollower(
    replacing stage: FutureState,
    _ place: inout ProgressPlace?,
    _ released: inout Released?
  ) -> Unmanaged<Consumer>? {
    changing {
      guard hasProducer, !isCancelled, let follower = consumers.only else { return nil }
      place = place?.inside(stage.place) ?? stage.place.next  // from the previous source's progress to this state's
      if isPlain { producer = .none } else { released = detach() }  // not plain: progress or `setPlace` came meanwhile
      follower.enter(.finished)  // as after a delivery: the follower now gets another source
      return consumers.remove(.passUnretained(follower))
    }
  }

  /// Takes `follower` from the list of `state`, for `splice`; called when the promise of `state` goes away.
  ///
  /// `source → stage → state → follower → target` becomes `source → follower → target`, if only the caller and the producer refer to
  /// `state`, and it has nothing else to pass on. The state is then private. Otherwise `refused`; or `circle`, if `target` is the
  /// state or its source.
  static func takeFollower(ofPromise state: inout FutureState) -> Splicing {
    underLock(&state) { state in  // not `changing`, which would retain the state in a debug build
      guard state.currentPhase == .following, let only = state.consumers.only, only.kind == .follower else {
        return .refused
      }
      // `isOnlyHandle` comes first, because `derivation` retains the source. If that is this state, it would have two handles.
      guard isOnlyHandle(&state), let derivation = state.derivation else { return .refused }
      let follower = unsafeDowncast(only, to: FutureState.self)
      guard follower.target !== state, follower.target !== derivation.source else { return .circle }
      guard state.isPlain, !state.isCancelled else { return .refused }  // it has something to pass on
      state.insert(.isPrivate)  // if `splice` fails, the other `takeFollower` can still drop the state later
      follower.enter(.finished)  // as after a delivery, until `adopt` gives the follower a source
      return .moving(state.consumers.remove(.passUnretained(only)), past: derivation, derivation.stage.place)
    }
  }

  /// Replaces `old` in this state's list by `follower`, for `splice`, which drops the state between `old` and `follower`.
  /// - Returns: The list's reference to `old`; `nil` if one of them has left, or this state is an orphan or delivers to `old`.
  final func replace(_ old: FutureState, by follower: FutureState) -> Unmanaged<Consumer>? {
    changing {
      guard currentPhase != .orphaned,  // a replacement would not make an orphan of the follower's target, too
        follower.currentStatus == .new,  // set by `adopt`; not cancelled or removed
        old.currentStatus == .listed, old.isConsumer(of: self)  // it waits here, and gets no delivery yet
      else { return nil }
      old.enter(.finished)
      follower.enter(.listed)
      return consumers.replace(.passUnretained(old), by: .passRetained(follower))
    }
  }

  /// Narrows the progress region of `stage`, this state's producer since `adopt`, to the part that its new source fills: `place`.
  /// - Returns: Whether this state has progress, which the caller must link to the new source.
  final func narrow(_ stage: FutureState, to place: ProgressPlace) -> Bool {
    changing {
      stage.place = place.inside(stage.place)
      return progressRecord != nil
    }
  }
}

// MARK: - Transitions: leaving and cancelling

extension FutureState {
  /// Ends the wait of a consumer that is removed or cancelled before its delivery, and takes it from its list; O(1).
  /// - Parameters:
  ///   - consumer: The consumer: not attached yet, in the list, or a join's input that this orphan notified and still counts.
  ///   - isResultOnly: Whether the consumer was cancelled, although its failure type cannot represent cancellation. Then it stays
  ///     for the result, but no longer keeps this state running (R16).
  /// - Returns: The follow-up; `nil` if the consumer has started or left, its context has it, or it gets the result anyway.
  final func leave(_ consumer: Consumer, forResult isResultOnly: Bool = false) -> Departure? {
    changing {
      // The status is loaded first, because that makes the source visible to this thread (`Stage.source`).
      let status = consumer.currentStatus
      guard consumer.isConsumer(of: self) else { return nil }
      var reference: Unmanaged<Consumer>?
      switch status {
      case .new: break  // `attach` later finds the status that the consumer enters below
      case .notified: orphanedInputs?.notified -= 1  // in no list, but counted as a consumer if the orphan has sources
      case .submitted, .finished: return nil
      // Leaves the list, because the consumer needs no result.
      case .listed where !isResultOnly, .listedByOther where !isResultOnly, .resultOnly where !isResultOnly:
        reference = unlist(consumer)
      case .listed where isEndless: reference = unlist(consumer)  // no result comes for which it could stay
      // Stays for the result: at the front, because `onlyWantsResults` looks only at the last consumer.
      case .listed where isPending: consumers.prepend(consumers.remove(.passUnretained(consumer)))
      // The consumer gets its delivery anyway: it is result-only, or the state is settled, as it always is for `listedByOther`.
      case .listed, .listedByOther, .resultOnly: return nil
      }
      // A consumer that was taken from its list gets no result.
      consumer.enter(isResultOnly && reference == nil ? .resultOnly : .finished)
      return Departure(
        reference: reference,
        previous: status,
        isUnneeded: consumer.kind != .shield && isUnneeded  // a shield passes no cancellation on
      )
    }
  }

  /// Whether no result ever comes, not even by a cancellation; under the lock.
  ///
  /// This is a `Future.never` (the orphan without sources) whose failure type cannot represent cancellation.
  private final var isEndless: Bool { currentPhase == .orphaned && orphanedInputs == nil && !canRepresentCancellation }

  /// Takes a consumer from its list, under the lock; returns `nil` if it is in no list.
  private final func unlist(_ consumer: Consumer) -> Unmanaged<Consumer>? {
    guard consumer.next != nil else { return nil }  // in no list: cancelled before it attached, or when `notified`
    let reference = Unmanaged.passUnretained(consumer)
    // A settled state has moved its listeners to the consumers.
    let isListener = consumer.kind == .progress && isPending
    return isListener ? progressRecord?.listeners.remove(reference) : consumers.remove(reference)
  }

  /// Marks the state as cancelled, and returns the objects to notify; `nil` if it is settled or already cancelled.
  final func beginCancelling() -> Cancellation? {
    changing {
      guard isPending, !isCancelled else { return nil }
      insert(.isCancelled)
      // A state that cannot represent cancellation keeps waiting for its result, with its progress and its stage.
      let endsNow = canRepresentCancellation
      // Detached before the caller cancels the inputs: the record would count each input that ends as done.
      let progress = endsNow ? progressRecord?.detach(.cancelled) : nil
      // The producer and the handlers are copied: the state keeps both for a later transition, but can drop a stage (below).
      let released = Released(producer: producer, cancellation: extras?.cancellation, progress: progress)
      let derivation = derivation  // read before `producer` changes; keeps the stage and its source alive
      if derivation != nil, endsNow { producer = .none }  // the producer does not own the stage, which can now go away
      return Cancellation(released: released, derivation: derivation)
    }
  }

  /// Returns the `onCancel` handlers of a pending state, and makes them on first use.
  /// - Parameter make: Makes them. Runs under the lock.
  /// - Returns: The handlers; `nil` if the state was settled, or cancelled before they were made.
  final func cancellationHandlers(_ make: () -> CancellationHandlers) -> CancellationHandlers? {
    changing {
      guard isPending else { return nil }
      if let handlers = extras?.cancellation { return handlers }  // if they were cancelled, a new one runs at once
      guard !isCancelled else { return nil }  // a cancellation does not reach handlers that are made after it
      let handlers = make()
      makeExtras().cancellation = handlers
      return handlers
    }
  }
}

// MARK: - Transitions: orphans

extension FutureState {
  /// Makes an orphan of this state, which is then pending without a producer; the caller does the same with derived states.
  /// - Parameters:
  ///   - sources: The orphans from which this state is derived; `nil` if it is derived from none.
  ///   - isDormantOnly: Whether to change only a dormant state: its producer waits for a first consumer, and has not started.
  ///   - released: The objects that the state no longer needs.
  /// - Returns: The consumers that the caller handles next; none if the state stays as it was.
  final func becomeOrphan(
    of sources: OrphanedInputs?,
    onlyDormant isDormantOnly: Bool,
    _ released: inout Released?
  ) -> Orphaning {
    changing {
      guard hasProducer, !isDormantOnly || isDormant, sources?.stageHasMovedOn != true else { return Orphaning() }
      if isCancelled, canRepresentCancellation { return Orphaning() }  // it is about to resolve
      // The `onCancel` handlers stay, because a cancellation can still come.
      released = Released(producer: producer, cancellation: nil, progress: progressRecord?.detach(.orphaned))
      let all = consumers.all
      producer = sources.map { .inputs($0) } ?? .none
      // Relaxed: it publishes no data. The data of an orphan is read under the lock.
      phase.store(.orphaned, ordering: .relaxed)
      // The inputs of joins leave the list, as the caller notifies them now. The others stay, as a cancellation can still come.
      let inputsOfJoins = all.filter { $0.kind == .input }
      for input in inputsOfJoins {
        let wasConsumer = input.currentStatus == .listed  // otherwise it is result-only, and keeps no source running
        if let reference = unlist(input) { releaseConsumer(reference) }  // not the last one: `all` has another
        if wasConsumer { countNotified(input) } else { input.enter(.finished) }  // only a consumer still counts
      }
      return Orphaning(consumers: all.filter { $0.kind != .input }, inputs: inputsOfJoins)
    }
  }

  /// Counts an input of a join, which is in no list, so that this orphan is not unneeded before the input leaves; under the lock.
  ///
  /// The delivery to the input then notifies the join that this state never resolves.
  private final func countNotified(_ input: Consumer) {
    input.enter(.notified)
    orphanedInputs?.notified += 1  // `nil` for `Future.never`, which needs no count: it is never unneeded
  }

  /// Claims an input that this orphan has notified, for the `OrphanedInputs` of the input's join, which becomes an orphan, too.
  ///
  /// The input is finished, so that `leave` ignores it. It counts as a consumer until `OrphanedInputs` calls `leaveNotified()`.
  /// - Returns: `false` if the input has left before.
  final func claimNotified(_ input: Consumer) -> Bool {
    changing {
      guard input.currentStatus == .notified else { return false }
      input.enter(.finished)
      return true
    }
  }

  /// Stops counting an input that its join has claimed; called when the join, an orphan by now, is cancelled or released.
  /// - Returns: Whether this state has no other consumer, so that the caller can cancel it.
  final func leaveNotified() -> Bool {
    changing {
      orphanedInputs?.notified -= 1  // `nil` once settled, or without sources, as `never`: then `isUnneeded` is `false`
      return isUnneeded
    }
  }
}

// MARK: - Transitions: settling and delivering

extension FutureState {
  /// Resolves a state, if `resolver` can resolve it in its present phase; returns the caller's next step.
  ///
  /// `store` writes the result. `released` gets the objects that the state no longer needs.
  @inline(__always)
  final func settle(
    isSuccess: Bool,
    by resolver: Resolver,
    _ released: inout Released?,
    _ store: () -> Void
  ) -> Settlement {
    changing {
      // A promise or a task does not resolve a state that follows another future by now; that future does.
      guard currentPhase <= resolver.last else { return .rejected }
      store()
      if !isSuccess, consumers.isEmpty { insert(.isUnobservedFailure) }
      consumers.moveResultOnlyToEnd()  // cancelled consumers that still need the result get it last
      if !isPlain {  // has extras, or something of its producer to release
        released = detach()
      } else if consumers.isEmpty || resolver.canTakeFirst {
        // `takeFirst` also stores the next phase. If it takes a consumer, the caller runs that next, without locking again.
        return takeFirst().map { .deliver(startingWith: $0) } ?? .done  // a plain state has no progress to end
      }
      // The caller first releases objects, or delivers later. Until then the consumers are in the list, where they can be removed.
      return endPending(isSuccess: isSuccess)
    }
  }

  /// Settles a state without an outcome, as broken for ever.
  /// - Returns: `rejected` if the state is settled, and otherwise the caller's next step.
  final func settleBroken(_ reason: BreakReason, _ released: inout Released?) -> Settlement {
    changing {
      guard isPending else { return .rejected }
      insert(.isBroken)
      consumers.moveResultOnlyToEnd()  // cancelled consumers that still wait for the result get the delivery last
      if !isPlain { released = detach() }  // it has extras, or a producer to release
      // To drop the promise of a cancelled future is no mistake.
      producer = .broken(isCancelled ? reason.withoutReport : reason)
      return endPending(isSuccess: false)
    }
  }

  /// Sets the status of a consumer that is about to get its delivery, under the lock.
  private final func markTaken(_ consumer: Consumer) {
    let kind = consumer.kind
    // A context runs the consumer later. The waiter of a broken future gets no result, but its task can still end the wait.
    let staysRemovable = kind == .queued || kind == .custom || (kind == .waiter && has(.isBroken))
    consumer.enter(staysRemovable ? .submitted : .finished)
  }

  /// Takes the first consumer, and stores the phase that follows; the outcome, or the reason of the break, is already there.
  ///
  /// Under the lock. After the last consumer the phase is `closing`, so that `endDelivery` needs no lock.
  @inline(__always)
  private final func takeFirst() -> TakenConsumer? {
    guard let reference = consumers.popFirst() else {
      // Releasing: a thread that sees the phase sees the outcome, or the reason of the break.
      phase.store(.resolved, ordering: .releasing)
      return nil
    }
    let isOfOtherThread = reference.isOfOtherThread  // read now, because `markTaken` changes the status
    reference._withUnsafeGuaranteedRef { markTaken($0) }
    let isLast = consumers.isEmpty
    phase.store(isLast ? .closing : .delivering, ordering: .releasing)  // as above
    return TakenConsumer(reference: reference, isLast: isLast, isOfOtherThread: isOfOtherThread)
  }

  /// Ends the progress of a state that has its outcome, or the reason of its break, and stores the next phase; under the lock.
  private final func endPending(isSuccess: Bool) -> Settlement {
    let isNotifying = progressRecord?.end(isSuccess: isSuccess, before: &consumers) ?? false
    let isIdle = consumers.isEmpty
    // Idle: not even a listener is left, because the call above has moved the listeners to the front of `consumers`.
    phase.store(isIdle ? .resolved : .due, ordering: .releasing)  // as in `takeFirst`
    // If a thread notifies the listeners now, it also delivers to the consumers afterwards.
    return isIdle || isNotifying ? .done : .deliver(startingWith: nil)
  }

  /// Takes the next consumer, which the delivering thread runs; `nil` ends the delivery.
  final func takeNextConsumer() -> TakenConsumer? { changing { takeFirst() } }

  /// Ends a delivery without the lock (invariant 1), unless another consumer came while the last one ran.
  /// - Returns: `false` if another consumer came, which the caller runs next.
  final func endDelivery() -> Bool {
    // Releasing: a thread that finds the state resolved runs its callback at once, after the callbacks of this delivery (R2).
    phase.compareExchange(expected: .closing, desired: .resolved, ordering: .releasing).exchanged
  }

  /// Ends this thread's delivery if only *others* are left: consumers that other threads attach during it, perhaps without end.
  /// - Returns: `nil` if the delivery has ended on this thread: the state is then `due` for another thread. Otherwise the number
  ///   of others before the last own consumer (see `drain`). The caller asks again only after that consumer, because each call
  ///   visits the whole list. So no consumer is visited more than twice.
  @inline(never)
  final func giveUpDeliveryIfOnlyOthers() -> Int? {
    changing {
      var (others, othersBeforeLastOwn): (Int, Int?) = (0, nil)  // `nil` without an own consumer
      for consumer in consumers { if consumer.isOfOtherThread { others += 1 } else { othersBeforeLastOwn = others } }
      if othersBeforeLastOwn == nil { phase.store(.due, ordering: .releasing) }  // so that readers see the outcome
      return othersBeforeLastOwn
    }
  }

  /// Takes the waiters of a settled state from the list, to resume them now; leaves the callbacks there for a later delivery.
  /// - Returns: The waiters, and whether any consumers are left, which can also be waiters that stay.
  final func takeWaiters() -> (waiters: ConsumerList, leavesCallbacks: Bool) {
    changing {
      // Otherwise the state is `resolved`: it settled without consumers while this thread notified the listeners (R20).
      guard currentPhase == .due else { return (ConsumerList(), false) }
      // Waiters stay in a broken state, which has no result for them, and behind listeners, which get the progress first (R20).
      let keepsWaiters = has(.isBroken) || consumers.first?._withUnsafeGuaranteedRef({ $0.kind }) == .progress
      let waiters = keepsWaiters ? ConsumerList() : consumers.takeWaiters()
      if consumers.isEmpty { phase.store(.resolved, ordering: .releasing) }
      return (waiters, !consumers.isEmpty)
    }
  }
}

// MARK: - Releasing

extension FutureState {
  /// Takes out the objects that a state no longer needs once it is settled or, in `takeFollower`, goes away; under the lock.
  private final func detach() -> Released {
    let released = Released(
      producer: producer,
      cancellation: extras?.cancellation,
      progress: progressRecord?.detach(.settled)
    )
    producer = .none
    extras?.cancellation = nil
    return released
  }

  /// Releases the consumers, which never run, of a state that is deallocated while it is pending.
  ///
  /// Only an orphan has consumers then: a producer owns its state, and breaks the state when the producer is dropped.
  /// A consumer can own the next orphan, and so on. `runOrDefer` bounds the depth of these nested releases.
  private final func releaseConsumers() {
    extras?.cancellation?.end()  // releases the `onCancel` handlers, which a kept token would keep
    // Moves the listeners of the progress into `consumers`, so that they are released below. `_`: no result is delivered here.
    _ = progressRecord?.end(isSuccess: false, before: &consumers)
    // A promise's state that stores a callback is in its own list, unretained. It leaves, as the closure below can outlive it.
    let this = Unmanaged.passUnretained(self).toOpaque()
    if let own = consumers.first(where: { $0.toOpaque() == this }) { consumers.remove(own) }
    if consumers.isEmpty { return }
    Trampoline.current.runOrDefer { [consumers] in
      var consumers = consumers
      while let consumer = consumers.popFirst() { consumer.release() }
    }
  }
}

// MARK: - Invariants

extension FutureState {
  /// Makes a transition: calls `change` under the lock.
  @inline(__always)
  private final func changing<Output: ~Copyable>(_ change: () -> Output) -> Output {
    #if DEBUG
      lock.withLock {
        guard FuturesDiagnostics.invariantHandler != nil else { return change() }
        let before = phaseForCheck
        defer {
          checkInvariants(after: before)
          phaseAfterTransition = phaseForCheck  // after the check, which compares the old value with `before`
        }
        return change()
      }
    #else
      // `change` itself: a closure around it would add a call.
      lock.withLock(change)
    #endif
  }
}
