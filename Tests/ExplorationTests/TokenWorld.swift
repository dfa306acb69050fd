/// A cancellation token that threads share, and the checks at the end (R13, R14).
final class TokenWorld: ExploredWorld, @unchecked Sendable {
  // @unchecked: only the running explored thread, or the explorer's caller between runs, uses the variables.

  enum Operation: String, CaseIterable, Sendable {
    /// Registers a handler.
    case register
    /// Removes the handler that was registered before the threads began.
    case remove
    /// Cancels the source.
    case cancel
    /// Drops the source.
    case drop
    /// Reads whether the token is cancelled.
    case look
  }

  enum Shape: CaseIterable, Sendable {
    /// The threads register handlers with the token of the source.
    case direct
    /// The threads register handlers with the token of a second source, which is linked to the first.
    case linked
  }

  private var source: CancellationTokenSource?
  private var linked: CancellationTokenSource?
  private var token: CancellationToken?
  private let sourceLocation = ExploredLocation()
  private let notesLocation = ExploredLocation()

  private var handlers: [Handler] = []
  private var first: Registration?
  private var answers: [Bool] = []

  /// Whether a cancellation has begun.
  private var isCancelling = false

  /// The steps in which the cancellations began.
  private var cancellations: [Event] = []

  private var faults: [String] = []

  init(_ shape: Shape, _ threads: [[Operation]]) {
    let source = CancellationTokenSource()
    self.source = source
    if shape == .linked {
      let linked = CancellationTokenSource(linkedTo: source.token)
      token = linked.token
      self.linked = linked
    } else {
      token = source.token
    }
    first = register(nil)
  }

  func run(_ operation: Operation) {
    let thread = ExploredThread.current.unsafelyUnwrapped
    switch operation {
    case .register: _ = register(thread)
    case .remove:
      handlers[0].isBeingRemoved = true
      if let first { handlers[0].removals.append(first.remove()) }
    case .cancel: cancel(thread)
    case .drop:
      thread.step(.write, at: sourceLocation)
      source = nil
    case .look:
      guard token?.isCancelled == true else { return }
      if !isCancelling { faults.append("a token is cancelled although no thread cancelled its source") }
      if !cancellations.contains(where: thread.hasSeen) {
        faults.append("a thread saw the cancellation, but not what came before it")
      }
    }
  }

  private func cancel(_ thread: ExploredThread) {
    thread.step(.read, at: sourceLocation)
    let source = source
    withExtendedLifetime(source) {
      if let source {
        cancellations.append(thread.now)
        cancel(source)
      }
      // This release can drop the source.
      thread.step(.write, at: sourceLocation)
    }
  }

  private func cancel(_ source: CancellationTokenSource) {
    let before = handlers.filter(\.isRegistered)
    if !isCancelling { for handler in before { handler.isInTime = true } }
    isCancelling = true
    let isFirst = source.cancel()
    answers.append(isFirst)
    guard isFirst else { return }
    if before.contains(where: { !$0.hasRun && !$0.isBeingRemoved }) {
      faults.append("cancelling returned before a handler had run (R13)")
    }
  }

  private func register(_ thread: ExploredThread?) -> Registration? {
    let handler = Handler(registeredAt: thread?.now)
    handlers.append(handler)
    let closure = CapturedObject { [unowned self] fault in faults.append(fault) }
    handler.closure = closure
    let registration = token?.register { [unowned self] in
      closure.use()
      if handlers.contains(where: { $0.isDue(before: handler) }) { faults.append("a handler overtook another (R13)") }
      handler.runs += 1
      guard let thread = ExploredThread.current else { return }
      if thread.hasLock { faults.append("a handler ran under a lock (R3)") }
      if let registration = handler.registration, !thread.hasSeen(registration) {
        faults.append("a handler ran on a thread that has not seen what came before it was registered")
      }
      thread.step(.write, at: notesLocation)
    }
    handler.isRegistered = true
    return registration
  }

  func check() -> String? {
    let isCancelled = !answers.isEmpty
    if answers.filter(\.self).count != (isCancelled ? 1 : 0) {
      faults.append("not exactly one cancellation was the first (R13)")
    }
    if token?.isCancelled != isCancelled { faults.append("isCancelled of the token is wrong") }
    if isCancelled { faults += handlers.flatMap { $0.faults(isCancelled: true) } }
    weak let weakly: AnyObject? = linked
    first = nil
    source = nil
    linked = nil
    token = nil  // a linked token keeps its source
    if !isCancelled { faults += handlers.flatMap { $0.faults(isCancelled: false) } }
    if weakly != nil { faults.append("a linked source is never released (R14)") }
    return faults.first
  }
}

/// A registered handler.
private final class Handler: @unchecked Sendable {
  // @unchecked: only one thread runs at a time, as in the worlds.

  /// The step that registered the handler; `nil` if it was registered before the threads began.
  let registration: Event?

  var isRegistered = false

  /// Whether the handler was registered before the first cancellation began; a later handler can run at once.
  var isInTime = false

  var isBeingRemoved = false
  var runs = 0
  var removals: [Bool] = []
  weak var closure: CapturedObject?

  init(registeredAt registration: Event?) { self.registration = registration }

  var hasRun: Bool { runs > 0 }

  /// Whether this handler has not run yet and must run before `other`.
  func isDue(before other: Handler) -> Bool {
    guard self !== other, isInTime, other.isInTime, !hasRun, !isBeingRemoved else { return false }
    guard let mine = registration else { return other.registration != nil }
    guard let others = other.registration else { return false }
    return mine.thread == others.thread && mine.time < others.time
  }

  func faults(isCancelled: Bool) -> [String] {
    var faults: [String] = []
    let wasRemoved = removals.contains(true)
    if runs > 1 { faults.append("a handler ran twice (R13)") }
    if runs == 0, isCancelled, !wasRemoved { faults.append("a handler was lost (R13)") }
    if runs > 0, wasRemoved { faults.append("a handler ran that was removed (R7)") }
    if runs > 0, !isCancelled { faults.append("a handler ran although no thread cancelled the source") }
    if removals.filter(\.self).count > 1 { faults.append("a handler was removed twice (R7)") }
    if closure != nil { faults.append("a handler was not released (R5)") }
    return faults
  }
}
