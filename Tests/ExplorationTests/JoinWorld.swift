/// A join of two pending futures, and the checks at the end (R1, R2, R12, R16).
final class JoinWorld: ExploredWorld, @unchecked Sendable {
  // @unchecked: only the running explored thread, or the explorer's caller between runs, uses the variables.

  enum Operation: String, CaseIterable, Sendable {
    case succeedFirst, succeedSecond
    case failSecond
    /// Drops the second promise.
    case dropSecond
    /// Cancels the join.
    case cancel
    /// Attaches a callback to the join.
    case attach
    /// Reads the result of the join.
    case peek
    /// Listens to the progress of the join.
    case listen
  }

  enum Shape: CaseIterable, Sendable {
    /// The join needs all values.
    case all
    /// The first value decides.
    case race
  }

  private let operations: [Operation]
  private let shape: Shape
  private var first: Promise<Int, any Error>?
  private var second: Promise<Int, any Error>?
  private let join: Future<Int, any Error>
  private var callbacks: [ExploredCallback] = []
  private var listeners: [Listener] = []

  /// The steps that resolved the promises with their values.
  private var resolutions: [Event?] = [nil, nil]
  private var faults: [String] = []

  /// Stands for the second promise, so that dropping it is a step.
  private let promiseLocation = ExploredLocation()

  init(_ shape: Shape, _ threads: [[Operation]]) {
    operations = Array(threads.joined())
    self.shape = shape
    let (first, second) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    (self.first, self.second) = (first, second)
    // The first input takes the room in its promise's state. The removed callback takes the room in the second
    // promise's state, so the second input needs a separate consumer.
    second.future.whenResolved(on: .immediate) { _ in }.remove()
    join =
      switch shape {
      case .all: Future.all([first.future, second.future]).map { 10 * $0[0] + $0[1] }
      case .race: Future.race([first.future, second.future])
      }
    attach(nil)
  }

  func run(_ operation: Operation) {
    let thread = ExploredThread.current.unsafelyUnwrapped
    switch operation {
    case .succeedFirst:
      resolutions[0] = thread.now
      first?.succeed(1)
    case .succeedSecond:
      thread.step(.read, at: promiseLocation)
      let promise = second
      if promise != nil { resolutions[1] = thread.now }
      promise?.succeed(2)
      thread.step(.write, at: promiseLocation)
    case .failSecond:
      thread.step(.read, at: promiseLocation)
      let promise = second
      promise?.fail(Failed())
      thread.step(.write, at: promiseLocation)
    case .dropSecond:
      thread.step(.write, at: promiseLocation)
      second = nil
    case .cancel: join.cancel()
    case .attach: attach(thread)
    case .peek: if let result = join.peek() { check(result, seenBy: thread) }
    case .listen: listen()
    }
  }

  private func attach(_ thread: ExploredThread?) {
    let callback = ExploredCallback(attachedAt: thread?.now)
    callbacks.append(callback)
    let closure = CapturedObject { [unowned self] fault in faults.append(fault) }
    callback.closure = closure
    join.whenResolved(on: .immediate) { [unowned self] result in
      closure.use()
      callback.results.append(result)
      guard let thread = ExploredThread.current else { return }
      if thread.hasLock { faults.append("user code ran under a lock (R3)") }
      check(result, seenBy: thread)
    }
  }

  private func listen() {
    let listener = Listener()
    listeners.append(listener)
    join.whenProgressed(on: .immediate) { progress in listener.fractions.append(progress.fractionCompleted) }
  }

  private func check(_ result: Result<Int, any Error>, seenBy thread: ExploredThread) {
    guard case .success(let value) = result else { return }
    for (index, resolution) in resolutions.enumerated() where shape == .all || value == index + 1 {
      guard let resolution, !thread.hasSeen(resolution) else { continue }
      faults.append("a thread saw the value, but not what came before it")
    }
  }

  /// Returns the first fault after all threads have ended.
  func check() -> String? {
    let isCancelled = operations.contains(.cancel)
    if isCancelled, !join.isResolved { faults.append("a cancelled future is still pending (R15)") }
    if isCancelled, let first, !first.isResolved {
      faults.append("an input that the join left was not cancelled (R16)")
    }
    let wereBothSucceeded = resolutions[0] != nil && resolutions[1] != nil
    first = nil
    second = nil
    let result = join.peek().map(describe) ?? "nothing"
    if !results(wereBothSucceeded).contains(result) {
      faults.append("the result is \(result), not one of \(results(wereBothSucceeded)) (R1)")
    }
    for callback in callbacks { faults += callback.faults(result) }
    for listener in listeners { faults += listener.faults(hasSucceeded: result.hasPrefix("value")) }
    return faults.first
  }

  private func results(_ wereBothSucceeded: Bool) -> Set<String> {
    var results: Set<String> = operations.contains(.cancel) ? ["CancellationError"] : []
    switch shape {
    case .all:
      if wereBothSucceeded, !operations.contains(.failSecond) || operations.contains(.succeedSecond) {
        results.insert("value 12")
      }
      if operations.contains(.failSecond) { results.insert("Failed") }
      if !wereBothSucceeded || operations.contains(.dropSecond) { results.insert("BrokenPromise") }
    case .race:
      if resolutions[0] != nil { results.insert("value 1") }
      if resolutions[1] != nil { results.insert("value 2") }
      if operations.contains(.failSecond) { results.insert("Failed") }
      // The check drops both promises, the first one first. A broken promise decides the join as a failure does.
      if resolutions[0] == nil || operations.contains(.dropSecond) { results.insert("BrokenPromise") }
    }
    return results
  }
}
