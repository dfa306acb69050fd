public import Synchronization

/// Whether something was cancelled, and who is to be told; what a token and its source share.
///
/// It is a shared state without a result: `pending` until it is cancelled, `delivering` while the handlers run, `resolved`
/// after that, and `broken` once nobody can cancel it any more.
@usableFromInline
package final class CancellationState: AnySharedState, @unchecked Sendable {
  // @unchecked: the variables are protected by `lock`.

  /// The delays after which it is cancelled.
  private var deadlines: [Interruption] = []

  /// Keeps the state until a deadline, where only its handlers wait for that.
  private var kept: CancellationState?

  @inlinable
  package init() { super.init(hasPromise: false) }

  deinit {
    for deadline in deadlines { deadline.end() }
    // Nobody can cancel it any more, so the handlers are released unrun.
    while consumers.popFirst() != nil {}
  }

  /// Whether it was cancelled.
  ///
  /// Acquiring: whoever finds it cancelled finds what was written before that.
  @inlinable
  package var wasCancelled: Bool { phase.load(ordering: .acquiring) >= .delivering }

  /// Adds a handler; runs it at once if it was cancelled, and releases it if it cannot be cancelled any more.
  ///
  /// O(1).
  @usableFromInline
  package func register(_ node: HandlerNode) -> Registration {
    let phase = lock.withLock {
      let phase = self.phase.load(ordering: .relaxed)
      if phase == .pending {
        node.status.store(.listed, ordering: .relaxed)
        consumers.append(node)
      }
      return phase
    }
    if phase == .pending { return Registration(state: self, node: node) }
    if phase >= .delivering { node.run() }
    return .finished
  }

  /// Cancels it: runs the handlers in order, and then those of the sources that are linked to it.
  ///
  /// Not by the delivery loop, which may put off what is nested deeply: when this returns, all of them have run (R13).
  /// - Returns: Whether this was the first time.
  @discardableResult
  package func trigger() -> Bool {
    guard begin() else { return false }
    var states = [self]
    while let state = states.popLast() {
      while let node = state.takeFirst() {
        let handler = unsafeDowncast(node, to: HandlerNode.self)
        if let linked = handler.linked {
          if linked.begin() { states.append(linked) }
        } else {
          handler.run()
        }
      }
    }
    return true
  }

  private func begin() -> Bool {
    let (isFirst, deadlines) = lock.withLock { () -> (Bool, [Interruption]) in
      guard phase.load(ordering: .relaxed) == .pending else { return (false, []) }
      // Releasing: whoever finds it cancelled finds what was written before that.
      phase.store(.delivering, ordering: .releasing)
      kept = nil  // the caller has a reference
      defer { self.deadlines = [] }
      return (true, self.deadlines)
    }
    for deadline in deadlines { deadline.end() }
    return isFirst
  }

  /// Notes that nobody can cancel it any more, and releases the handlers.
  ///
  /// A deadline can: then it lives until that, as long as somebody has a token or a handler waits.
  @usableFromInline
  package func end() {
    let hasDeadline = lock.withLock {
      guard !deadlines.isEmpty, phase.load(ordering: .relaxed) == .pending else { return false }
      if !consumers.isEmpty { kept = self }
      return true
    }
    if !hasDeadline { breakForever(.never, in: nil) }
  }

  /// Cancels it after `delay`, unless it is cancelled, or goes away, before that.
  func trigger(after delay: Duration, on context: ExecutionContext) {
    guard delay > .zero else {
      trigger()
      return
    }
    let deadline = Interruption()
    let isPending = lock.withLock {
      guard phase.load(ordering: .relaxed) == .pending else { return false }
      deadlines.append(deadline)
      return true
    }
    guard isPending else { return }
    deadline.start { context.schedule(after: delay) { [weak self] in self?.trigger() } }
  }
}

/// A handler in the list of those who want to know of a cancellation, or a source that is linked.
@usableFromInline
package final class HandlerNode: CallbackNode, @unchecked Sendable {
  // @unchecked: as the base class says.
  @usableFromInline package typealias Handler = @Sendable () -> Void

  /// Owned by whoever moves `status` to `finished`.
  @exclusivity(unchecked) private var handler: Handler?

  /// The source to be cancelled, instead of a handler.
  @exclusivity(unchecked) fileprivate var linked: CancellationState?

  /// The linked source by which this hears of a cancellation; it stays linked as long as somebody wants to hear.
  @exclusivity(unchecked) private var owner: CancellationTokenSource?

  @usableFromInline
  package init(_ handler: @escaping Handler, owner: CancellationTokenSource? = nil) {
    self.handler = handler
    self.owner = owner
    super.init(kind: .inline) { _, _, _ in }
  }

  init(linking linked: CancellationState, owner: CancellationTokenSource?) {
    self.linked = linked
    self.owner = owner
    super.init(kind: .inline) { _, _, _ in }
  }

  func run() {
    let handler = handler
    self.handler = nil
    handler?()
  }

  @usableFromInline
  override package func release() {
    handler = nil
    linked = nil
    owner = nil
  }
}
