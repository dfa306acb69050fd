internal import Dispatch

/// Starts a timer on Dispatch's monotonic clock.
///
/// A timer source: `asyncAfter` retains a cancelled work item until its deadline.
/// - Returns: A closure that cancels the timer, and releases the work at once. Dispatch releases the source soon after.
func startTimer(afterNanoseconds delay: Int64, _ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
  // nonisolated(unsafe): a source is thread-safe, although the overlay does not declare it `Sendable`.
  nonisolated(unsafe) let source = DispatchSource.makeTimerSource(queue: .global())
  let slot = Locked<(@Sendable () -> Void)?>(work)
  source.schedule(deadline: DispatchTime(afterNanoseconds: delay))
  // A cycle: the source owns its handler, which owns the source. Cancelling the source breaks it.
  source.setEventHandler {
    source.cancel()
    slot.take()?()
  }
  source.activate()
  return {
    source.cancel()
    _ = slot.take()
  }
}

/// A deadline or a token that can interrupt an operation.
///
/// An operation that ends by itself ends the interruption. Both can end at the same time, on any thread, even before the
/// interruption has started.
@usableFromInline
final class Interruption: Inputs, @unchecked Sendable {
  // @unchecked: `state` is locked.
  private enum State {
    /// Not started. Next is `running` or `over`.
    case idle
    /// Started. Next is `over`.
    case running(cancel: @Sendable () -> Void)
    /// Happened or cancelled. Final.
    case over
  }

  private let state = Locked(State.idle)

  @usableFromInline
  override init() {}

  override func removeFromInputs(forResult needsResult: Bool) -> [FutureState] {
    if !needsResult { cancel() }
    return []
  }

  /// Starts the interruption.
  /// - Parameter start: Starts the timer or registers with the token; returns a closure that cancels that.
  @usableFromInline
  func start(_ start: () -> @Sendable () -> Void) {
    let cancel = start()
    let isOver = state.withLock { state in
      guard case .idle = state else { return true }
      state = .running(cancel: cancel)
      return false
    }
    if isOver { cancel() }
  }

  /// Records that the interruption has happened, and releases the closure that cancels it, which can own this object.
  /// - Returns: `false` if it had happened or was cancelled before.
  @usableFromInline
  @discardableResult
  func fire() -> Bool {
    if case .over = finish() { false } else { true }
  }

  /// Cancels the interruption, which releases its work.
  func cancel() {
    if case .running(let cancel) = finish() { cancel() }
  }

  private func finish() -> State {
    state.withLock { state in
      defer { state = .over }
      return state
    }
  }
}

/// The work of a deadline, which runs once.
///
/// Breaks the future if the context drops the work (R2a).
final class DeadlineWork: Sendable {
  private let deadline: Interruption
  private let future: FutureState
  private let work: Locked<(@Sendable () -> Void)?>

  init(_ deadline: Interruption, of future: FutureState, _ work: @escaping @Sendable () -> Void) {
    self.deadline = deadline
    self.future = future
    self.work = Locked(work)
  }

  func run() {
    guard let work = work.take() else { return }
    deadline.fire()
    work()
  }

  deinit {
    // A future that has ended or was cancelled has cancelled its deadline. The context then drops the work rightly.
    guard work.take() != nil, deadline.fire() else { return }
    future.breakPromise(.droppedWork(of: future), in: nil)
  }
}

extension BreakReason {
  /// Returns the reason for a state whose stage lost its work to an execution context.
  /// - Parameters:
  ///   - source: The source of the stage.
  ///   - derived: The state that the stage resolves.
  /// - Returns: A reason that names the labelled promise of `source`, or else that of `derived`, or that of its follower.
  static func droppedWork(of source: FutureState, resolving derived: FutureState? = nil) -> BreakReason {
    let origin = source.nearestLabel ?? derived?.nearestLabel ?? derived?.labelOfFollower
    let error = BrokenPromise(
      label: origin?.text,
      fileID: origin.map { String(cString: $0.fileID) } ?? "",
      line: origin?.line ?? 0,
      cause: .workDropped
    )
    let observers = FuturesDiagnostics.breakObservers
    return BreakReason(error, isRecorded: observers.exist && observers.record(error))
  }
}

extension Locked {
  /// Takes the value out, for the caller to release after unlocking.
  func take<Wrapped>() -> Wrapped? where Value == Wrapped? {
    withLock { value in
      defer { value = nil }
      return value
    }
  }
}
