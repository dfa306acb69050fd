/// A future that threads share, and the checks at the end.
///
/// The failure type can represent cancellation (`any Error`), or cannot (`BrokenPromise`).
final class FutureWorld<Failure: Error>: ExploredWorld, @unchecked Sendable {
  // @unchecked: only the running explored thread, or the explorer's caller between runs, uses the variables.
  typealias Operation = FutureOperation
  typealias Shape = FutureShape

  private let operations: Set<Operation>
  private let shape: Shape
  private var isPlain: Bool { shape == .plain || shape == .free }
  private var isFollowing: Bool { FutureShape.following.contains(shape) }
  private var canRepresentCancellation: Bool { Failure.self == (any Error).self }

  private var promise: Promise<Int, Failure>?
  private var future: Future<Int, Failure> = .never
  private var link = FutureLink<Failure>()
  private var states: [() -> AnyObject?] = []

  /// The resolutions with values; each value is an index of this array.
  private var resolutions: [Resolution] = []
  private var hasFailed = false
  private var hasHandler = false
  private var handlerRuns = 0
  private weak var handlerClosure: CapturedObject?
  /// The step that made the future follow the promise's future; `nil` before, or if it followed from the beginning.
  private var following: Event?

  /// The number of times that the future began to follow.
  private var followings = 0
  private weak var transformClosure: CapturedObject?

  /// Whether a thread has begun to cancel, and whether the followed future had a callback then.
  private var (hasBegunCancelling, isInnerNeeded) = (false, false)
  private var callbacks: [ExploredCallback] = []
  private var innerCallbacks: [(callback: ExploredCallback, inner: Future<Int, Failure>)] = []
  private var listeners: [Listener] = []
  private var held: [@Sendable () -> Void] = []

  private let first: RemovableCallback
  private var second: RemovableCallback?
  private var abandoned: Waiting<Failure>?
  private var waits: [Waiting<Failure>] = []

  /// Stands for the promise, so that dropping it is a step.
  private let promiseLocation = ExploredLocation()

  /// Stands for the link, so that using it is a step.
  private let linkLocation = ExploredLocation()

  /// Stands for the notes of this object, so that callbacks of two threads have an order.
  private let notesLocation = ExploredLocation()

  private var faults: [String] = []

  init(_ shape: Shape, _ threads: [[Operation]]) {
    operations = Set(threads.joined())
    self.shape = shape
    let promise = Promise<Int, Failure>()
    self.promise = promise
    first = RemovableCallback(ExploredCallback(attachedAt: nil, on: shape == .free ? 2 : 0))
    (future, link) = shape.future(of: promise, noteFollowing: noteFollowing())
    link.track(promise.future, future)
    states = link.states
    callbacks.append(first.callback)
    // A context other than `immediate` leaves the room for a first callback free.
    attach(first, on: shape == .free ? ExecutionContext { work in work() } : .immediate)
    // A handler disables the fast paths, so few shapes have one.
    let mayHaveHandler = operations.contains(.cancel) || shape == .shielded
    hasHandler = mayHaveHandler && shape != .free && (!isFollowing || !canRepresentCancellation)
    if hasHandler { handleCancellation(promise) }
    if !operations.contains(.follow) { follow() }
    if !operations.isDisjoint(with: [.listen, .report]) { listen() }
    if !operations.isDisjoint(with: [.removeHeld, .runHeld]) {
      let second = RemovableCallback(ExploredCallback(attachedAt: nil, on: 1))
      self.second = second
      callbacks.append(second.callback)
      attach(second, on: ExecutionContext { [unowned self] work in hold(work) })
    }
    waits = threads.joined().filter { $0 == .await }.map { _ in Waiting() }
    guard !operations.isDisjoint(with: [.abandon, .abandonCancelling]) else { return }
    if let waiting = waits.first {
      // A thread can abandon the await before the await begins.
      abandoned = waiting
    } else {
      let waiting = Waiting<Failure>()
      abandoned = waiting
      waits.append(waiting)
      waiting.begin(future)
    }
  }

