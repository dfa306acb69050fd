extension Future {
  /// Calls `work` until its future succeeds, at most `attempts` times.
  ///
  /// The first attempt starts at once, on the calling thread. Further attempts start on `context`, after their delay.
  /// The number of attempts costs neither stack nor memory.
  /// - Parameters:
  ///   - attempts: The maximum number of attempts. Less than 1 traps.
  ///   - delay: The delay after a failed attempt.
  ///   - context: Its clock measures the delays, and it starts the further attempts.
  ///   - shouldRetry: Returns whether to try again after this failure. It runs where the attempt failed.
  ///   - work: Makes the future of an attempt.
  /// - Returns: A future with the value of the first successful attempt, or the error of the last one. Cancelling it
  ///   leaves the running attempt, or frees the timer, and starts no other attempt.
  public static func retry(
    attempts: Int,
    delay: RetryDelay = .none,
    on context: ExecutionContext = .global(),
    while shouldRetry: @escaping @Sendable (Failure) -> Bool = { _ in true },
    _ work: @escaping @Sendable () -> Future
  ) -> Future {
    require(attempts >= 1, "Future.retry needs at least 1 attempt, but attempts is \(attempts).")
    // A promise, because its token is cancelled even if `Failure` cannot represent cancellation.
    let promise = Promise<Value, Failure>()
    let cancellation = promise.cancellationToken
    @Sendable func attempt(_ number: Int) -> Future {
      work().flatMapError { error in
        guard number < attempts, !cancellation.isCancelled, shouldRetry(error) else { return .failed(error) }
        return Future<Void, Failure>.succeeded(())
          .derive(on: context, after: delay.delay(after: number), bypass: { _ in .failed(error) }) { _ in
            cancellation.isCancelled ? .failed(error) : attempt(number + 1)
          }
      }
    }
    promise.follow(attempt(1))
    return promise.future
  }
}
