/// The newest request of a screen: starting a request cancels the one before, and only the newest delivers.
///
/// For search as you type, for a cell that is reused, for a screen whose selection changes.
///
/// ```swift
/// @MainActor final class ProfileModel {
///   private let latest = Latest()
///   private(set) var name = ""
///
///   func selectionChanged() {
///     latest.run(after: .milliseconds(200), on: .main) {
///       loadName()
///     } whenResolved: { [weak self] result in
///       if case .success(let name) = result { self?.name = name }
///     }
///   }
/// }
/// ```
///
/// A callback of an earlier request does not run once `run` or `cancel` has returned, if they are called on the context of
/// the callback. It does not matter whether the answer was already queued for that context. On another thread, a callback
/// that has started can still be running.
///
/// A delay alone waits for a pause: while calls come faster, nothing starts. `atMost` limits that wait, and `leading` starts the
/// first call of a burst at once. With both, steady input starts work at a steady pace:
///
/// ```swift
/// let pace = Duration.milliseconds(200)
/// let latest = Latest()
/// latest.run(after: pace, atMost: pace, leading: true, on: .main) {
///   loadName()
/// } whenResolved: { result in
///   if case .success(let name) = result { label.text = name }
/// }
/// ```
///
/// When the object goes away, it cancels its request.
public final class Latest: Sendable {
  @usableFromInline package let slot = LatestSlot()
  @usableFromInline package let timer: ExecutionContext

  /// Makes an object without a request.
  /// - Parameter timer: Measures the delays. A test passes the context of its `ManualContext`.
  public init(timer: ExecutionContext = .global()) { self.timer = timer }

  deinit { slot.cancel() }

  /// Cancels the request, and drops its callbacks.
  ///
  /// Work without another consumer is cancelled (R16).
  public func cancel() { slot.cancel() }

  /// Whether a request has not delivered its result.
  public var isRunning: Bool { slot.isRunning }

  /// Replaces the request: cancels the one before at once, and starts `work` as soon as `context` runs it.
  ///
  /// The callbacks run on `context`, and only while this request is the newest. A superseded request calls neither.
  /// - Parameters:
  ///   - context: The context of all closures.
  ///   - work: Starts the work.
  ///   - whenProgressed: Called with the progress of the work.
  ///   - whenResolved: Called with the result.
  @_alwaysEmitIntoClient
  public func run<Value: Sendable, Failure: Error>(
    on context: ExecutionContext,
    _ work: @escaping @Sendable () -> Future<Value, Failure>,
    whenProgressed: (@Sendable (FutureProgress) -> Void)? = nil,
    whenResolved: @escaping @Sendable (Result<Value, Failure>) -> Void
  ) {
    run(LatestPace(), on: context, work, whenProgressed: whenProgressed, whenResolved: whenResolved)
  }

  /// Replaces the request: cancels the one before at once, and starts `work` after the delay.
  ///
  /// The callbacks run on `context`, and only while this request is the newest. A superseded request calls neither.
  /// - Parameters:
  ///   - delay: The delay, so that a burst of calls starts the work once.
  ///   - maximum: The longest time without a start, counted from the first waiting call. When it has passed, the newest work
  ///     starts, and a later call still cancels that work. `nil` for no maximum.
  ///   - leading: Whether work starts without a delay if none has started within the last `delay`, and no call waits.
  ///   - context: The context of all closures.
  ///   - work: Starts the work.
  ///   - whenProgressed: Called with the progress of the work.
  ///   - whenResolved: Called with the result.
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  @_alwaysEmitIntoClient
  public func run<Value: Sendable, Failure: Error>(
    after delay: Duration,
    atMost maximum: Duration? = nil,
    leading: Bool = false,
    on context: ExecutionContext,
    _ work: @escaping @Sendable () -> Future<Value, Failure>,
    whenProgressed: (@Sendable (FutureProgress) -> Void)? = nil,
    whenResolved: @escaping @Sendable (Result<Value, Failure>) -> Void
  ) {
    let pace = LatestPace(delay, atMost: maximum, isLeading: leading)
    run(pace, on: context, work, whenProgressed: whenProgressed, whenResolved: whenResolved)
  }