  // MARK: - Called by the explored threads

  func run(_ operation: Operation) {
    let thread = ExploredThread.current.unsafelyUnwrapped
    if !hasBegunCancelling, [.cancel, .deriveAndCancel, .abandonCancelling].contains(operation) {
      hasBegunCancelling = true
      isInnerNeeded = !innerCallbacks.isEmpty
    }
    switch operation {
    case .attach: attach(RemovableCallback(note(thread)), on: .immediate)
    case .remove: first.remove()
    case .removeHeld: second?.remove()
    case .succeed: succeed(thread)
    case .fail: withPromise(thread) { promise in if promise.fail(Failed() as! Failure) { hasFailed = true } }
    case .cancel: future.cancel()
    case .drop:
      thread.step(.write, at: promiseLocation)
      promise = nil
    case .report: withPromise(thread) { $0.progress.report(completed: Int64(thread.number + 1), of: 4) }
    case .listen: listen()
    case .derive: future.map { $0 }.whenResolved(on: .immediate, run(note(thread, on: callbacks.count)))
    case .deriveAndCancel: future.map { $0 }.cancel()
    case .peek: if let result = future.peek() { check(result, seenBy: thread) }
    case .await: waits.first { !$0.hasBegun }?.begin(future)
    case .abandon: abandoned?.abandon(future, isCancelling: false)
    case .abandonCancelling: abandoned?.abandon(future, isCancelling: true)
    case .runHeld: runHeld()
    case .follow: follow()
    case .dropSource:
      thread.step(.write, at: linkLocation)
      if shape == .chained { link.chain = [] } else { link.follow = nil }
    case .attachInner:
      if let inner = link.inner {
        attach(toInner: inner)
      } else {
        withPromise(thread) { attach(toInner: $0.future) }
      }
    }
  }

  private func follow() {
    let thread = ExploredThread.current
    thread?.step(.write, at: linkLocation)
    guard let follow = link.follow else { return }
    link.follow = nil
    following = thread?.now
    follow()
  }

  /// Returns the closure that the future runs when it begins to follow.
  private func noteFollowing() -> @Sendable () -> Void {
    let closure = CapturedObject { [unowned self] fault in faults.append(fault) }
    transformClosure = closure
    return { [unowned self] in
      closure.use()
      followings += 1
      guard let thread = observe(), let following, !thread.hasSeen(following) else { return }
      faults.append("a transform ran on a thread that has not seen what came before the value")
    }
  }

  private func attach(toInner inner: Future<Int, Failure>) {
    let callback = ExploredCallback(attachedAt: ExploredThread.current?.now, on: 100 + innerCallbacks.count)
    inner.whenResolved(on: .immediate, run(callback))
    innerCallbacks.append((callback, inner))
  }

  private func handleCancellation(_ promise: Promise<Int, Failure>) {
    let closure = CapturedObject { [unowned self] fault in faults.append(fault) }
    handlerClosure = closure
    promise.onCancel { [unowned self] in
      closure.use()
      _ = observe()
      handlerRuns += 1
      // If no other thread resolves the future, the cancellation resolves it after the handlers.
      if isPlain, operations.isDisjoint(with: [.succeed, .fail, .drop]), future.isResolved {
        faults.append("a future was resolved as cancelled before its handlers had run (R15)")
      }
    }
  }

  private func succeed(_ thread: ExploredThread) {
    withPromise(thread) { promise in
      let resolution = Resolution(at: thread.now)
      resolutions.append(resolution)
      resolution.hasWon = promise.succeed(resolutions.count - 1)
    }
  }

  /// Uses the promise, unless a thread has dropped it.
  ///
  /// The release of the reference is a step too: the last release drops the promise.
  private func withPromise(_ thread: ExploredThread, _ body: (Promise<Int, Failure>) -> Void) {
    thread.step(.read, at: promiseLocation)
    let promise = promise
    withExtendedLifetime(promise) {
      if let promise { body(promise) }
      thread.step(.write, at: promiseLocation)
    }
  }

