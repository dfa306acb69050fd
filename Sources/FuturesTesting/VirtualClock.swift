internal import Futures

/// A clock whose time the test moves: of a `ManualContext`, or of `Orders`.
///
/// Pass it to code that takes a `Clock`, and that code sleeps in virtual time.
///
/// ```swift
/// let manual = ManualContext()
/// let task = Task { [clock = manual.clock] in try await clock.sleep(for: .seconds(5)) }
/// ```
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
public struct VirtualClock: Clock {
  /// A point in time: the virtual time since the beginning.
  public struct Instant: InstantProtocol {
    /// The time since the beginning.
    public let offset: Duration

    /// Makes a point in time.
    public init(offset: Duration) { self.offset = offset }

    /// Returns a later point, or an earlier one for a negative duration.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// Returns the time from this point to another, negative if the other is earlier.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Returns whether a point is earlier than another.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let time: @Sendable () -> Duration
  private let context: ExecutionContext

  init(_ context: ExecutionContext, time: @escaping @Sendable () -> Duration) {
    (self.context, self.time) = (context, time)
  }

  /// The virtual time.
  public var now: Instant { Instant(offset: time()) }

  /// Zero: virtual time has no resolution.
  public var minimumResolution: Duration { .zero }

  /// Suspends the task until the test has moved the time to `deadline`.
  ///
  /// Returns at once if that time has come. Cancelling the task ends the sleep at once.
  /// - Parameters:
  ///   - deadline: The time.
  ///   - tolerance: Has no effect.
  /// - Throws: `CancellationError` if the task is cancelled. `BrokenPromise` if the test ends first: the manual context goes away, or the
  ///   body of `exploreOrders` has returned.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    let delay = now.duration(to: deadline)
    guard delay > .zero else { return }
    let (future, cancel) = startTimer(after: delay)
    // A `Result`: in Swift 6.3 a call that rethrows after an actor hop resumes off the caller's actor.
    let result = await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        _ = future.whenResolved(on: .immediate) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      cancel()
    }
    try result.get()
  }

  /// Starts a timer, which alone owns the promise: if the context drops the timer, the sleep ends with `BrokenPromise`.
  private func startTimer(after delay: Duration) -> (future: Future<Void, any Error>, cancel: @Sendable () -> Void) {
    let promise = Promise<Void, any Error>("sleep")
    let removeTimer = context.schedule(afterNanoseconds: delay.nanoseconds) { promise.succeed() }
    let cancel = { @Sendable [weak promise] in
      _ = promise?.fail(CancellationError())  // first, because without its timer the promise breaks
      removeTimer()
    }
    return (promise.future, cancel)
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension ManualContext {
  /// The clock of this context, for code that takes a `Clock`.
  ///
  /// Its time moves in `advance(by:)`, and a sleep is a pending piece of work. The clock does not keep the context
  /// alive.
  public var clock: VirtualClock {
    VirtualClock(context, time: currentTime)
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Orders {
  /// The virtual clock of the run, for code that takes a `Clock`.
  ///
  /// A sleep is a timer. Timers fire in the order of their times, at any point relative to other work.
  public var clock: VirtualClock {
    VirtualClock(run.context(.clock)) { [run] in run.now }
  }
}