  /// Implements both overloads for an execution context.
  @_alwaysEmitIntoClient
  func run<Value: Sendable, Failure: Error>(
    _ pace: LatestPace,
    on context: ExecutionContext,
    _ work: @escaping @Sendable () -> Future<Value, Failure>,
    whenProgressed: (@Sendable (FutureProgress) -> Void)?,
    whenResolved: @escaping @Sendable (Result<Value, Failure>) -> Void
  ) {
    let (slot, timer, number) = (slot, timer, slot.begin())  // the closures keep these, and not `self`
    let future = slot.wait(pace, on: timer)
      .setFailureType(to: Failure.self)
      // The wait has no share of the progress. `start` is `false` for a superseded request: its cancellation comes next, or its
      // failure type cannot represent one (R16). The closure then returns `.never`, because nothing uses the result.
      .flatMap(on: context, progressShare: 0) { _ in slot.start(number, pace, on: timer) ? work() : .never }
    let progressRegistration = whenProgressed.map { callback in
      future.whenProgressed(on: context) { progress in if slot.isNewest(number) { callback(progress) } }
    }
    let resultRegistration = future.whenResolved(on: context) { result in if slot.end(number) { whenResolved(result) } }
    slot.setStop(of: number) {  // runs when this request is superseded, at once if it already is
      progressRegistration?.remove()
      resultRegistration.remove()
      future.cancel()
    }
  }

  /// Replaces the request: cancels the one before at once, and starts `work` on the main actor.
  ///
  /// The callbacks run on the main actor, and only while this request is the newest. A superseded request calls neither.
  @_alwaysEmitIntoClient
  public func run<Value: Sendable, Failure: Error>(
    on context: MainContext,
    _ work: @escaping @MainActor () -> Future<Value, Failure>,
    whenProgressed: (@MainActor (FutureProgress) -> Void)? = nil,
    whenResolved: @escaping @MainActor (Result<Value, Failure>) -> Void
  ) {
    run(LatestPace(), on: context, work, whenProgressed: whenProgressed, whenResolved: whenResolved)
  }

  /// Replaces the request: cancels the one before at once, and starts `work` on the main actor after the delay.
  ///
  /// The callbacks run on the main actor, and only while this request is the newest. A superseded request calls neither.
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  @_alwaysEmitIntoClient
  public func run<Value: Sendable, Failure: Error>(
    after delay: Duration,
    atMost maximum: Duration? = nil,
    leading: Bool = false,
    on context: MainContext,
    _ work: @escaping @MainActor () -> Future<Value, Failure>,
    whenProgressed: (@MainActor (FutureProgress) -> Void)? = nil,
    whenResolved: @escaping @MainActor (Result<Value, Failure>) -> Void
  ) {
    let pace = LatestPace(delay, atMost: maximum, isLeading: leading)
    run(pace, on: context, work, whenProgressed: whenProgressed, whenResolved: whenResolved)
  }

  /// Implements both overloads for the main actor.
  @_alwaysEmitIntoClient
  func run<Value: Sendable, Failure: Error>(
    _ pace: LatestPace,
    on context: MainContext,
    _ work: @escaping @MainActor () -> Future<Value, Failure>,
    whenProgressed: (@MainActor (FutureProgress) -> Void)?,
    whenResolved: @escaping @MainActor (Result<Value, Failure>) -> Void
  ) {
    let whenProgressed = whenProgressed.map { callback in
      { @Sendable progress in MainActor.assumeIsolated { callback(progress) } }
    }
    run(pace, on: context.context, { MainActor.assumeIsolated { work() } }, whenProgressed: whenProgressed) { result in
      MainActor.assumeIsolated { whenResolved(result) }
    }
  }
}

/// The wait of a request before its work, in nanoseconds.
@usableFromInline
package struct LatestPace: Sendable {
  var delay: Int64 = 0
  var maximum: Int64?  // the longest time without a start while calls wait; `nil` for none
  var isLeading = false  // whether work starts without a delay if none has started within the last `delay`

  @usableFromInline package init() {}

  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  @usableFromInline
  package init(_ delay: Duration, atMost maximum: Duration?, isLeading: Bool) {
    (self.delay, self.maximum, self.isLeading) = (delay.nanoseconds, maximum?.nanoseconds, isLeading)
  }
}

