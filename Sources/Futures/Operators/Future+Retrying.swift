extension Future {
  /// Calls `work` until its future succeeds, at most `attempts` times, without a delay.
  ///
  /// The first attempt starts at once, on the calling thread. Further attempts start on `context`. The number of
  /// attempts costs neither stack nor memory.
  ///
  /// An attempt that is cancelled has failed, too, and another one follows. So cancel the retry and not its attempts, as
  /// in `retry(attempts: 3) { … }.cancelled(by: token)`.
  ///
  /// If `Failure` cannot represent cancellation, a cancelled retry starts no other attempt, and resolves as the running attempt
  /// resolves.
  /// - Parameters:
  ///   - attempts: The maximum number of attempts. Less than 1 traps.
  ///   - context: Where the further attempts start.
  ///   - shouldRetry: Returns whether to try again after a failure. It runs where the attempt failed.
  ///   - fileID: The file that the graph of pending work names.
  ///   - line: The line that the graph names.
  ///   - work: Makes the future of an attempt.
  /// - Returns: A future with the value of the first successful attempt, or the error of the last one. Cancelling it
  ///   leaves the running attempt, and starts no other attempt.
  @_alwaysEmitIntoClient
  public static func retry(
    attempts: Int,
    on context: ExecutionContext = .global(),
    while shouldRetry: @escaping @Sendable (Failure) -> Bool = { _ in true },
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ work: @escaping @Sendable () -> Future
  ) -> Future {
    retry(attempts, delay: nil, on: context, while: shouldRetry, fileID, line, work)
  }

  /// Calls `work` until its future succeeds, at most `attempts` times.
  ///
  /// As `retry(attempts:on:while:_:)`, but each further attempt starts after `delay`, which the clock of `context` measures.
  /// Cancelling the future also frees the timer.
  ///
  /// If `Failure` cannot represent cancellation, a cancelled retry starts no other attempt, and resolves as the running attempt
  /// resolves.
  @_alwaysEmitIntoClient
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public static func retry(
    attempts: Int,
    delay: RetryDelay,
    on context: ExecutionContext = .global(),
    while shouldRetry: @escaping @Sendable (Failure) -> Bool = { _ in true },
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ work: @escaping @Sendable () -> Future
  ) -> Future {
    retry(
      attempts,
      delay: { attempt, _ in delay.delay(after: attempt).nanoseconds },
      on: context,
      while: shouldRetry,
      fileID,
      line,
      work
    )
  }

  /// Calls `work` until its future succeeds, with a delay that depends on the error, and within a time budget.
  ///
  /// For a server that says when to ask again, and for a caller that needs an answer by some time. A `RetryDelay` is enough if
  /// the delay does not depend on the error.
  ///
  /// ```swift
  /// let page = Future.retry(attempts: 5, within: .seconds(30), delay: { attempt, error in
  ///   if case APIError.tooManyRequests(let retryAfter) = error { retryAfter } else { .seconds(attempt) }
  /// }) {
  ///   load(url)
  /// }
  /// ```
  ///
  /// `within` limits the starts: no attempt starts later than this time after the first. A delay that would end later does not
  /// start either. The future then fails with the last error. A running attempt is not cut short; add `timeout(after:)` to the
  /// work for that. The context's clock measures the time. A context of `init(execute:after:)` only measures delays, which can be
  /// virtual. There, the longer of the system's time and the delays' sum counts. A budget of zero or less allows one attempt.
  ///
  /// `delay` gets the number of the failed attempt, counted from 1, and its error. It runs after `shouldRetry`, at most once for
  /// each failure. All else is as in `retry(attempts:on:while:_:)`.
  ///
  /// If `Failure` cannot represent cancellation, a cancelled retry starts no other attempt, and resolves as the running attempt
  /// resolves.
  /// - Returns: A future with the value of the first successful attempt, or the error of the last one. Cancelling it
  ///   leaves the running attempt, or frees the timer, and starts no other attempt.
  @_alwaysEmitIntoClient
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public static func retry(
    attempts: Int,
    within budget: Duration? = nil,
    on context: ExecutionContext = .global(),
    while shouldRetry: @escaping @Sendable (Failure) -> Bool = { _ in true },
    delay: @escaping @Sendable (_ attempt: Int, _ error: Failure) -> Duration,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ work: @escaping @Sendable () -> Future
  ) -> Future {
    retry(
      attempts,
      within: budget?.nanoseconds,
      delay: { delay($0, $1).nanoseconds },
      on: context,
      while: shouldRetry,
      fileID,
      line,
      work
    )
  }

  /// Does the work of the public overloads, with times in nanoseconds; `delay` is `nil` for attempts without delays.
  @_alwaysEmitIntoClient
  static func retry(
    _ attempts: Int,
    within budget: Int64? = nil,
    delay: (@Sendable (Int, Failure) -> Int64)?,
    on context: ExecutionContext,
    while shouldRetry: @escaping @Sendable (Failure) -> Bool,
    _ fileID: StaticString,
    _ line: UInt,
    _ work: @escaping @Sendable () -> Future
  ) -> Future {
    require(attempts >= 1, "Future.retry needs at least 1 attempt, but attempts is \(attempts).")
    // A promise, because its token is cancelled with the future, even if `Failure` cannot represent cancellation.
    let promise = Promise<Value, Failure>(fileID: fileID, line: line)
    let cancellation = promise.cancellationToken
    let budget = budget.map { RetryBudget(nanoseconds: $0, on: context) }
    // Starts attempt `number`, and returns a future of the attempt and its successors: of the first value, or else of the last
    // error. `waited` is the sum of the delays so far, which the budget needs if the context has no clock.
    @Sendable func attempt(_ number: Int, waited: Int64) -> Future {
      work().flatMapError { error in
        guard number < attempts, !cancellation.isCancelled, shouldRetry(error) else { return .failed(error) }
        let delay = max(0, delay?(number, error) ?? 0)
        let waited = waited.addingSaturated(delay)
        guard budget?.allowsStart(in: delay, waited: waited) ?? true else { return .failed(error) }
        // A resolved future, because `derive` only has to wait for the delay, and to run the transform on the context. A
        // cancelled wait runs `bypass` in place of the transform if `Failure` cannot represent cancellation.
        return Future<Void, Failure>.succeeded(())
          .derive(on: context, afterNanoseconds: delay, bypass: { _ in .failed(error) }) { _ in
            // Asks the budget again, as the context can run late. Asks the token, as `bypass` cannot replace a run that began.
            let isTooLate = budget.map { !$0.allowsStart(in: 0, waited: waited) } ?? false
            return cancellation.isCancelled || isTooLate ? .failed(error) : attempt(number + 1, waited: waited)
          }
      }
    }
    promise.follow(attempt(1, waited: 0))
    return promise.future
  }
}