  private func note(_ thread: ExploredThread, on context: Int = 0) -> ExploredCallback {
    let callback = ExploredCallback(attachedAt: thread.now, on: context)
    callbacks.append(callback)
    return callback
  }

  private func attach(_ removable: RemovableCallback, on context: ExecutionContext) {
    removable.registration = future.whenResolved(on: context, run(removable.callback))
  }

  /// Returns the closure of a callback, which the library must release after it has run.
  private func run(_ callback: ExploredCallback) -> @Sendable (Result<Int, Failure>) -> Void {
    let closure = CapturedObject { [unowned self] fault in faults.append(fault) }
    callback.closure = closure
    return { [unowned self] result in
      closure.use()
      // A callback must not run before one that the same thread attached earlier, or that was attached before the
      // threads.
      if callbacks.contains(where: { $0.isDue(before: callback) }) { faults.append("a callback overtook another (R2)") }
      callback.results.append(result.mapError { $0 })
      guard let thread = observe() else { return }
      defer { callback.end = thread.now }
      for earlier in callbacks where earlier.precedes(callback) {
        guard let end = earlier.end, !thread.hasSeen(end) else { continue }
        faults.append("a callback ran on a thread that has not seen an earlier one (R2)")
      }
      if let attachment = callback.attachment, !thread.hasSeen(attachment) {
        faults.append("a callback ran on a thread that has not seen what came before it was attached")
      }
      check(result, seenBy: thread)
    }
  }

  /// Performs the checks of every callback, and returns the explored thread that runs the callback.
  private func observe() -> ExploredThread? {
    guard let thread = ExploredThread.current else { return nil }
    if thread.hasLock { faults.append("user code ran under a lock (R3)") }
    // With listeners, the order of callbacks and reports matters.
    if !listeners.isEmpty { thread.step(.write, at: notesLocation) }
    return thread
  }

  private func check(_ result: Result<Int, Failure>, seenBy thread: ExploredThread) {
    guard case .success(let number) = result, !thread.hasSeen(resolutions[number].event) else { return }
    faults.append("a thread saw the value, but not what came before it")
  }

  private func listen() {
    let listener = Listener()
    let closure = CapturedObject { [unowned self] fault in faults.append(fault) }
    listener.closure = closure
    listeners.append(listener)
    future.whenProgressed(on: .immediate) { [unowned self] progress in
      closure.use()
      _ = observe()
      // The first listener was attached before all callbacks.
      if listener === listeners[0], callbacks.contains(where: { !$0.results.isEmpty && $0.context == 0 }) {
        faults.append("a report came after the completion (R20)")
      }
      if let last = listener.fractions.last, last > progress.fractionCompleted {
        faults.append("the progress decreased (R18)")
      }
      listener.fractions.append(progress.fractionCompleted)
    }
  }

  private func hold(_ work: @escaping @Sendable () -> Void) {
    _ = observe()
    // Like a queue: the running thread has seen the steps before the submission.
    if let thread = ExploredThread.current {
      thread.step(.write, at: notesLocation)
      thread.release(notesLocation)
    }
    held.append(work)
  }

  private func runHeld() {
    if let thread = ExploredThread.current {
      thread.step(.write, at: notesLocation)
      thread.acquire(notesLocation.released)
    }
    let work = held
    held = []
    for work in work { work() }
  }

  // MARK: - After the run

  /// Returns the first fault after all threads have ended.
  func check() -> String? {
    checkWhatDoesNotWait()
    if isFollowing, let promise { checkCancellation(ofInner: promise) }
    link = FutureLink()
    promise = nil
    while !held.isEmpty { runHeld() }
    if let result = future.peek() {
      checkResult(result)
      checkConsumers(result)
    } else if shape != .lazy || canRepresentCancellation || !hasBegunCancelling || followings > 0 {
      // A lazy future that is cancelled before its start never starts (R2b).
      return "the future is not resolved (R4)"
    }
    checkMemory()
    return faults.first
  }

