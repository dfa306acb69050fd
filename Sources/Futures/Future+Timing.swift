// Time is that of the context: Dispatch's monotonic clock, or that of a context which brings its own, as a test's does.
// A delay of zero or less takes no time: what it would hold up goes on at once, where it is. A delay of more than 292 years
// never ends.

extension Future {
  /// The same future, but its value comes later; a failure passes on at once.
  ///
  /// The timer is started when this future succeeds.
  /// - Parameters:
  ///   - delay: How long the value is held back.
  ///   - context: Whose clock is asked, and where the derived future is resolved.
  /// - Returns: The derived future. Cancelling it leaves this one and frees the timer; where `Failure` cannot say "cancelled",
  ///   the delay is cut short.
  public func delay(by delay: Duration, on context: ExecutionContext = .global()) -> Future {
    guard delay > .zero else { return derive { result in .resolved(result) } }
    return derive(on: context, after: delay, for: .values, bypass: { .resolved($0) }) { result in .resolved(result) }
  }

  /// The same future, which fails with `error` if it is not resolved in time.
  ///
  /// The timer is freed when this future is resolved first. One that broke without being able to say so still times out.
  /// - Parameters:
  ///   - duration: How long to wait.
  ///   - context: Whose clock is asked, and where the derived future fails.
  ///   - error: What it fails with; evaluated when the time is over.
  /// - Returns: The derived future. When the time is over it leaves this one, which is cancelled if nobody else needs it;
  ///   cancelling it does the same, and frees the timer.
  public func timeout(
    after duration: Duration,
    on context: ExecutionContext = .global(),
    failingWith error: @autoclosure @escaping @Sendable () -> Failure
  ) -> Future {
    timeout(after: duration, on: context) { .failure(error()) }
  }

  /// The same future, which succeeds with `value` if it is not resolved in time.
  ///
  /// The timer is freed when this future is resolved first. One that broke without being able to say so still times out.
  /// - Parameters:
  ///   - duration: How long to wait.
  ///   - context: Whose clock is asked, and where the derived future succeeds.
  ///   - value: What it succeeds with; evaluated when the time is over.
  /// - Returns: The derived future. When the time is over it leaves this one, which is cancelled if nobody else needs it;
  ///   cancelling it does the same, and frees the timer.
  public func timeout(
    after duration: Duration,
    on context: ExecutionContext = .global(),
    fallback value: @autoclosure @escaping @Sendable () -> Value
  ) -> Future {
    timeout(after: duration, on: context) { .success(value()) }
  }

  private func timeout(
    after duration: Duration,
    on context: ExecutionContext,
    _ makeResult: @escaping @Sendable () -> Result<Value, Failure>
  ) -> Future {
    guard case .shared(let source) = storage, !source.isResolved else { return self }
    guard duration > .zero else {
      source.cancelIfUnneeded()
      return .resolved(makeResult())
    }
    let derived = State<Value, Failure>(hasPromise: false)
    let deadline = Interruption()
    let node = InterruptibleFollowerNode(derived, deadline, outlivesSource: true)
    attach(.passRetained(node), resolving: derived)
    let work = DeadlineWork(deadline, of: derived) {
      guard !derived.isResolved, derived.resolve(makeResult(), in: nil) else { return }
      if source.leave(node) { source.cancel() }
    }
    deadline.start { context.schedule(after: duration) { work.run() } }
    return Future(derived)
  }
}

extension Future where Failure == any Error {
  /// The same future, which fails with `TimeoutError` if it is not resolved in time.
  ///
  /// The timer is freed when this future is resolved first.
  /// - Parameters:
  ///   - duration: How long to wait.
  ///   - context: Whose clock is asked, and where the derived future fails.
  /// - Returns: The derived future. When the time is over it leaves this one, which is cancelled if nobody else needs it;
  ///   cancelling it does the same, and frees the timer.
  public func timeout(after duration: Duration, on context: ExecutionContext = .global()) -> Future {
    timeout(after: duration, on: context, failingWith: TimeoutError(duration: duration))
  }
}

extension Future where Value == Void, Failure == Never {
  /// A future that succeeds when `duration` is over.
  /// - Parameters:
  ///   - duration: How long that takes.
  ///   - context: Whose clock is asked, and where the future is resolved.
  /// - Returns: The future; one that is resolved, if `duration` is zero or less. Cancelling it frees the timer, and resolves it
  ///   at once.
  public static func after(_ duration: Duration, on context: ExecutionContext = .global()) -> Future {
    Future.succeeded(()).delay(by: duration, on: context)
  }
}
