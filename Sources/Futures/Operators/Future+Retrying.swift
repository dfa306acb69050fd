extension Future {
  /// Calls `work` until its future succeeds, at most `attempts` times, without a delay.
  ///
  /// The first attempt starts at once, on the calling thread. Further attempts start on `context`. The number of
  /// attempts costs neither stack nor memory.
  ///
  /// An attempt that is cancelled has failed, too, and another one follows. So cancel the retry and not its attempts, as
  /// in `retry(attempts: 3) { … }.cancelled(by: token)`.
  /// - Parameters:
  ///   - attempts: The maximum number of attempts. Less than 1 traps.
  ///   - context: It starts the further attempts.
  ///   - shouldRetry: Returns whether to try again after this failure. It runs where the attempt failed.
  ///   - fileID: The file that the graph of pending work names.
  ///   - line: The line that the graph names.
  ///   - work: Makes the future of an attempt.
  /// - Returns: A future with the value of the first successful attempt, or the error of the last one. Cancelling it
  ///   leaves the running attempt, and starts no other attempt.
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
  /// The first attempt starts at once, on the calling thread. Further attempts start on `context`, after their delay.
  /// The number of attempts costs neither stack nor memory.
  ///
  /// An attempt that is cancelled has failed, too, and another one follows. So cancel the retry and not its attempts, as
  /// in `retry(attempts: 3, delay: delay) { … }.cancelled(by: token)`.
  /// - Parameters:
  ///   - attempts: The maximum number of attempts. Less than 1 traps.
  ///   - delay: The delay after a failed attempt.
  ///   - context: Its clock measures the delays, and it starts the further attempts.
  ///   - shouldRetry: Returns whether to try again after this failure. It runs where the attempt failed.
  ///   - fileID: The file that the graph of pending work names.
  ///   - line: The line that the graph names.
  ///   - work: Makes the future of an attempt.
  /// - Returns: A future with the value of the first successful attempt, or the error of the last one. Cancelling it
  ///   leaves the running attempt, or frees the timer, and starts no other attempt.
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
      delay: { delay.delay(after: $0).nanoseconds },
      on: context,
      while: shouldRetry,
      fileID,
      line,
      work
    )
  }

  // `delay` returns the delay after an attempt, by its number, in nanoseconds; `nil` is no delay.
  private static func retry(
    _ attempts: Int,
    delay: (@Sendable (Int) -> Int64)?,
    on context: ExecutionContext,
    while shouldRetry: @escaping @Sendable (Failure) -> Bool,
    _ fileID: StaticString,
    _ line: UInt,
    _ work: @escaping @Sendable () -> Future
  ) -> Future {
    require(attempts >= 1, "Future.retry needs at least 1 attempt, but attempts is \(attempts).")
    // A promise, because its token is cancelled even if `Failure` cannot represent cancellation.
    let promise = Promise<Value, Failure>(fileID: fileID, line: line)
    let cancellation = promise.cancellationToken
    @Sendable func attempt(_ number: Int) -> Future {
      work().flatMapError { error in
        guard number < attempts, !cancellation.isCancelled, shouldRetry(error) else { return .failed(error) }
        return Future<Void, Failure>.succeeded(())
          .derive(on: context, afterNanoseconds: delay?(number) ?? 0, bypass: { _ in .failed(error) }) { _ in
            cancellation.isCancelled ? .failed(error) : attempt(number + 1)
          }
      }
    }
    promise.follow(attempt(1))
    return promise.future
  }
}
