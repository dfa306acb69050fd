public import Synchronization

/// Whether something was cancelled, and who is to be told; what a token and its source share.
///
/// It is a shared state without a result: `pending` until it is cancelled, `resolved` after that, and `broken` once nobody can
/// cancel it any more.
@usableFromInline
package final class CancellationState: AnySharedState, @unchecked Sendable {
  // @unchecked: the variables are protected by `lock`.

  /// The delays after which it is cancelled.
  private var deadlines: [Interruption] = []

  /// Whether the source has gone, so that only a deadline can cancel it.
  private var hasLostSource = false

  /// Keeps the state until a deadline, where only its handlers wait for that.
  private var kept: CancellationState?

  private var isLinked = false

  /// How many others may cancel it, since it is linked to them.
  private var parentCount = 0

  @usableFromInline
  package init() { super.init(hasPromise: false) }

  convenience init(parentCount: Int) {
    self.init()
    self.parentCount = parentCount
    isLinked = parentCount > 0
  }

  deinit {
    for deadline in deadlines { deadline.end() }
    // Nobody can cancel it any more, so the handlers are released unrun.
    while consumers.popFirst() != nil {}
  }

  /// Whether it was cancelled.
  ///
  /// Acquiring: whoever finds it cancelled finds what was written before that.
  @inlinable
  package var isTriggered: Bool { phase.load(ordering: .acquiring) == .resolved }

  /// Adds a handler; runs it at once if it was cancelled, and releases it if it cannot be cancelled any more.
  ///
  /// O(1). Inlinable, so that a registration that nobody wants costs nothing.
  @inlinable
  package func register(_ node: HandlerNode) -> Registration {
    add(.passRetained(node)) ? Registration(state: self, node: node) : .finished
  }

  /// Adds a handler whose reference is given away, to the list if it is to wait.
  @usableFromInline
  func add(_ reference: Unmanaged<HandlerNode>) -> Bool {
    var source: CancellationTokenSource?
    let phase = lock.withLock {
      let phase = self.phase.load(ordering: .relaxed)
      guard phase == .pending else { return phase }
      reference._withUnsafeGuaranteedRef { node in
        node.status.store(.listed, ordering: .relaxed)
        if isLinked, parentCount == 0 { source = node.takeSource() }
      }
      consumers.append(Unmanaged.fromOpaque(reference.toOpaque()))
      if hasLostSource { kept = self }
      return phase
    }
    _ = source  // released here, outside the lock
    guard phase != .pending else { return true }
    let node = reference.takeRetainedValue()
    if phase == .resolved { node.runAlone() } else { node.release() }
    return false
  }

  /// Notes that one of those to which this is linked cannot cancel it any more.
  ///
  /// After the last one the handlers need not keep the source, which hears of nobody.
  func parentEnded() {
    let sources = lock.withLock { () -> [CancellationTokenSource?] in
      parentCount -= 1
      guard parentCount == 0, phase.load(ordering: .relaxed) == .pending else { return [] }
      return consumers.all.map { unsafeDowncast($0, to: HandlerNode.self).takeSource() }
    }
    _ = sources  // released here, outside the lock
  }

  override func takeUnneeded() -> AnyObject? {
    guard consumers.isEmpty, let kept else { return nil }
    self.kept = nil
    return kept
  }

  /// Cancels it: runs the handlers in order, those of a source that is linked to it in the place of the link.
  ///
  /// Not by the delivery loop, which may put off what is nested deeply: when this returns, all of them have run (R13).
  /// - Returns: Whether this was the first time.
  @usableFromInline
  @discardableResult
  package func trigger() -> Bool {
    guard var handlers = begin() else { return false }
    // Those that are to go on where a linked source comes between them.
    var outer: [CallbackList] = []
    while true {
      while let node = handlers.popFirst() {
        // Whoever claims it runs it; `remove()` may have been faster.
        guard node.claimSubmitted() else { continue }
        // As it says: a second name for the node would be a second counted reference.
        guard let linked = withExtendedLifetime(node, { unsafeDowncast(node, to: HandlerNode.self).run() }) else {
          continue
        }
        if let inner = linked.begin() {
          if !handlers.isEmpty { outer.append(handlers) }
          handlers = inner
        }
      }
      guard let next = outer.popLast() else { return true }
      handlers = next
    }
  }

  /// Takes out the handlers, all at once, the first time.
  private func begin() -> CallbackList? {
    let (handlers, deadlines) = lock.withLock { () -> (CallbackList?, [Interruption]) in
      guard phase.load(ordering: .relaxed) == .pending else { return (nil, []) }
      // Releasing: whoever finds it cancelled finds what was written before that.
      phase.store(.resolved, ordering: .releasing)
      kept = nil  // the caller has a reference
      defer { self.deadlines = [] }
      return (consumers.takeAll(as: .submitted), self.deadlines)
    }
    for deadline in deadlines { deadline.end() }
    return handlers
  }

  /// Notes that nobody can cancel it any more, and releases the handlers.
  ///
  /// A deadline can: then it lives until that, as long as somebody has a token or a handler waits.
  @usableFromInline
  package func end() {
    let isOver = lock.withLock {
      guard phase.load(ordering: .relaxed) == .pending else { return true }
      if !deadlines.isEmpty {
        hasLostSource = true
        if !consumers.isEmpty { kept = self }
        return true
      }
      guard consumers.isEmpty else { return false }
      details = .broken(.never)
      phase.store(.broken, ordering: .releasing)
      return true
    }
    if !isOver { breakForever(.never, in: nil) }
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

/// A handler in the list of those who want to know of a cancellation.
@_fixed_layout
@usableFromInline
package class HandlerNode: CallbackNode, @unchecked Sendable {
  // @unchecked: as the base class says.
  @usableFromInline package typealias Handler = @Sendable () -> Void

  /// Owned by whoever moves `status` to `finished`.
  @exclusivity(unchecked) @usableFromInline final var handler: Handler?

  @inlinable
  package init(_ handler: Handler?) {
    self.handler = handler
    super.init(kind: .inline) { node, _, _ in node.release() }
  }

  /// Runs the handler, or answers which source is to be cancelled instead.
  @usableFromInline
  func run() -> CancellationState? {
    let handler = handler
    self.handler = nil
    handler?()
    return nil
  }

  /// Runs the handler, or cancels the source.
  final func runAlone() { run()?.trigger() }

  /// Takes out the source that this keeps.
  ///
  /// Under the lock of the state.
  func takeSource() -> CancellationTokenSource? { nil }

  @usableFromInline
  override package func release() { handler = nil }
}

/// A handler of a linked source, which stays linked as long as somebody wants to hear; or such a source itself.
@usableFromInline
final class LinkNode: HandlerNode, @unchecked Sendable {
  // @unchecked: as the base class says.
  private var state: CancellationState?

  /// The linked source by which this hears of a cancellation.
  private var source: CancellationTokenSource?

  @usableFromInline
  init(_ handler: @escaping Handler, of source: CancellationTokenSource?) {
    self.source = source
    super.init(handler)
  }

  init(linking state: CancellationState, to source: CancellationTokenSource?) {
    self.state = state
    self.source = source
    super.init(nil)
  }

  @usableFromInline
  override func run() -> CancellationState? {
    let state = state
    self.state = nil
    _ = super.run()
    source = nil
    return state
  }

  override func takeSource() -> CancellationTokenSource? {
    defer { source = nil }
    return source
  }

  @usableFromInline
  override func release() {
    super.release()
    source = nil
    let state = state
    self.state = nil
    state?.parentEnded()
  }
}
