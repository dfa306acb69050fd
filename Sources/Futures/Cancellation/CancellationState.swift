/// The shared state of a token and its source: whether it was cancelled, and its handlers.
@usableFromInline
package final class CancellationState: CancellationHandlers, @unchecked Sendable {
  // @unchecked: the variables are protected by `lock`.

  private enum Phase: UInt8, BitwiseCopyable {
    /// Not cancelled. Next is any other.
    case pending
    /// Final.
    case cancelled
    /// Nothing can cancel the state any more. Final.
    case uncancellable
  }

  /// Changes under `lock`.
  private let phase = AtomicByte<Phase>(.pending)

  private let lock = Lock()

  /// The handlers, in the order of registration.
  @exclusivity(unchecked) private var handlers = ConsumerList()

  /// The timers that cancel the state.
  @exclusivity(unchecked) private var deadlines: [Interruption] = []

  /// Whether the source has gone away, so that only a deadline can cancel the state.
  @exclusivity(unchecked) private var hasLostSource = false

  /// Keeps the state alive while it has handlers and only a deadline can cancel it, because a deadline does not own the state.
  @exclusivity(unchecked) private var selfReference: CancellationState?

  /// The number of linked parents that can still cancel the state; `nil` if it is not linked.
  @exclusivity(unchecked) private var parentCount: Int?

  @usableFromInline
  package init(parentCount: Int? = nil) { self.parentCount = parentCount }

  deinit {
    for deadline in deadlines { deadline.cancel() }
    // Nothing can cancel the state any more, so its handlers are released without running.
    while let handler = handlers.popFirst() { handler.release() }
  }

  /// Whether it was cancelled; acquiring, so that a thread that reads `true` sees everything written before the cancellation.
  @usableFromInline
  package var isTriggered: Bool { phase.load(ordering: .acquiring) == .cancelled }

  /// Whether it was not cancelled, and still can be; relaxed, because diagnostics need no more than a hint.
  package var isPending: Bool { phase.load(ordering: .relaxed) == .pending }

  /// Adds a handler; runs it at once after a cancellation, and releases it if no cancellation can follow.
  ///
  /// O(1). Inlinable, so that an ignored registration costs nothing.
  @inlinable
  package func register(_ consumer: CancellationHandler) -> Registration {
    add(.passRetained(consumer)) ? Registration(.token(self, consumer)) : .finished
  }

  /// As `register(_:)`, without a registration.
  /// - Parameter reference: A reference to the handler, which this call takes over.
  /// - Returns: Whether the handler is in the list. If not, it has run or was released.
  @usableFromInline
  func add(_ reference: Unmanaged<CancellationHandler>) -> Bool {
    var source: CancellationTokenSource?
    let phase = lock.withLock {
      let phase = self.phase.load(ordering: .relaxed)
      guard phase == .pending else { return phase }
      reference._withUnsafeGuaranteedRef { consumer in
        consumer.enter(.listed)
        // A handler of a linked source keeps that source only while a parent can cancel it.
        if parentCount == 0 { source = consumer.takeSource() }
      }
      handlers.append(Unmanaged.fromOpaque(reference.toOpaque()))  // the list has `Unmanaged<Consumer>`
      // Only a deadline, which does not keep the state, can still cancel it. So the state keeps itself for the handler.
      if hasLostSource { selfReference = self }
      return phase
    }
    _ = source  // released here, outside the lock
    guard phase != .pending else { return true }
    let consumer = reference.takeRetainedValue()
    // If the handler is a link from a parent, `run()` returns the state of the linked source, which this call cancels, too.
    if phase == .cancelled { consumer.run()?.trigger() } else { consumer.dropCaptures() }
    return false
  }

  /// Removes a handler that has not started; O(1).
  /// - Returns: Whether this removed it; `false` if it runs, has run, or was removed or released before.
  func remove(_ handler: Consumer) -> Bool {
    let (listed, selfReference) = lock.withLock { () -> (Unmanaged<Consumer>?, CancellationState?) in
      guard handler.currentStatus == .listed else { return (nil, nil) }
      handler.enter(.finished)
      let listed = handlers.remove(.passUnretained(handler))
      return (listed, handlers.isEmpty ? self.selfReference.take() : nil)  // no handler, no self-reference
    }
    // A cancelling thread can have taken the handler out of the list, to run it. Then the thread that claims it first decides.
    guard listed != nil || handler.claimSubmitted() else { return false }
    handler.dropCaptures()
    listed?.release()
    _ = selfReference  // released here, outside the lock
    return true
  }

  /// Notes that one of the parents, which this linked state follows, can no longer cancel it.
  ///
  /// When no parent is left, the handlers release the linked source, because they keep it only for its links to the parents.
  func parentEnded() {
    let sources = lock.withLock { () -> [CancellationTokenSource?] in
      parentCount? -= 1
      guard parentCount == 0 else { return [] }
      return handlers.all.map { unsafeDowncast($0, to: CancellationHandler.self).takeSource() }
    }
    _ = sources  // released here, outside the lock
  }

  /// Cancels the state, and runs the handlers in order; the handlers of a linked source run in the place of its link.
  ///
  /// Returns after the handlers, except in a deeply nested call: the outermost call of the thread then runs them later (R13).
  /// - Returns: Whether this was the first cancellation.
  @usableFromInline
  @discardableResult
  package func trigger() -> Bool {
    guard let handlers = markCancelled() else { return false }
    guard !handlers.isEmpty else { return true }
    let trampoline = Trampoline.current
    if trampoline.enterCancellation() {
      Self.run(handlers)
      trampoline.leaveCancellation()
    } else {
      trampoline.deferCancellation { Self.run(handlers) }
    }
    return true
  }

  /// Cancels the state as part of a future's cancellation, whose depth the trampoline counts.
  ///
  /// Unlike `trigger()`, it never defers the handlers: they must run before the future resolves (R15).
  override func run() {
    if let handlers = markCancelled() { Self.run(handlers) }
  }

  /// Runs the handlers in order; a loop, so that a chain of linked sources takes no stack.
  private static func run(_ handlers: ConsumerList) {
    var handlers = handlers
    // The remaining handlers of each outer list; they run after the handlers of a linked source.
    var outer: [ConsumerList] = []
    while true {
      while let consumer = handlers.popFirst()?.takeRetainedValue() {
        // The thread that claims a handler runs it; a concurrent `remove()` can claim it first.
        guard consumer.claimSubmitted() else { continue }
        // A link returns the state of its linked source. `withExtendedLifetime` keeps `consumer`: the cast counts no reference.
        guard
          let linked = withExtendedLifetime(consumer, { unsafeDowncast(consumer, to: CancellationHandler.self).run() })
        else {
          continue
        }
        if let inner = linked.markCancelled() {
          if !handlers.isEmpty { outer.append(handlers) }
          handlers = inner
        }
      }
      guard let next = outer.popLast() else { return }
      handlers = next
    }
  }

  /// Marks the state as cancelled, ends its deadlines and takes out its handlers; returns `nil` if it was not pending.
  private func markCancelled() -> ConsumerList? {
    let (handlers, deadlines) = lock.withLock { () -> (ConsumerList?, [Interruption]) in
      guard phase.load(ordering: .relaxed) == .pending else { return (nil, []) }
      // Releasing: a thread that sees this phase sees everything written before the cancellation.
      phase.store(.cancelled, ordering: .releasing)
      selfReference = nil  // not the last one: the caller has another
      defer { self.deadlines = [] }
      return (self.handlers.takeAll(), self.deadlines)
    }
    for deadline in deadlines { deadline.cancel() }
    return handlers
  }

  /// Releases the handlers, which can no longer run: the source was released, or the future of the token is resolved.
  ///
  /// Keeps them if a deadline can still cancel the state. Then the state keeps itself until that deadline, or until its last
  /// handler is removed.
  @usableFromInline
  override package func end() {
    let released = lock.withLock { () -> ConsumerList in
      guard phase.load(ordering: .relaxed) == .pending else { return ConsumerList() }
      guard deadlines.isEmpty else {
        hasLostSource = true
        if !handlers.isEmpty { selfReference = self }
        return ConsumerList()
      }
      // Relaxed: it publishes no data.
      phase.store(.uncancellable, ordering: .relaxed)
      return handlers.takeAll()
    }
    guard !released.isEmpty else { return }
    // A released handler can own the next source, which then ends, and so on: `runOrDefer` bounds the depth of the stack.
    Trampoline.current.runOrDefer {
      var handlers = released
      while let handler = handlers.popFirst()?.takeRetainedValue() {
        // `takeAll` has marked it as submitted. A concurrent `remove()` can claim it first.
        if handler.claimSubmitted() { handler.dropCaptures() }
      }
    }
  }

  /// Cancels the state after a delay, unless it is cancelled or released before.
  func trigger(afterNanoseconds delay: Int64, on context: ExecutionContext) {
    guard delay > 0 else {
      trigger()
      return
    }
    let deadline = Interruption()
    let isPending = lock.withLock {
      guard phase.load(ordering: .relaxed) == .pending else { return false }
      deadlines.append(deadline)  // a cancellation or the release of the state cancels the timer
      return true
    }
    guard isPending else { return }
    deadline.start { context.schedule(afterNanoseconds: delay) { [weak self] in self?.trigger() } }
  }
}