/// The number of the newest request, and the action that stops it.
///
/// Apart from `Latest`, so that callbacks do not keep `Latest` alive.
@usableFromInline
package final class LatestSlot: Sendable {
  private typealias Timer = Future<Void, Never>

  private struct State {
    var newest = 0
    var isRunning = false
    var stop: (@Sendable () -> Void)?

    /// Whether any request has begun to wait since the last start of work, also one that was replaced.
    var isWaiting = false

    /// Resolves at the maximum wait of the calls since the last start of work.
    var deadline: Timer?

    /// For `leading`: resolves when the next call can start its work without a delay; `nil` if it can already.
    var pause: Timer?

    /// Ends the request, and returns the action that stops it.
    mutating func end() -> (@Sendable () -> Void)? {
      isRunning = false
      return stop.take()
    }
  }

  private let state = Locked(State())

  package init() {}

  package var isRunning: Bool { state.withLock { $0.isRunning } }

  /// Stops the newest request, begins another one, and returns its number.
  @usableFromInline
  package func begin() -> Int {
    let (number, stop) = state.withLock { state in
      let stop = state.end()
      state.newest += 1
      state.isRunning = true
      return (state.newest, stop)
    }
    stop?()
    return number
  }

  /// Stops the newest request, and cancels the timers.
  package func cancel() {
    let (stop, timers) = state.withLock { state in
      defer { (state.isWaiting, state.deadline, state.pause) = (false, nil, nil) }
      state.newest += 1  // so that `setStop` stops a request that has begun, but has no `stop` yet
      return (state.end(), [state.deadline, state.pause])
    }
    // Stops the request first: a cancelled deadline resolves, and would start the work of a request that waits for it.
    stop?()
    for timer in timers { timer?.cancel() }
  }

  /// Returns a future that resolves when the work of a new request can start: at once, after the delay, or at the deadline.
  ///
  /// Cancelling that future does not cancel the deadline, for which the next request waits, too.
  @usableFromInline
  package func wait(_ pace: LatestPace, on timer: ExecutionContext) -> Future<Void, Never> {
    let startsAtOnce = state.withLock { state in
      let pauseHasEnded = state.pause?.isResolved ?? true
      let startsAtOnce = pace.isLeading && pauseHasEnded && !state.isWaiting
      if !startsAtOnce { state.isWaiting = true }
      return startsAtOnce
    }
    if startsAtOnce { return .succeeded(()) }
    let delay = Timer.after(nanoseconds: pace.delay, on: timer)
    guard let maximum = pace.maximum, pace.delay > 0 else { return delay }  // a delay of zero is over already
    if let deadline = state.withLock({ $0.deadline }) { return .race([delay, deadline.shielded]) }
    let new = Timer.after(nanoseconds: maximum, on: timer)
    // Another thread can have set a deadline since the check above. Then that one counts.
    let other = state.withLock { state -> Timer? in
      if let deadline = state.deadline { return deadline }
      state.deadline = new
      return nil
    }
    if other != nil { new.cancel() }
    return .race([delay, (other ?? new).shielded])
  }

  /// Notes that the work of a request starts: no call waits any more, and with `leading` the next pause begins.
  /// - Returns: `false` if the request was replaced or cancelled, for example with its task. Then its work does not start.
  @usableFromInline
  package func start(_ number: Int, _ pace: LatestPace, on timer: ExecutionContext) -> Bool {
    let pause = pace.isLeading ? Timer.after(nanoseconds: pace.delay, on: timer) : nil
    let (isNewest, unneeded) = state.withLock { state -> (Bool, [Timer?]) in
      guard state.newest == number, state.isRunning else { return (false, [pause]) }
      defer { (state.isWaiting, state.deadline, state.pause) = (false, nil, pause) }
      return (true, [state.deadline, state.pause])
    }
    for timer in unneeded { timer?.cancel() }
    return isNewest
  }

  /// Sets the action that stops a request; called once, after `begin` has returned its number.
  ///
  /// Performs the action at once if the request was replaced or cancelled meanwhile. Drops the action if the request has ended.
  @usableFromInline
  package func setStop(of number: Int, _ stop: @escaping @Sendable () -> Void) {
    let isNewest = state.withLock { state in
      guard state.newest == number else { return false }  // `begin()` and `cancel()` change the number
      if state.isRunning { state.stop = stop }  // otherwise the request has ended
      return true
    }
    if !isNewest { stop() }
  }

  /// Returns whether the request is the newest, and has not ended.
  @usableFromInline
  func isNewest(_ number: Int) -> Bool { state.withLock { $0.newest == number && $0.isRunning } }

  /// Ends a request that delivers its result; returns whether it is the newest, so that its callback runs.
  @usableFromInline
  package func end(_ number: Int) -> Bool {
    let (isNewest, stop) = state.withLock { state in
      guard state.newest == number, state.isRunning else { return (false, nil as (@Sendable () -> Void)?) }
      return (true, state.end())
    }
    _ = stop  // released here, outside the lock
    return isNewest
  }
}
