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
final class Interruption: Sendable {
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
  init() {}

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

  /// Gives it up, and releases what it would have done.
  @usableFromInline
  func end() {
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
