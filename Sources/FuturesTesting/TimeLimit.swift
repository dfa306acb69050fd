internal import Dispatch
public import Futures

/// Runs a test, and reports what is pending if the test takes longer than a limit.
///
/// For a test that hangs, and for the trait of a test library. This function does not end the test: the test library
/// does that at its own limit, which has to be longer.
///
/// ```swift
/// try await reportingPendingFutures(after: 10) {
///   _ = try await screen.load().value
/// }
/// ```
///
/// `FuturesDiagnostics.tracksPendingFutures` is `true` while `body` runs. The report has the objects that were made
/// since the call, also by other tests that run meanwhile. A separate Dispatch queue measures the time, so the report
/// comes even if all threads of tasks are blocked.
/// - Parameters:
///   - seconds: The limit in seconds.
///   - isolation: The caller's actor, on which `body` runs.
///   - report: Gets the graph at the limit, on another thread; `nil` writes its text to standard error.
///   - body: The test.
/// - Returns: The value of `body`.
/// - Throws: The error of `body`.
@discardableResult
public func reportingPendingFutures<Value>(
  after seconds: Double,
  isolation: isolated (any Actor)? = #isolation,
  to report: (@Sendable (WaitForGraph) -> Void)? = nil,
  _ body: () async throws -> Value
) async rethrows -> Value {
  let watch = TimeLimitWatch(seconds: seconds) { graph in
    if let report { return report(graph) }
    FuturesDiagnostics.writeText("The test has run for \(seconds) s. This is pending:\n\(graph)")
  }
  defer { watch.end() }
  return try await body()
}

/// Reports what is pending once a time has passed.
private final class TimeLimitWatch: Sendable {
  private let hasEnded = Locked(false)

  /// The number of watches, and whether tracking was on before the first one; if not, the last watch turns tracking off.
  private static let watches = Locked((count: 0, wasTracking: false))

  /// Tracks pending futures from now on, and reports them once the time has passed.
  init(seconds: Double, _ report: @escaping @Sendable (WaitForGraph) -> Void) {
    Self.watches.withLock { watches in
      if watches.count == 0 { watches.wasTracking = FuturesDiagnostics.tracksPendingFutures }
      watches.count += 1
      FuturesDiagnostics.tracksPendingFutures = true
    }
    let start = DispatchTime.now()
    let nanoseconds = Int64(max(0, min(seconds, 1e9)) * 1e9)  // bounded, so that they fit
    DispatchQueue(label: "swift-futures.time-limit")  // not a global queue: blocked code can hold all of its threads
      .asyncAfter(deadline: DispatchTime(afterNanoseconds: nanoseconds)) { [hasEnded] in
        guard !hasEnded.withLock({ $0 }) else { return }
        report(FuturesDiagnostics.graph(since: start, ofThread: nil))  // `nil`: of all threads
      }
  }

  /// Prevents the report; the last watch also turns tracking off, if tracking was off before the first watch.
  func end() {
    hasEnded.withLock { $0 = true }
    Self.watches.withLock { watches in
      watches.count -= 1
      let endsTracking = watches.count == 0 && !watches.wasTracking
      if endsTracking { FuturesDiagnostics.tracksPendingFutures = false }
    }
  }
}
