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

/// The delay that may end something, and is not needed any more when that ends by itself.
///
/// Either may come first, on any thread, also before the delay has been started.
final class Deadline: Sendable {
  private enum State {
    /// Next is `running` or `over`.
    case idle
    /// Next is `over`.
    case running(cancel: @Sendable () -> Void)
    /// Ended. Final.
    case over
  }

  private let state = Locked(State.idle)

  /// Has `work` run after `delay`, unless `cancel()` comes before.
  func start(after delay: Duration, on context: ExecutionContext, _ work: @escaping @Sendable () -> Void) {
    let cancel = context.schedule(after: delay, work)
    let isOver = state.withLock { state in
      guard case .idle = state else { return true }
      state = .running(cancel: cancel)
      return false
    }
    if isOver { cancel() }
  }

  func cancel() {
    let previous = state.withLock { state in
      defer { state = .over }
      return state
    }
    if case .running(let cancel) = previous { cancel() }
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
