internal import Dispatch

/// One delay on Dispatch's monotonic clock.
///
/// A timer source and not `asyncAfter`, which keeps a cancelled work item until its time has come. Cancelling gives back
/// the work at once, on this thread, and the source as soon as Dispatch gets to it.
final class DispatchTimer: @unchecked Sendable {
  // @unchecked: a source may be used from any thread; the overlay just does not say so.
  typealias Work = @Sendable () -> Void

  private let source: any DispatchSourceTimer
  private let work: Locked<Work?>

  init(after delay: Duration, _ work: @escaping Work) {
    let source = DispatchSource.makeTimerSource(queue: .global())
    let slot = Locked<Work?>(work)
    self.source = source
    self.work = slot
    source.schedule(deadline: DispatchTime(after: delay))
    // The source keeps its handler, and so itself, until it is cancelled.
    source.setEventHandler {
      source.cancel()
      slot.take()?()
    }
    source.activate()
  }

  func cancel() {
    source.cancel()
    _ = work.take()
  }
}

/// What may interrupt something from outside, a delay or a token, and is given up when that ends by itself.
///
/// Either may come first, on any thread, also before the interruption has been started.
@usableFromInline
final class Interruption: InputHolder, @unchecked Sendable {
  // @unchecked: `state` is locked.
  private enum State {
    /// Next is `running` or `over`.
    case idle
    /// Next is `over`.
    case running(cancel: @Sendable () -> Void)
    /// Ended. Final.
    case over
  }

  private let state = Locked(State.idle)

  @usableFromInline
  override init() {}

  @usableFromInline
  override func leaveInputs(silently isSilent: Bool) -> [AnySharedState] {
    if !isSilent { end() }
    return []
  }

  /// Starts it by `start`, which returns how to give it up.
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

  /// Whether it has been given up.
  var isOver: Bool {
    state.withLock { state in
      if case .over = state { true } else { false }
    }
  }

  /// Notes that it has happened, and lets go of how to give it up, which may hold it.
  @usableFromInline
  func happen() {
    _ = finish()  // released here, outside the lock
  }

  /// Gives it up, and releases what it would have done.
  @usableFromInline
  func end() {
    if case .running(let cancel) = finish() { cancel() }
  }

  private func finish() -> State {
    state.withLock { state in
      defer { state = .over }
      return state
    }
  }
}

/// What happens at a deadline: it is done once, or breaks the future when a context drops it (R2a).
final class DeadlineWork: Sendable {
  private let deadline: Interruption
  private let future: AnySharedState
  private let work: Locked<(@Sendable () -> Void)?>

  init(_ deadline: Interruption, of future: AnySharedState, _ work: @escaping @Sendable () -> Void) {
    self.deadline = deadline
    self.future = future
    self.work = Locked(work)
  }

  func run() {
    guard let work = work.take() else { return }
    deadline.happen()
    work()
  }

  deinit {
    // Not where it was given up, since the future has ended by itself, or was cancelled.
    guard work.take() != nil, !deadline.isOver else { return }
    future.breakPromise(.droppedWork, in: nil)
  }
}

extension BreakReason {
  /// The reason where an execution context dropped what it was given.
  @usableFromInline
  static var droppedWork: BreakReason {
    BreakReason(
      BrokenPromise(label: "an execution context dropped the work of a derived future", fileID: #fileID, line: #line)
    )
  }
}

extension Locked {
  /// Takes out what is there; it is released by the caller, outside the lock.
  func take<Wrapped>() -> Wrapped? where Value == Wrapped? {
    withLock { value in
      defer { value = nil }
      return value
    }
  }
}
