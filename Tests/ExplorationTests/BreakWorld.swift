/// A future whose promise is dropped, and whose failure type cannot hold `BrokenPromise` (R4).
///
/// The library reports the promise exactly if a callback waits and was not removed. A callback of a future that was
/// cancelled earlier does not wait.
final class BreakWorld: ExploredWorld, @unchecked Sendable {
  // @unchecked: only the running explored thread, or the explorer's caller between runs, uses the variables.

  enum Operation: String, CaseIterable, Sendable {
    /// Attaches a callback.
    case attach
    /// Derives a future, and attaches a callback to it.
    case derive
    /// Removes the callback that was attached before the threads began.
    case remove
    /// Cancels the future.
    case cancel
    /// Derives a future, and cancels it.
    case deriveAndCancel
    /// Drops the promise.
    case drop
    /// Reads how the future ended, and the reason.
    case look
  }

  /// The stages between the promise and the future.
  enum Shape: CaseIterable, Sendable {
    case plain, mapped, joined
    /// No stage, and the promise's state has room for a first callback.
    case free
    /// A `flatMap` whose stage has relinked itself to the future of the promise.
    case relinked
    /// A `flatMap` to a `map` without another handle.
    case `private`
  }

  /// The worlds by the line numbers of their promises.
  ///
  /// All worlds share the handler, which finds a world by the line.
  private static let worlds = Unexplored<(last: UInt, all: [UInt: BreakWorld])>((0, [:]))

  /// Passes reports to their worlds.
  private static let handler: Void = FuturesDiagnostics.setHandler { misuse in
    guard case .brokenPromise(let broken) = misuse else { return }
    worlds.withLock { $0.all[broken.line] }?.noteReport()
  }

  private let number: UInt
  private var promise: Promise<Int, Never>?
  private let future: Future<Int, Never>
  private var registration: Registration?
  private var waitingCount = 0
  private var captured: [() -> CapturedObject?] = []
  private var reports = 0

  /// The step that dropped the promise.
  private var drop: Event?
  private var faults: [String] = []

  /// Stands for the promise, so that dropping it is a step.
  private let promiseLocation = ExploredLocation()

  /// Stands for the notes of this object, so that each note is a step.
  private let notesLocation = ExploredLocation()

  /// The greatest number of reports: one when the promise is dropped, and one for each later callback.
  private let limit: Int

  init(_ shape: Shape, _ threads: [[Operation]]) {
    _ = Self.handler
    number = Self.worlds.withLock { worlds in
      worlds.last += 1
      return worlds.last
    }
    limit = 1 + threads.joined().count { $0 == .attach || $0 == .derive }
    let promise = Promise<Int, Never>(line: number)
    self.promise = promise
    future =
      switch shape {
      case .plain, .free: promise.future
      case .mapped: promise.future.map { $0 }
      case .joined: Future.all([promise.future, .succeeded(0)]).map { $0[0] }
      case .relinked: Self.flatMapped { [future = promise.future] in future }
      case .private: Self.flatMapped { [future = promise.future] in future.map { $0 } }
      }
    Self.worlds.withLock { $0.all[number] = self }
    // A context other than `immediate` leaves the room for a first callback free.
    registration = attach(to: future, on: shape == .free ? ExecutionContext { work in work() } : .immediate)
  }

  private static func flatMapped(_ transform: @escaping @Sendable () -> Future<Int, Never>) -> Future<Int, Never> {
    let source = Promise<Int, Never>()
    let future = source.future.flatMap { _ -> Future<Int, Never> in transform() }
    source.succeed(0)
    return future
  }

  func run(_ operation: Operation) {
    let thread = ExploredThread.current.unsafelyUnwrapped
    switch operation {
    case .attach: attach(to: future)
    case .derive: attach(to: future.map { $0 })
    case .remove: if registration?.remove() == true { waitingCount -= 1 }
    case .cancel: future.cancel()
    case .deriveAndCancel: future.map { $0 }.cancel()
    case .drop:
      thread.step(.write, at: promiseLocation)
      if promise != nil { drop = thread.now }
      promise = nil
    case .look: look(thread)
    }
  }

  private func look(_ thread: ExploredThread) {
    guard case .sharedState(let state) = future.storage, let reason = state.breakReason else { return }
    if let drop, !thread.hasSeen(drop) { faults.append("a thread saw the break, but not what came before it") }
    // Uses the reason as `PendingPromises` does: the breaking thread has made the reason, which is an object.
    let derived = State<Int, Never>()
    derived.breakPromise(reason)
    reason.allowAnotherReport()
  }

  @discardableResult
  private func attach(to future: Future<Int, Never>, on context: ExecutionContext = .immediate) -> Registration {
    let closure = CapturedObject { [unowned self] fault in faults.append(fault) }
    captured.append { [weak closure] in closure }
    waitingCount += 1
    return future.whenResolved(on: context) { [unowned self] _ in
      closure.use()
      faults.append("a callback of a broken promise ran (R4)")
    }
  }

  private func noteReport() {
    if let thread = ExploredThread.current {
      if thread.hasLock { faults.append("a report was made under a lock (R3)") }
      thread.step(.write, at: notesLocation)
    }
    reports += 1
  }

  /// Returns the first fault after all threads have ended.
  func check() -> String? {
    promise = nil
    _ = Self.worlds.withLock { $0.all.removeValue(forKey: number) }
    guard case .sharedState(let state) = future.storage else { return "the future is resolved (R4)" }
    let isExpected = waitingCount > 0 && !state.wasCancelled
    if isExpected, reports == 0 { faults.append("a callback that can never run was not reported (R4)") }
    if !isExpected, reports > 0 { faults.append("a broken promise was reported although no callback waits (R4)") }
    if reports > limit { faults.append("\(reports) reports instead of \(limit) at most (R4)") }
    if captured.contains(where: { $0() != nil }) { faults.append("a callback was not released (R5)") }
    return faults.first
  }
}