/// The time in which a retry can start attempts, in nanoseconds.
@usableFromInline
struct RetryBudget: Sendable {
  private let nanoseconds: Int64
  private let now: @Sendable () -> Int64
  private let clockOnlyMeasuresDelays: Bool  // the context cannot tell the time, so `now` reads the system's clock
  private let start: Int64

  @usableFromInline
  init(nanoseconds: Int64, on context: ExecutionContext) {
    self.nanoseconds = nanoseconds
    (now, clockOnlyMeasuresDelays) = (context.clock ?? ExecutionContext.clockOfDispatch, context.clock == nil)
    start = now()
  }

  /// Returns whether a further attempt can start within the budget; always `false` for a budget of zero or less.
  /// - Parameters:
  ///   - delay: The time from now to the start.
  ///   - waited: The sum of all delays before the start: at least this time has passed then, also if the context has no clock.
  /// - Returns: Whether the attempt can start.
  @usableFromInline
  func allowsStart(in delay: Int64, waited: Int64) -> Bool {
    guard nanoseconds > 0 else { return false }
    let elapsed = (now() - start).addingSaturated(delay)
    return (clockOnlyMeasuresDelays ? max(elapsed, waited) : elapsed) <= nanoseconds
  }
}

extension Int64 {
  /// Returns the sum, or the greatest number if the sum overflows.
  @usableFromInline
  func addingSaturated(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
