extension Future {
  /// Does `work` until it succeeds, at most `attempts` times.
  ///
  /// The first attempt is made at once, on the calling thread; the others on `context`, after their delay. Attempts take
  /// neither stack nor memory, however many there are.
  /// - Parameters:
  ///   - attempts: How often `work` is done at most; less than 1 traps.
  ///   - delay: How long to wait after an attempt that failed.
  ///   - context: Whose clock is asked, and where further attempts are made.
  ///   - shouldRetry: Whether a failure is worth another attempt. It runs where the attempt failed.
  ///   - work: Makes the future of an attempt.
  /// - Returns: A future that succeeds as the first attempt that does, or fails as the last one did. Cancelling it
  ///   leaves the attempt that is under way, or frees the timer, and nothing is tried again.
  public static func retry(
    attempts: Int,
    delay: RetryDelay = .none,
    on context: ExecutionContext = .global(),
    while shouldRetry: @escaping @Sendable (Failure) -> Bool = { _ in true },
    _ work: @escaping @Sendable () -> Future
  ) -> Future {
    precondition(attempts >= 1, "retry needs at least 1 attempt, and was given \(attempts).")
    // The promise is there to hear of the cancellation, which not every failure type lets an attempt tell.
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
