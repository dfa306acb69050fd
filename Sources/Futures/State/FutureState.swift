/// The part of a future's state that does not depend on its types.
///
/// Read this page first.
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
/// | `dormant` | Pending. Its first consumer starts the producer (`lazy`). | `pending`, and all that `pending` has |
/// | `pending` | The producer can resolve it. | `following`, `orphaned`, `merged`, `broken`, `delivering`, `closing`, `resolved` |
/// | `following` | Pending. Only the followed future resolves it (`Promise.follow`). | as `pending` |
/// | `orphaned` | Pending without a producer (`never`). Only a cancellation resolves it. | `delivering`, `closing`, `resolved` |
/// | `merged` | Another state stands for it: `root`. | – |
/// | `broken` | Pending for ever: no producer, and a failure type that cannot hold `BrokenPromise`. | – |
/// | `delivering` | Resolved. One thread runs the consumers, other threads append theirs. | `closing`, `resolved` |
/// | `closing` | Resolved. One thread runs the last consumer. | `delivering`, `resolved` |
/// | `resolved` | Resolved, and every consumer has run or is with its context. | – |
///
/// Invariants:
/// 1. The phase changes under `lock`, as the table says. Two exchanges leave `closing`, and the first one wins. The
///    delivering thread ends the delivery without the lock. A late consumer reopens it under the lock.
/// 2. The outcome is written once, under the lock, before a releasing store of the phase. So a reader needs no lock.
/// 3. No user code, no release of a user's object and no resumption runs under a lock.
/// 4. No thread waits for the lock of a second state while it holds one. A merge tries the second lock, and starts again if
///    it is taken. The lock of a join or a queue comes after that of its derived state.
/// 5. A list owns its consumers, and so a source owns its stages. One consumer is not counted: a promise's state in its own
///    list, because the promise keeps it alive. A producer owns its state until it resolves, breaks or merges the state. A
///    stage refers to its source without owning it.
/// 6. A stage and its source are alive while the stage's root is pending and names the stage as its producer. Before the
///    delivery the source's producer keeps the source alive, and during it the delivering thread does. The delivering
///    thread resolves the root, or names another producer under the root's lock, before it releases either.
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
    case dormant, pending, following, orphaned, merged, broken, delivering, closing, resolved

    @inlinable
    package static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
  }

  /// Stored with `releasing` after the data that it publishes, and relaxed if it publishes none.
  ///
  /// Loaded with `acquiring` before a read of that data without the lock, and relaxed under the lock.
  @usableFromInline final let phase = AtomicByte<Phase>(.pending)

  @usableFromInline final let flags: AtomicByte<StateFlags.RawValue>

  @usableFromInline final let lock = Lock()

  @exclusivity(unchecked) @usableFromInline final var consumers = ConsumerList()

  /// The word that `producer` and `extras` read and change.
  @exclusivity(unchecked) @usableFromInline final var producerOrExtras = Producer.none

  /// - Parameters:
  ///   - isForPromise: Whether a promise resolves the state, which then has room for a first consumer.
  ///   - deliver: The delivery to the state, as the consumer of its source.
  @inlinable
  init(isForPromise: Bool, deliver: @escaping Delivery) {
    flags = AtomicByte((isForPromise ? [.hasPromise, .hasFreeSlot] : [] as StateFlags).rawValue)
    super.init(kind: .inline, deliver: deliver)
  }

  /// Makes a state without a source.
  @inlinable
  package convenience init() {
    self.init(isForPromise: false) { _, _, _ in
      preconditionFailure("A future without a source got a delivery. Attach only stages as consumers.")
    }
  }

  /// Makes a dormant state, whose producer starts with the first consumer.
  convenience init(_ start: LazyStart) {
    self.init()
    producer = .start(start)
    phase.store(.dormant, ordering: .relaxed)  // no other thread has the state yet
  }

  deinit {
    let phase = phase.load(ordering: .relaxed)
    if phase <= .orphaned { releaseConsumers() }
    if phase == .merged { releaseTargets() }
    if has(.isUnobservedFailure), FuturesDiagnostics.hasHandler { reportUnobservedFailure() }
  }

  // MARK: Overridden by typed states

  /// Breaks a state that has lost its producer (R4).
  ///
  /// It fails with the reason, if its failure type can hold that. Otherwise it stays pending for ever, and releases its
  /// callbacks.
  @usableFromInline
  package func breakPromise(_ reason: BreakReason, in trampoline: Trampoline?) {
    breakForever(reason, in: trampoline)
  }

  func reportUnobservedFailure() {}

  /// Returns an object to release after unlocking, when a consumer was removed.
  ///
  /// Under the lock.
  func takeUnneeded() -> AnyObject? { nil }

  /// Whether the failure type can represent cancellation.
  var canRepresentCancellation: Bool { false }

  /// Whether the state is resolved with a value.
  var hasSucceeded: Bool { false }

  /// Resolves the state as cancelled, if its failure type can represent that and the state is pending.
  func endCancelled() {}

  // MARK: Overridden by stages

  /// The state whose result a stage waits for.
  var stageSource: FutureState? { nil }

  /// Changes the state whose result a stage waits for.
  ///
  /// Under the lock of the root.
  func setStageSource(_ source: FutureState) {}

  /// Whether an interruption can resolve a stage before its source does.
  var isInterruptible: Bool { false }

  /// The part of the root's progress that a stage fills.
  ///
  /// Under the lock of the root.
  var place: ProgressPlace {
    get { .whole }
    set {}
  }
}