/// A cancellation handler, as an element of the state's list.
@_fixed_layout
@usableFromInline
package class CancellationHandler: Consumer, @unchecked Sendable {
  // @unchecked: as the base class says.
  @usableFromInline package typealias Handler = @Sendable () -> Void

  /// Owned by the thread that moves `status` to `finished`.
  @exclusivity(unchecked) @usableFromInline final var handler: Handler?

  @inlinable
  package init(_ handler: Handler?) {  // `nil` for the link from a parent to a linked source
    self.handler = handler
    super.init(kind: .inline) { _, _, _ in preconditionFailure("A cancellation handler was attached to a future.") }
  }

  /// Runs the handler.
  /// - Returns: `nil`. For a link, the override in `LinkedHandler` returns the state that the caller cancels next.
  func run() -> CancellationState? {
    let handler = handler
    self.handler = nil  // so that the captures are released after this run, also if a registration keeps this object
    handler?()
    return nil
  }

  /// Takes the linked source that this handler keeps alive; `nil` if it keeps none.
  ///
  /// Called under the state's lock once no parent can cancel that source. The caller releases the source after unlocking.
  func takeSource() -> CancellationTokenSource? { nil }

  @usableFromInline
  override package func dropCaptures() { handler = nil }
}

/// A handler of a linked source, or the link from a parent to such a source.
///
/// A handler keeps its source linked until the handler runs or is removed, or until no parent can cancel the source.
@usableFromInline
final class LinkedHandler: CancellationHandler, @unchecked Sendable {
  // @unchecked: as the base class says.
  /// The state of the linked source that this link cancels; `nil` for a handler.
  private var linkedState: CancellationState?