  private func checkConsumers(_ result: Result<Int, Failure>) {
    let description = describe(result)
    for callback in callbacks { faults += callback.faults(description) }
    for (callback, inner) in innerCallbacks {
      faults += inner.peek().map { callback.faults(describe($0)) } ?? ["the followed future is not resolved (R4)"]
    }
    for listener in listeners { faults += listener.faults(hasSucceeded: description.hasPrefix("value")) }
    for waiting in waits {
      faults += waiting.faults(description, mayBeAbandoned: waiting === abandoned)
    }
  }

  /// Checks what must hold even if the promise still exists.
  private func checkWhatDoesNotWait() {
    if let abandoned, abandoned.end == nil { faults.append("an abandoned await did not end (R22)") }
    if operations.contains(.cancel), canRepresentCancellation, !future.isResolved {
      faults.append("a cancelled future is still pending (R15)")
    }
    if callbacks.contains(where: { $0.removals.contains(true) && $0.closure != nil }) {
      faults.append("a removed callback was not released (R7)")
    }
  }

  /// The followed future is cancelled exactly if the future was cancelled and no other consumer needs it (R16, R17).
  private func checkCancellation(ofInner promise: Promise<Int, Failure>) {
    let hasWinner = hasFailed || resolutions.contains(where: \.hasWon)
    let isInnerCancelled = handlerRuns > 0 || promise.isResolved && !hasWinner
    let isCancelled =
      canRepresentCancellation
      ? future.peek().map(describe) == "CancellationError" : operations.contains(.cancel)
    if isCancelled, followings > 0, !isInnerCancelled, !hasWinner, innerCallbacks.isEmpty {
      faults.append("the followed future was not cancelled (R16, R17)")
    }
    if isInnerCancelled,
      !isCancelled && canRepresentCancellation || !hasBegunCancelling || followings == 0 || isInnerNeeded
    {
      faults.append("the followed future was cancelled although it is needed (R16)")
    }
    if isCancelled, canRepresentCancellation, followings == 0, let source = link.source, !source.isResolved {
      faults.append("the source of a transform was not cancelled (R16)")
    }
  }

  private func checkResult(_ result: Result<Int, Failure>) {
    let winners = resolutions.indices.filter { resolutions[$0].hasWon }
    if winners.count + (hasFailed ? 1 : 0) > 1 { faults.append("two resolutions have won (R1)") }
    // A cancelled consumer cancels only futures without another consumer (R16).
    let leaves = !operations.isDisjoint(with: [.abandonCancelling, .deriveAndCancel])
    let isCancellable = operations.contains(.cancel) || leaves && operations.contains(.remove)
    let hasFollowed = followings > 0 || !isFollowing
    let winner = hasFollowed ? winners.first.map { "value \($0)" } ?? (hasFailed ? "Failed" : nil) : nil
    let expected: Set<String> =
      switch winner {
      case let winner? where isPlain || !isCancellable: [winner]
      case let winner?: [winner, "CancellationError"]
      case nil: isCancellable ? ["CancellationError", "BrokenPromise"] : ["BrokenPromise"]
      }
    let isCancelled = describe(result) == "CancellationError"
    if handlerRuns > 1 { faults.append("a handler of the cancellation ran twice (R15)") }
    if isPlain, isCancelled, hasHandler, handlerRuns == 0 {
      faults.append("a handler of the cancellation was lost (R15)")
    }
    if shape == .shielded, handlerRuns > 0 { faults.append("a cancellation passed through a shielded view (R16)") }
    if followings > 1 { faults.append("a transform ran twice (R2)") }
    if transformClosure != nil { faults.append("a transform was not released (R5)") }
    if handlerClosure != nil { faults.append("a handler of the cancellation was not released (R5)") }
    if !expected.contains(describe(result)) {
      faults.append("the result is \(describe(result)), not one of \(expected) (R1)")
    }
  }

  private func checkMemory() {
    future = .succeeded(0)
    innerCallbacks = []
    for waiting in waits { waiting.release() }
    first.registration = nil
    second?.registration = nil
    if states.contains(where: { $0() != nil }) { faults.append("the future is never released") }
  }
}
