internal import Dispatch

extension Future {
  /// Blocks the calling thread until the future is resolved.
  ///
  /// For scripts, tests and the edges of code that cannot wait otherwise.
  ///
  /// Inside a Swift task it would block one of the few threads on which all tasks run; there a debug build traps, unless the
  /// future is resolved or the code runs on the main actor, which has a thread of its own (R10).
  ///
  /// In a callback, what this thread has deferred is run before it blocks. It still waits for ever for what a later callback
  /// of the very future that is being delivered would do, since that runs when this one has returned.
  /// - Returns: The result.
  @available(*, noasync, message: "use 'await future.result'")
  public func wait() -> Result<Value, Failure> {
    if let result = peek() { return result }
    #if DEBUG
      precondition(
        !Self.isOnCooperativeThread,
        "wait() was called inside a Swift task, where it blocks a thread that other tasks need; await the future instead."
      )
    #endif
    wait { waiter in
      waiter.wait()
      return true
    }
    return peek().unsafelyUnwrapped
  }

  /// Blocks the calling thread until the future is resolved, but not longer than `timeout`.
  /// - Parameter timeout: How long to wait at most. Zero or less looks once; more than 292 years is for ever.
  /// - Returns: The result, or `nil` if there is none in time; then nothing is left behind.
  @available(*, noasync, message: "use 'await future.result'")
  public func wait(timeout: Duration) -> Result<Value, Failure>? {
    if let result = peek() { return result }
    let deadline = DispatchTime(after: timeout)
    // Who only looks does not block, and what is deferred may do the same: running it here would nest without limit.
    wait(runningPending: timeout > .zero) { waiter in waiter.wait(until: deadline) }
    return peek()
  }

  private func wait(runningPending: Bool = true, _ block: (ThreadWaiter) -> Bool) {
    guard case .shared(let state) = storage else { return }
    if runningPending { DeliveryLoop.current.runPending() }
    let waiter = ThreadWaiter()
    state.attach(waiter)
    if !block(waiter) { _ = state.remove(waiter) }
  }

  private static var isOnCooperativeThread: Bool {
    !MainContext.isMainQueueCurrent && withUnsafeCurrentTask { $0 != nil }
  }
}

extension DispatchTime {
  /// The time `duration` from now, clamped to now and to the distant future.
  init(after duration: Duration) {
    guard duration < .seconds(Int64.max / 1_000_000_000 - 1) else {
      self = .distantFuture
      return
    }
    guard duration > .zero else {
      self = .now()
      return
    }
    let (seconds, attoseconds) = duration.components
    let nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    let (sum, overflow) = DispatchTime.now().uptimeNanoseconds.addingReportingOverflow(nanoseconds)
    self = overflow ? .distantFuture : DispatchTime(uptimeNanoseconds: sum)
  }
}
