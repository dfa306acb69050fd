internal import Synchronization

// Cancellation goes against the current: from a future to what produces it. The way up is a loop and not a recursion, so a
// chain of any length takes no stack.

extension AnySharedState {
  /// Cancels the state: its producer hears of it first, and then it ends, if its failure type can say so (R15).
  ///
  /// Nothing happens if it has ended, or was cancelled before. What it was derived from is left, and is cancelled too if
  /// nobody else needs it (R16).
  @usableFromInline
  package final func cancel() { Self.cancel([self]) }

  /// Cancels the states, and what only they need.
  @usableFromInline
  static func cancel(_ states: [AnySharedState]) {
    var states: [AnySharedState] = states.reversed()
    var cancelled: [AnySharedState] = []
    while let state = states.popLast()?.root {
      guard let producer = state.beginCancelling() else { continue }
      for link in producer.links { link.disconnect() }
      producer.cancellation?.trigger()
      switch producer.kind {
      case .stage(let stage, let source):
        if source.leave(stage, silently: !state.canSayCancelled) { states.append(source) }
      case .task(let task): task.cancel()
      case .inputs(let inputs): states += inputs.leaveInputs(silently: !state.canSayCancelled).reversed()
      case .unknown: break
      }
      cancelled.append(state)
    }
    while let state = cancelled.popLast() { state.endCancelled() }
  }

  /// Cancels a state that nobody needs; what was about to attach to it counts as having come and gone (R16).
  @usableFromInline
  final func cancelIfUnneeded() {
    let state = root
    if state.lock.withLock({ state.isUnneeded }) { state.cancel() }
  }

  /// Takes a consumer away because of a cancellation, whether it has come here yet or not.
  ///
  /// O(1).
  /// - Parameters:
  ///   - node: The consumer.
  ///   - isSilent: Whether it still gets the result, because the state that it resolves cannot say "cancelled".
  /// - Returns: Whether nobody needs this state any more, so that it is to be cancelled, too.
  @usableFromInline
  final func leave(_ node: CallbackNode, silently isSilent: Bool = false) -> Bool {
    if isSilent { return silence(node) }
    let (left, isUnneeded) = lock.withLock { () -> (CallbackNode?, Bool) in
      if node.status.load(ordering: .relaxed) == .new {
        node.status.store(.finished, ordering: .relaxed)
        return (node, self.isUnneeded)
      }
      guard let listed = unlist(node) else { return (nil, false) }
      return (listed, self.isUnneeded)
    }
    guard left != nil || node.claimSubmitted() else { return false }
    node.release()
    return isUnneeded
  }

  /// Has a consumer wait on without being counted.
  private final func silence(_ node: CallbackNode) -> Bool {
    let (isSubmitted, isUnneeded) = lock.withLock { () -> (Bool, Bool) in
      switch node.status.load(ordering: .relaxed) {
      case .new: break
      // While it is being delivered to, its turn comes anyway.
      case .listed where phase.load(ordering: .relaxed) > .orphaned: return (false, false)
      case .listed: record.silent.append(consumers.remove(node))
      case .submitted: return (true, false)
      case .silent, .finished: return (false, false)
      }
      node.status.store(.silent, ordering: .relaxed)
      return (false, self.isUnneeded)
    }
    if isSubmitted { node.resolveWithoutContext(from: self) }
    return isUnneeded
  }

  /// Whether the state is unresolved, and nobody who counts waits for it.
  ///
  /// Under the lock.
  private final var isUnneeded: Bool {
    phase.load(ordering: .relaxed) <= .orphaned && consumers.isEmpty && !isCancelled
  }

  /// Who is to hear that a state was cancelled.
  private struct CancelledProducer {
    enum Kind {
      case unknown
      case stage(StageNode, source: AnySharedState)
      case task(Task<Void, any Error>)
      case inputs(InputHolder)
    }

    let kind: Kind
    let cancellation: CancellationState?
    /// The links to those whose progress makes that of the state, who would count as done when they are cancelled, too.
    let links: [ProgressLink]
  }

  /// Notes that the state was cancelled; `nil` if it was before, or has ended.
  private final func beginCancelling() -> CancelledProducer? {
    lock.withLock {
      guard phase.load(ordering: .relaxed) <= .orphaned, !isCancelled else { return nil }
      isCancelled = true
      let kind: CancelledProducer.Kind
      switch producer {
      // Both are alive now, as `StateDetails.stage` says; from here on they are held.
      case .stage(let stage):
        let stage = stage.takeUnretainedValue()
        guard let source = stage.source?.takeUnretainedValue() else {
          preconditionFailure("A stage resolves a future without having been attached to its source.")
        }
        kind = .stage(stage, source: source)
      case .task(let task): kind = .task(task)
      case .inputs(let inputs): kind = .inputs(inputs)
      case .none, .record, .dormant, .broken, .merged: kind = .unknown
      }
      // A stage that is left for good goes away, and so does what it told of its source.
      if canSayCancelled, case .stage = kind { setProducer(.none) }
      guard case .record(let record) = details else {
        return CancelledProducer(kind: kind, cancellation: nil, links: [])
      }
      let links = canSayCancelled ? record.progress?.takeLinks() ?? [] : []
      return CancelledProducer(kind: kind, cancellation: record.cancellation, links: links)
    }
  }

