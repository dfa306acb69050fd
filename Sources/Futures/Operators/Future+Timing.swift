internal import Dispatch

// The context measures time: with Dispatch's monotonic clock, or with a clock of its own, as a test's context does. A
// delay of zero or less does not use the context (`inlineIfDue` has an exception). A delay of more than 292 years never ends.

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Future {
  /// Delays the value; a failure passes on at once.
  ///
  /// The timer starts when this future succeeds.
  /// - Parameters:
  ///   - delay: The delay of the value.
  ///   - context: Its clock measures the delay, and it resolves the derived future.
  /// - Returns: The derived future. Cancelling it leaves this future and frees the timer. If `Failure` cannot represent
  ///   cancellation, the cancellation ends the delay.
  @_alwaysEmitIntoClient
  public func delay(by delay: Duration, on context: ExecutionContext = .global()) -> Future {
    self.delay(byNanoseconds: delay.nanoseconds, on: context)
  }

  /// Fails with `error` if this future is not resolved in time.
  ///
  /// The resolution of this future frees the timer. If the promise is dropped and the failure type cannot hold `BrokenPromise`,
  /// the timeout still comes, and the drop is reported (R4).
  /// - Parameters:
  ///   - duration: The time limit.
  ///   - context: Its clock measures the time, and the derived future fails on it.
  ///   - error: The error; evaluated at the deadline.
  /// - Returns: The derived future. It leaves this future at the deadline, or when it is cancelled (R16). Cancelling it
  ///   frees the timer.
  @_alwaysEmitIntoClient
  public func timeout(
    after duration: Duration,
    on context: ExecutionContext = .global(),
    failingWith error: @autoclosure @escaping @Sendable () -> Failure
  ) -> Future {
    timeout(afterNanoseconds: duration.nanoseconds, on: context) { .failure(error()) }
  }

  /// Succeeds with `value` if this future is not resolved in time.
  ///
  /// All else is as in `timeout(after:on:failingWith:)`; `value` is evaluated at the deadline.
  @_alwaysEmitIntoClient
  public func timeout(
    after duration: Duration,
    on context: ExecutionContext = .global(),
    fallback value: @autoclosure @escaping @Sendable () -> Value
  ) -> Future {
    timeout(afterNanoseconds: duration.nanoseconds, on: context) { .success(value()) }
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Future where Failure == any Error {
  /// Fails with `TimeoutError` if this future is not resolved in time.
  ///
  /// Use it where a user waits. Put it around the whole chain to limit all steps together, or around one request to
  /// limit each attempt of a `retry`.
  ///
  /// ```swift
  /// load(url).timeout(after: .seconds(10))
  ///   .whenFailed(on: .main) { error in label.text = "\(error)" }
  /// ```
  ///
  /// The resolution of this future frees the timer.
  /// - Parameters:
  ///   - duration: The time limit.
  ///   - context: Its clock measures the time, and the derived future fails on it.
  /// - Returns: The derived future. It leaves this future at the deadline, or when it is cancelled (R16). Cancelling it
  ///   frees the timer.
  @_alwaysEmitIntoClient
  public func timeout(after duration: Duration, on context: ExecutionContext = .global()) -> Future {
    timeout(after: duration, on: context, failingWith: TimeoutError(duration: duration))
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Future where Value == Void, Failure == Never {
  /// Returns a future that succeeds after `duration`.
  /// - Parameters:
  ///   - duration: The delay.
  ///   - context: Its clock measures the time, and it resolves the future.
  /// - Returns: The future; it is resolved if `duration` is zero or less. Cancelling it frees the timer, and resolves
  ///   it at once.
  @_alwaysEmitIntoClient
  public static func after(_ duration: Duration, on context: ExecutionContext = .global()) -> Future {
    after(nanoseconds: duration.nanoseconds, on: context)
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Future where Value == Void, Failure == any Error {
  /// Returns a future that succeeds after `duration`, as a sleep does, and fails when it is cancelled.
  ///
  /// `try await Future<Void, any Error>.after(.seconds(1)).value(onCancel: .cancel)` sleeps as `Task.sleep` does. Without a type,
  /// as in `Future.after(.seconds(1))`, the compiler chooses the overload that cannot fail.
  /// - Returns: The future; it is resolved if `duration` is zero or less. Cancelling it frees the timer, and fails it with
  ///   `CancellationError`.
  @_alwaysEmitIntoClient
  @_disfavoredOverload
  public static func after(_ duration: Duration, on context: ExecutionContext = .global()) -> Future {
    Future.succeeded(()).delay(byNanoseconds: duration.nanoseconds, on: context)
  }
}

// MARK: - On the main actor

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Future {
  /// Delays the value, and delivers it on the main actor; a failure passes on at once.
  @_alwaysEmitIntoClient
  public func delay(by delay: Duration, on context: MainContext) -> Future {
    self.delay(by: delay, on: context.context)
  }

  /// Fails with `error`, on the main actor, if this future is not resolved in time.
  @_alwaysEmitIntoClient
  public func timeout(
    after duration: Duration,
    on context: MainContext,
    failingWith error: @autoclosure @escaping @MainActor () -> Failure
  ) -> Future {
    // `inlineIfDue`: for zero or less, `error` runs at once only on the main queue, because it is isolated to the main actor.
    timeout(afterNanoseconds: duration.nanoseconds, on: context.context, inlineIfDue: MainContext.isMainQueueCurrent) {
      .failure(MainActor.assumeIsolated { error() })
    }
  }

  /// Succeeds with `value`, on the main actor, if this future is not resolved in time.
  @_alwaysEmitIntoClient
  public func timeout(
    after duration: Duration,
    on context: MainContext,
    fallback value: @autoclosure @escaping @MainActor () -> Value
  ) -> Future {
    // `inlineIfDue`: as in the overload for an error.
    timeout(afterNanoseconds: duration.nanoseconds, on: context.context, inlineIfDue: MainContext.isMainQueueCurrent) {
      .success(MainActor.assumeIsolated { value() })
    }
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Future where Failure == any Error {
  /// Fails with `TimeoutError`, on the main actor, if this future is not resolved in time.
  @_alwaysEmitIntoClient
  public func timeout(after duration: Duration, on context: MainContext) -> Future {
    timeout(after: duration, on: context, failingWith: TimeoutError(duration: duration))
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Future where Value == Void, Failure == Never {
  /// Returns a future that succeeds on the main actor after `duration`.
  @_alwaysEmitIntoClient
  public static func after(_ duration: Duration, on context: MainContext) -> Future {
    after(duration, on: context.context)
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Future where Value == Void, Failure == any Error {
  /// Returns a future that succeeds on the main actor after `duration`, and fails when it is cancelled.
  @_alwaysEmitIntoClient
  @_disfavoredOverload
  public static func after(_ duration: Duration, on context: MainContext) -> Future {
    after(duration, on: context.context)
  }
}

// MARK: - In nanoseconds

extension Future where Value == Void, Failure == Never {
  /// As `after(_:on:)`, with a delay in nanoseconds.
  @_alwaysEmitIntoClient
  package static func after(nanoseconds delay: Int64, on context: ExecutionContext) -> Future {
    Future.succeeded(()).delay(byNanoseconds: delay, on: context)
  }
}

extension Future {
  /// As `delay(by:on:)`, with a delay in nanoseconds.
  @_alwaysEmitIntoClient
  func delay(byNanoseconds delay: Int64, on context: ExecutionContext) -> Future {
    // No delay. Still not `return self`: cancelling the derived future must not cancel this one, which can have other consumers.
    guard delay > 0 else { return derive(onlyWaits: true) { result in .resolved(result) } }
    // `for`: a failure passes without the delay. `onlyWaits`: the delay is no work that progress counts. `bypass`: a cancelled
    // stage that cannot represent cancellation passes the result on at once, and not after the delay.
    return derive(
      on: context,
      afterNanoseconds: delay,
      for: .values,
      onlyWaits: true,
      bypass: { .resolved($0) }
    ) { result in
      .resolved(result)
    }
  }

  /// As the public overloads, in nanoseconds; for zero or less, calls `makeResult` on this thread, if `mayRunInline` allows that.
  @usableFromInline
  func timeout(
    afterNanoseconds duration: Int64,
    on context: ExecutionContext,
    inlineIfDue mayRunInline: Bool = true,  // `false` if `makeResult` needs the main actor, and the caller is elsewhere
    _ makeResult: @escaping @Sendable () -> Result<Value, Failure>
  ) -> Future {
    guard case .sharedState(let source) = storage, !source.isResolved else { return self }  // no timeout can come
    guard duration > 0 || !mayRunInline else {
      source.cancelIfUnneeded()  // in place of a derived future, which would leave the source now
      return .resolved(makeResult())
    }
    let deadline = Interruption()
    let derived = InterruptibleStage<Outcome<Value, Failure>>(
      of: .passUnretained(source),
      deadline,
      outlivesSource: true  // the timeout comes although the promise was dropped (R4)
    )
    let future = source.attachStage(derived)
    let work = DeadlineWork(deadline, of: derived, leaving: source) {  // work that is dropped breaks `derived` (R2a)
      if !derived.isResolved { derived.resolve(makeResult()) }  // calls the user's closure only if needed
    }
    if FuturesDiagnostics.mayTrackPendingFutures {
      let due = DispatchTime(afterNanoseconds: duration)
      PendingFutures.shared.add(.timer, derived, label: "timeout", due: due, context: context.identity)
    }
    deadline.start { context.schedule(afterNanoseconds: duration) { work.run() } }
    return future
  }
}
