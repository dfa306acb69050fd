/// A join of two futures, one of which never resolves (R12, R16).
///
/// Cancelling the join removes it from both inputs and cancels them, because no other consumer is attached. The same
/// must happen while the join learns that it never resolves.
final class OrphanWorld: ExploredWorld, @unchecked Sendable {
  // @unchecked: only the running explored thread, or the explorer's caller between runs, uses the variables.

  enum Operation: String, CaseIterable, Sendable {
    /// Makes the first promise follow a future that never resolves.
    case follow
    /// Resolves the second promise, the last input that the join awaits.
    case succeed
    /// Cancels the join.
    case cancel
    /// Derives a future from the join, and cancels it.
    case deriveAndCancel
    /// Attaches a callback to the join.
    case attach
    /// Attaches a callback to the first future.
    case attachToFirst
  }

  /// The failure type, and the place of the first input.
  enum Shape: CaseIterable, Sendable {
    /// The failure type can represent cancellation.
    case cancellable
    /// The failure type cannot represent cancellation.
    case typed
    /// As `typed`, but the room in the promise's state is taken, so the input is a separate consumer.
    case occupied
  }

  private let operations: Set<Operation>
  private let shape: Shape
  private var parts = Parts()
  private var handlerRuns = 0
  private var captured: [() -> CapturedObject?] = []
  private var faults: [String] = []

  /// The two promises and the join, of any failure type.
  private struct Parts {
    var follow: () -> Void = {}
    var succeed: () -> Void = {}
    var cancel: () -> Void = {}
    var deriveAndCancel: () -> Void = {}
    var attach: (@escaping @Sendable () -> Void) -> Void = { _ in }
    var attachToFirst: (@escaping @Sendable () -> Void) -> Void = { _ in }
    var isFirstResolved: () -> Bool = { false }
    var isJoinResolved: () -> Bool = { false }
    var states: [() -> AnyObject?] = []
  }

  init(_ shape: Shape, _ threads: [[Operation]]) {
    operations = Set(threads.joined())
    self.shape = shape
    switch shape {
    case .cancellable: make((any Error).self)
    case .typed, .occupied: make(Failed.self)
    }
    if !operations.contains(.follow) { parts.follow() }
  }

  private func make<Failure: Error>(_: Failure.Type) {
    let (first, second) = (Promise<Int, Failure>(), Promise<Int, Failure>())
    let closure = capture()
    first.onCancel { [unowned self] in
      closure.use()
      if ExploredThread.current?.hasLock == true { faults.append("a handler ran under a lock (R3)") }
      handlerRuns += 1
    }
    if shape == .occupied { first.future.whenResolved(on: .immediate) { _ in }.remove() }
    let join = Future.all([first.future, second.future])
    parts.follow = { first.follow(.never) }
    parts.succeed = { second.succeed(1) }
    parts.cancel = { join.cancel() }
    parts.deriveAndCancel = { join.map { $0 }.cancel() }
    parts.attach = { callback in join.whenResolved(on: .immediate) { _ in callback() } }
    parts.attachToFirst = { callback in first.future.whenResolved(on: .immediate) { _ in callback() } }
    parts.isFirstResolved = { first.future.isResolved }
    parts.isJoinResolved = { join.isResolved }
    for future in [first.future, second.future] {
      if case .sharedState(let state) = future.storage { parts.states.append { [weak state] in state } }
    }
    if case .sharedState(let state) = join.storage { parts.states.append { [weak state] in state } }
  }

  private func capture() -> CapturedObject {
    let closure = CapturedObject { [unowned self] fault in faults.append(fault) }
    captured.append { [weak closure] in closure }
    return closure
  }

  func run(_ operation: Operation) {
    switch operation {
    case .follow: parts.follow()
    case .succeed: parts.succeed()
    case .cancel: parts.cancel()
    case .deriveAndCancel: parts.deriveAndCancel()
    case .attach:
      let closure = capture()
      parts.attach { closure.use() }
    case .attachToFirst:
      let closure = capture()
      parts.attachToFirst { closure.use() }
    }
  }

  /// Returns the first fault after all threads have ended.
  func check() -> String? {
    // A callback keeps the join running when a derived future is cancelled, and the first future when the join is
    // cancelled.
    let isJoinCancelled =
      operations.contains(.cancel) || operations.contains(.deriveAndCancel) && !operations.contains(.attach)
    let mustBeCancelled = isJoinCancelled && !operations.contains(.attachToFirst)
    let canBeCancelled = !operations.isDisjoint(with: [.cancel, .deriveAndCancel])
    if mustBeCancelled, handlerRuns == 0 { faults.append("an input that the join left was not cancelled (R16)") }
    if !canBeCancelled, handlerRuns > 0 { faults.append("an input was cancelled although the join needs it (R16)") }
    if handlerRuns > 1 { faults.append("a handler of the cancellation ran twice (R15)") }
    let isFirstResolved = shape == .cancellable && handlerRuns > 0
    let isJoinResolved = parts.isJoinResolved()
    if parts.isFirstResolved() != isFirstResolved
      || isJoinResolved != isFirstResolved && !operations.contains(.attachToFirst)
      || shape == .cancellable && isJoinCancelled && !isJoinResolved
    {
      faults.append("the join or its input has the wrong result (R15)")
    }
    // Resolved before the promises are dropped: a callback that waits for a dropped promise causes a report (R4).
    parts.succeed()
    let states = parts.states
    parts = Parts()
    if captured.contains(where: { $0() != nil }) { faults.append("a closure was not released (R5)") }
    if states.contains(where: { $0() != nil }) { faults.append("a future is never released (R5)") }
    return faults.first
  }
}