  private final var canSayCancelled: Bool { type(of: self).canSayCancelled }
}

// MARK: - Orphans

extension AnySharedState {
  /// Notes that nobody will ever resolve this state, nor what is derived from it, but by cancelling.
  ///
  /// An orphan is owned by its handles alone. So what was derived from it must not refer to it any more, and is an orphan
  /// itself: cancelling that does not reach this one, while cancelling this one still reaches that.
  @usableFromInline
  final func orphan(fromAtMost last: Phase = .following) {
    var states = [self]
    // Each is kept until what was derived from it does not refer to it any more.
    var kept: [AnySharedState] = []
    defer { withExtendedLifetime(kept) {} }
    while let state = states.popLast()?.root {
      kept.append(state)
      let (consumers, inputs, ended) = state.becomeOrphan(fromAtMost: last)
      states += consumers.compactMap { $0.stateToOrphan() }
      for input in inputs { state.tellOfOrphan(input) }
      ended?.release()
    }
  }

  /// Tells an input that its state will never be resolved, which may make another orphan, and so on; this nests only as deep
  /// as deliveries do.
  private final func tellOfOrphan(_ input: CallbackNode) {
    let loop = DeliveryLoop.current
    guard loop.enter() else { return loop.defer { input.deliver(input, self, loop) } }
    input.deliver(input, self, loop)
    loop.leave()
  }

  /// The consumers that stay, those that have been taken out to be told, and what the state lets go of.
  private final func becomeOrphan(fromAtMost last: Phase) -> ([CallbackNode], [CallbackNode], Ended?) {
    lock.withLock {
      guard phase.load(ordering: .relaxed) <= last else { return ([], [], nil) }
      var ended = Ended(producer: producer)
      var all = consumers.all
      if case .record(let record) = details {
        all += record.silent.all
        ended.links = record.progress?.takeLinks() ?? []
        ended.reporter = record.progress?.reporter
        record.progress?.reporter = nil
      }
      setProducer(.none)
      // Releasing, as every store of a phase; it announces nothing.
      phase.store(.orphaned, ordering: .releasing)
      let inputs = all.filter { $0.kind == .input }
      for input in inputs { _ = unlist(input) }
      return (all.filter { $0.kind != .input }, inputs, ended)
    }
  }
}

// MARK: - Producers

extension StageNode {
  /// Attaches the stage to `source`, as the producer of `derived`, which others may know already.
  ///
  /// If that was cancelled, the source is left at once (R17).
  @usableFromInline
  final func attach(to source: AnySharedState, resolving derived: AnySharedState) {
    self.source = Unmanaged.passUnretained(source)
    switch derived.adopt(self) {
    case .wanted: source.attach(.passRetained(self))
    case .silent:
      status.store(.silent, ordering: .relaxed)  // nobody else has this node yet
      source.attach(.passRetained(self))
      source.cancelIfUnneeded()
    case .unwanted: source.cancelIfUnneeded()
    }
  }
}

extension AnySharedState {
  /// What a new producer is to do.
  fileprivate enum Adoption { case wanted, silent, unwanted }

  /// Names `stage` as the producer of this state.
  fileprivate final func adopt(_ stage: StageNode) -> Adoption {
    let (adoption, hasProgress) = lock.withLock { () -> (Adoption?, Bool) in
      let phase = phase.load(ordering: .relaxed)
      guard phase != .merged else { return (nil, false) }
      guard phase <= .following else { return (.unwanted, false) }
      setProducer(next: stage)
      return (isCancelled ? .silent : .wanted, progressRecord != nil)
    }
    if hasProgress { relinkProgress() }
    return adoption ?? root.adopt(stage)
  }

  /// Puts `stage` in the place of the one before, whose region it takes over, but for what that has done.
  ///
  /// Under the lock.
  final func setProducer(next stage: StageNode) {
    if case .stage(let previous) = producer {
      // It is alive now, as `StateDetails.stage` says.
      previous._withUnsafeGuaranteedRef { stage.region = $0.regionOfNext.of(stage.region) }
    }
    setProducer(.stage(Unmanaged.passUnretained(stage)))
  }

  /// Puts `inputs` in the place of a stage that is over, unless the state has ended.
  final func setProducer(inputs: InputHolder) {
    let state = root
    state.lock.withLock {
      if state.phase.load(ordering: .relaxed) <= .following { state.setProducer(.inputs(inputs)) }
    }
  }

  /// Names a producer that is to hear of cancellation and of its awaiters' priority, unless the state has one, or has ended.
  @inlinable
  package final func setProducer<Success, Failure>(task: Task<Success, Failure>) {
    // A handle is one reference, whatever its parameters, and what is done with it here does not depend on them.
    setProducer(anyTask: unsafeBitCast(task, to: Task<Void, any Error>.self))
  }

  @usableFromInline
  final func setProducer(anyTask task: Task<Void, any Error>) {
    let isCancelled = lock.withLock {
      if phase.load(ordering: .relaxed) <= .following, case .none = producer { setProducer(.task(task)) }
      return self.isCancelled
    }
    if isCancelled { task.cancel() }
  }
}