  /// The linked source whose token has this handler or link, if there is one; kept while a parent can cancel that source.
  private var source: CancellationTokenSource?

  /// Makes a handler; or, with `state` and without `handler`, a link that cancels `state`.
  @usableFromInline
  init(_ handler: Handler?, of source: CancellationTokenSource?, linking state: CancellationState? = nil) {
    self.linkedState = state
    self.source = source
    super.init(handler)
  }

  /// Runs the handler, or returns the linked state, which the caller cancels in a loop: a chain of sources takes no stack.
  override func run() -> CancellationState? {
    let state = linkedState.take()
    _ = super.run()
    source = nil  // no longer needed: it kept the links to the parents until now
    return state
  }

  override func takeSource() -> CancellationTokenSource? { source.take() }  // the source has no links left to keep

  override func dropCaptures() {  // called after a removal, or once nothing can cancel the token any more
    super.dropCaptures()
    source = nil
    linkedState.take()?.parentEnded()  // without this link, its parent cannot cancel the linked state
  }
}

extension FutureState {
  /// The token that is cancelled with the state; `.cancelled` or `.none` if the state can no longer have handlers.
  final var cancellationToken: CancellationToken {
    guard let handlers = cancellationHandlers({ CancellationState() }) else { return wasCancelled ? .cancelled : .none }
    return CancellationToken(state: unsafeDowncast(handlers, to: CancellationState.self))  // made only above
  }
}
