/// A future that threads share, and what must be true when they have ended.
final class FutureWorld: ExploredWorld, @unchecked Sendable {
  // @unchecked: used by the thread whose turn it is, and by the caller of the explorer between the runs.
  typealias Operation = FutureOperation
  typealias Shape = FutureShape

  private let operations: Set<Operation>
  private let isPlain: Bool

  private var promise: Promise<Int, any Error>?
  private var future: Future<Int, any Error>

  /// The resolutions with values, which are their places here.
  private var resolutions: [Resolution] = []
  private var hasFailed = false
  private var handlerRuns = 0
  private weak var handlerClosure: CapturedObject?
  private var callbacks: [Callback] = []
  private var listeners: [Listener] = []
  private var held: [@Sendable () -> Void] = []

  private let first: RemovableCallback
  private var second: RemovableCallback?
  private var abandoned: Waiting?
  private var waits: [Waiting] = []

  /// Stands for the promise, so that dropping it is a step.
  private let promiseLocation = ExploredLocation()

  /// Stands for all that is noted here, so that callbacks of two threads have an order.
  private let notesLocation = ExploredLocation()

  private var faults: [String] = []

  init(_ shape: Shape, _ threads: [[Operation]]) {
    operations = Set(threads.joined())
    isPlain = shape == .plain
    let promise = Promise<Int, any Error>()
    self.promise = promise
    future = shape.future(of: promise)
    first = RemovableCallback(Callback(attachedAt: nil))
    callbacks.append(first.callback)
    attach(first, on: .immediate)
    if operations.contains(.cancel) { handleCancellation(promise) }
    if !operations.isDisjoint(with: [.listen, .report]) { listen() }
    if !operations.isDisjoint(with: [.removeHeld, .runHeld]) {
      let second = RemovableCallback(Callback(attachedAt: nil, on: 1))
      self.second = second
      callbacks.append(second.callback)
      attach(second, on: ExecutionContext { [unowned self] work in hold(work) })
    }
    waits = threads.joined().filter { $0 == .await }.map { _ in Waiting() }
    guard !operations.isDisjoint(with: [.abandon, .abandonCancelling]) else { return }
    if let waiting = waits.first {
      // It may be abandoned before it begins.
      abandoned = waiting
    } else {
      let waiting = Waiting()
      abandoned = waiting
      waits.append(waiting)
      waiting.begin(future)
    }
  }

  // MARK: - By the explored threads

  func run(_ operation: Operation) {
    let thread = ExploredThread.current.unsafelyUnwrapped
    switch operation {
    case .attach: attach(RemovableCallback(note(thread)), on: .immediate)
    case .remove: first.remove()
    case .removeHeld: second?.remove()
    case .succeed: succeed(thread)
    case .fail: withPromise(thread) { promise in if promise.fail(Failed()) { hasFailed = true } }
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
    }
  }