extension FutureState {
  /// The producer, which resolves the state.
  @inlinable
  final var producer: Producer {
    get { if case .extras(let extras) = producerOrExtras { extras.producer } else { producerOrExtras } }
    set {
      if case .extras(let extras) = producerOrExtras { extras.producer = newValue } else { producerOrExtras = newValue }
    }
  }

  /// The rarely needed data.
  final var extras: StateExtras? {
    if case .extras(let extras) = producerOrExtras { extras } else { nil }
  }

  /// Whether the state has no extras, and nothing of its producer to release when it settles.
  final var isPlain: Bool {
    switch producerOrExtras {
    case .none, .stage: true
    default: false
    }
  }

  /// The state that stands for this one: this one, or the last of the states that it is merged into.
  @usableFromInline
  final var root: FutureState {
    var state = self
    // Acquiring: pairs with the releasing store of the merge, after the target was written.
    while state.phase.load(ordering: .acquiring) == .merged, case .merged(let target) = state.producer {
      state = target
    }
    return state
  }

  /// Whether the root was cancelled.
  @usableFromInline
  final var wasCancelled: Bool {
    let state = root
    return state.lock.withLock { state.isCancelled }
  }

  @usableFromInline
  package final var isResolved: Bool {
    phase.load(ordering: .relaxed) >= .delivering
  }

  @usableFromInline
  final var breakReason: BreakReason? {
    // Acquiring: pairs with the releasing store after the reason was written, which is final.
    guard phase.load(ordering: .acquiring) == .broken, case .broken(let reason) = producer else { return nil }
    return reason
  }

  // MARK: - Releasing

  /// Returns the reference to a consumer that a list of this state owns.
  ///
  /// The state's own reference to itself, as its first consumer, is not counted.
  @inlinable
  @inline(__always)
  final func retainConsumer(_ consumer: Consumer) -> Unmanaged<Consumer> {
    consumer === self ? .passUnretained(consumer) : .passRetained(consumer)
  }

  /// Releases the reference that came with a consumer of this state.
  @inline(__always)
  final func releaseConsumer(_ consumer: Unmanaged<Consumer>) {
    if !isOwn(consumer) { consumer.release() }
  }

  /// Whether the consumer is this state, as its own first consumer.
  @inline(__always)
  final func isOwn(_ consumer: Unmanaged<Consumer>) -> Bool {
    consumer.toOpaque() == Unmanaged.passUnretained(self).toOpaque()
  }

  /// Releases the states that this one is merged into, one after another, because a chain of them can be long.
  private final func releaseTargets() {
    var next = takeTarget()
    while let state = next, state.phase.load(ordering: .relaxed) == .merged {
      _ = consume state
      guard isKnownUniquelyReferenced(&next) else { return }
      next = next?.takeTarget()
    }
  }

  private final func takeTarget() -> FutureState? {
    guard case .merged(let target) = producer else { return nil }
    producer = .none
    return target
  }

  /// Releases the consumers of an orphan, which can own the next orphan, and so on.
  ///
  /// This nests as deep as deliveries do.
  ///
  /// No other pending state has consumers here. Its producer owns it, and breaks it when the producer is dropped.
  private final func releaseConsumers() {
    if consumers.isEmpty, extras == nil { return }
    let this = Unmanaged.passUnretained(self).toOpaque()
    if let extras { consumers.append(&extras.silent) }
    _ = progressRecord?.end(isSuccess: false, before: &consumers)
    Trampoline.current.runOrDefer { [consumers] in
      var consumers = consumers
      while let consumer = consumers.popFirst() {
        if consumer.toOpaque() != this { consumer.release() }
      }
    }
  }
}
