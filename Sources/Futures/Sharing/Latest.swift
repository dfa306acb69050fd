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
/// When the object goes away, it cancels its request.
public final class Latest: Sendable {
  package let slot = LatestSlot()
  package let timer: ExecutionContext

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
  public func run<Value: Sendable, Failure: Error>(
    on context: ExecutionContext,
    _ work: @escaping @Sendable () -> Future<Value, Failure>,
    whenProgressed: (@Sendable (FutureProgress) -> Void)? = nil,
    whenResolved: @escaping @Sendable (Result<Value, Failure>) -> Void
  ) {
    run(afterNanoseconds: 0, on: context, work, whenProgressed: whenProgressed, whenResolved: whenResolved)
  }

  /// Replaces the request: cancels the one before at once, and starts `work` after the delay.
  ///
  /// The callbacks run on `context`, and only while this request is the newest. A superseded request calls neither.
  /// - Parameters:
  ///   - delay: The delay, so that a burst of calls starts the work once.
  ///   - context: The context of all closures.
  ///   - work: Starts the work.
  ///   - whenProgressed: Called with the progress of the work.
  ///   - whenResolved: Called with the result.
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public func run<Value: Sendable, Failure: Error>(
    after delay: Duration,
    on context: ExecutionContext,
    _ work: @escaping @Sendable () -> Future<Value, Failure>,
    whenProgressed: (@Sendable (FutureProgress) -> Void)? = nil,
    whenResolved: @escaping @Sendable (Result<Value, Failure>) -> Void
  ) {
    run(
      afterNanoseconds: delay.nanoseconds,
      on: context,
      work,
      whenProgressed: whenProgressed,
      whenResolved: whenResolved
    )
  }

  private func run<Value: Sendable, Failure: Error>(
    afterNanoseconds delay: Int64,
    on context: ExecutionContext,
    _ work: @escaping @Sendable () -> Future<Value, Failure>,
    whenProgressed: (@Sendable (FutureProgress) -> Void)?,
    whenResolved: @escaping @Sendable (Result<Value, Failure>) -> Void
  ) {
    let (slot, number) = (slot, slot.begin())
    let future = Future<Void, Never>.after(nanoseconds: delay, on: timer)
      .setFailureType(to: Failure.self)
      // A superseded request whose failure type cannot represent cancellation gets here too (R16).
      .flatMap(on: context, progressShare: 0) { _ in slot.isNewest(number) ? work() : .never }
    let progress = whenProgressed.map { callback in
      future.whenProgressed(on: context) { progress in if slot.isNewest(number) { callback(progress) } }
    }
    let result = future.whenResolved(on: context) { result in if slot.end(number) { whenResolved(result) } }
    slot.set(number) {
      progress?.remove()
      result.remove()
      future.cancel()
    }
  }

  /// Replaces the request: cancels the one before at once, and starts `work` on the main actor.
  ///
  /// The callbacks run on the main actor, and only while this request is the newest. A superseded request calls neither.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - work: Starts the work.
  ///   - whenProgressed: Called with the progress of the work.
  ///   - whenResolved: Called with the result.
  public func run<Value: Sendable, Failure: Error>(
    on context: MainContext,
    _ work: @escaping @MainActor () -> Future<Value, Failure>,
    whenProgressed: (@MainActor (FutureProgress) -> Void)? = nil,
    whenResolved: @escaping @MainActor (Result<Value, Failure>) -> Void
  ) {
    run(afterNanoseconds: 0, on: context, work, whenProgressed: whenProgressed, whenResolved: whenResolved)
  }

  /// Replaces the request: cancels the one before at once, and starts `work` on the main actor after the delay.
  ///
  /// The callbacks run on the main actor, and only while this request is the newest. A superseded request calls neither.
  /// - Parameters:
  ///   - delay: The delay, so that a burst of calls starts the work once.
  ///   - context: `.main` or `.mainImmediate`.
  ///   - work: Starts the work.
  ///   - whenProgressed: Called with the progress of the work.
  ///   - whenResolved: Called with the result.
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public func run<Value: Sendable, Failure: Error>(
    after delay: Duration,
    on context: MainContext,
    _ work: @escaping @MainActor () -> Future<Value, Failure>,
    whenProgressed: (@MainActor (FutureProgress) -> Void)? = nil,
    whenResolved: @escaping @MainActor (Result<Value, Failure>) -> Void
  ) {
    run(
      afterNanoseconds: delay.nanoseconds,
      on: context,
      work,
      whenProgressed: whenProgressed,
      whenResolved: whenResolved
    )
  }

  private func run<Value: Sendable, Failure: Error>(
    afterNanoseconds delay: Int64,
    on context: MainContext,
    _ work: @escaping @MainActor () -> Future<Value, Failure>,
    whenProgressed: (@MainActor (FutureProgress) -> Void)?,
    whenResolved: @escaping @MainActor (Result<Value, Failure>) -> Void
  ) {
    run(afterNanoseconds: delay, on: context.context) {
      MainActor.assumeIsolated { work() }
    } whenProgressed: { progress in
      MainActor.assumeIsolated { whenProgressed?(progress) }
    } whenResolved: { result in
      MainActor.assumeIsolated { whenResolved(result) }
    }
  }
}

/// The number of the newest request, and the action that stops it.
///
/// Apart from `Latest`, so that callbacks do not keep `Latest` alive.
package final class LatestSlot: Sendable {
  private struct State {
    var newest = 0
    var isRunning = false
    var stop: (@Sendable () -> Void)?

    /// Ends the request, and returns the action that stops it.
    mutating func end() -> (@Sendable () -> Void)? {
      isRunning = false
      return stop.take()
    }
  }

  private let state = Locked(State())

  package init() {}

  package var isRunning: Bool { state.withLock { $0.isRunning } }

  /// Stops the request, and returns the number of the next one.
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

  package func cancel() {
    let stop = state.withLock { state in
      state.newest += 1
      return state.end()
    }
    stop?()
  }

  /// Sets the action that stops a request; performs it if the request is no longer the newest.
  package func set(_ number: Int, stop: @escaping @Sendable () -> Void) {
    let isNewest = state.withLock { state in
      guard state.newest == number else { return false }
      if state.isRunning { state.stop = stop }
      return true
    }
    if !isNewest { stop() }
  }

  package func isNewest(_ number: Int) -> Bool { state.withLock { $0.newest == number && $0.isRunning } }

  /// Ends a request that delivers its result; returns whether it is the newest.
  package func end(_ number: Int) -> Bool {
    let (isNewest, stop) = state.withLock { state in
      guard state.newest == number, state.isRunning else { return (false, nil as (@Sendable () -> Void)?) }
      return (true, state.end())
    }
    _ = stop  // released here, outside the lock
    return isNewest
  }
}