  private func handleCancellation(_ promise: Promise<Int, any Error>) {
    let closure = CapturedObject { [unowned self] fault in faults.append(fault) }
    handlerClosure = closure
    promise.onCancel { [unowned self] in
      closure.use()
      _ = observe()
      handlerRuns += 1
      // Where nobody else resolves it, it is resolved after the handlers have run.
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

  /// Uses the promise, if nobody has dropped it.
  ///
  /// Letting go of it is a step as well, since it drops the promise if somebody else has let go meanwhile.
  private func withPromise(_ thread: ExploredThread, _ body: (Promise<Int, any Error>) -> Void) {
    thread.step(.read, at: promiseLocation)
    let promise = promise
    withExtendedLifetime(promise) {
      if let promise { body(promise) }
      thread.step(.write, at: promiseLocation)
    }
  }

  private func note(_ thread: ExploredThread, on context: Int = 0) -> Callback {
    let callback = Callback(attachedAt: thread.now, on: context)
    callbacks.append(callback)
    return callback
  }

  private func attach(_ removable: RemovableCallback, on context: ExecutionContext) {
    removable.registration = future.whenResolved(on: context, run(removable.callback))
  }

  /// The closure of a callback, which is to be released when it has run.
  private func run(_ callback: Callback) -> @Sendable (Result<Int, any Error>) -> Void {
    let closure = CapturedObject { [unowned self] fault in faults.append(fault) }
    callback.closure = closure
    return { [unowned self] result in
      closure.use()
      // One that runs before a callback that was attached before it, by the same thread or before there were threads.
      if callbacks.contains(where: { $0.isDue(before: callback) }) { faults.append("a callback overtook another (R2)") }
      callback.results.append(result)
      guard let thread = observe() else { return }
      if let attachment = callback.attachment, !thread.hasSeen(attachment) {
        faults.append("a callback ran on a thread that has not seen what came before it was attached")
      }
      check(result, seenBy: thread)
    }
  }

  /// Is called by each callback.
  private func observe() -> ExploredThread? {
    guard let thread = ExploredThread.current else { return nil }
    if thread.hasLock { faults.append("user code ran under a lock (R3)") }
    // Where there are callbacks of two kinds, their order is seen.
    if !listeners.isEmpty { thread.step(.write, at: notesLocation) }
    return thread
  }

  private func check(_ result: Result<Int, any Error>, seenBy thread: ExploredThread) {
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
      // The first one was attached before all callbacks.
      if listener === listeners[0], callbacks.contains(where: { !$0.results.isEmpty && $0.context == 0 }) {
        faults.append("a report came after the completion (R20)")
      }
      if let last = listener.fractions.last, last > progress.fractionCompleted {
        faults.append("the progress went back (R18)")
      }
      listener.fractions.append(progress.fractionCompleted)
    }
  }

  private func hold(_ work: @escaping @Sendable () -> Void) {
    _ = observe()
    // As a queue does: who runs the work has seen what came before it was handed over.
    if let thread = ExploredThread.current {
      thread.step(.write, at: notesLocation)
      thread.release(notesLocation, isReleasing: true, isContinuing: true)
    }
    held.append(work)
  }

  private func runHeld() {
    if let thread = ExploredThread.current {
      thread.step(.write, at: notesLocation)
      thread.acquire(notesLocation)
    }
    let work = held
    held = []
    for work in work { work() }
  }

  // MARK: - Afterwards

  /// What is wrong now that all threads have ended.
  func check() -> String? {
    checkWhatDoesNotWait()
    promise = nil
    while !held.isEmpty { runHeld() }
    guard let result = future.peek() else { return "the future is not resolved (R4)" }
    checkResult(result)
    let description = describe(result)
    for callback in callbacks { faults += callback.faults(description) }
    for listener in listeners { faults += listener.faults(hasSucceeded: description.hasPrefix("value")) }
    for waiting in waits {
      faults += waiting.faults(description, mayBeAbandoned: waiting === abandoned)
    }
    checkMemory()
    return faults.first
  }

  /// What has an end while the promise is still there.
  private func checkWhatDoesNotWait() {
    if let abandoned, abandoned.end == nil { faults.append("an abandoned await goes on (R22)") }
    if operations.contains(.cancel), !future.isResolved { faults.append("a cancelled future goes on (R15)") }
    if callbacks.contains(where: { $0.removals.contains(true) && $0.closure != nil }) {
      faults.append("a removed callback was not released (R7)")
    }
  }

  private func checkResult(_ result: Result<Int, any Error>) {
    let winners = resolutions.indices.filter { resolutions[$0].hasWon }
    if winners.count + (hasFailed ? 1 : 0) > 1 { faults.append("two resolutions have won (R1)") }
    // Whoever leaves cancels only what nobody else is attached to (R16).
    let leaves = !operations.isDisjoint(with: [.abandonCancelling, .deriveAndCancel])
    let isCancellable = operations.contains(.cancel) || leaves && operations.contains(.remove)
    let winner = winners.first.map { "value \($0)" } ?? (hasFailed ? "Failed" : nil)
    let expected: Set<String> =
      switch winner {
      case let winner? where isPlain || !isCancellable: [winner]
      case let winner?: [winner, "CancellationError"]
      case nil: isCancellable ? ["CancellationError", "BrokenPromise"] : ["BrokenPromise"]
      }
    let isCancelled = describe(result) == "CancellationError"
    if handlerRuns > 1 { faults.append("a handler of the cancellation ran twice (R15)") }
    if isPlain, isCancelled, operations.contains(.cancel), handlerRuns == 0 {
      faults.append("a handler of the cancellation was lost (R15)")
    }
    if handlerClosure != nil { faults.append("a handler of the cancellation was not released (R5)") }
    if !expected.contains(describe(result)) {
      faults.append("the result is \(describe(result)), not one of \(expected) (R1)")
    }
  }

  private func checkMemory() {
    weak var state: AnyObject?
    if case .shared(let shared) = future.storage { state = shared }
    future = .succeeded(0)
    for waiting in waits { waiting.release() }
    first.registration = nil
    second?.registration = nil
    if state != nil { faults.append("the future is never released") }
  }
}

extension FutureShape {
  fileprivate func future(of promise: Promise<Int, any Error>) -> Future<Int, any Error> {
    switch self {
    case .plain: return promise.future
    case .mapped: return promise.future.map { $0 }
    case .followed:
      let follower = Promise<Int, any Error>()
      follower.follow(promise.future)
      return follower.future
    case .joined: return Future.all([promise.future, .succeeded(0)]).map { $0[0] }
    }
  }
}
