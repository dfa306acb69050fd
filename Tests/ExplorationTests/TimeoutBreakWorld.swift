/// A future with a timeout, and with a failure type that cannot hold `BrokenPromise`: while one thread drops the promise of its
/// source, another thread cancels the future, which frees the timer (R5, R12).
final class TimeoutBreakWorld: ExploredWorld, @unchecked Sendable {
  // @unchecked: only the running explored thread, or the explorer's caller between runs, uses the variables.

  enum Operation: String, CaseIterable, Sendable {
    /// Cancels the future with the timeout.
    case cancel
    /// Drops the promise.
    case drop
  }

  enum Shape: CaseIterable, Sendable { case cancellable }

  /// Can represent cancellation, and no broken promise.
  enum Gone: CancellableFailure { case cancelled }

  private static let handler: Void = FuturesDiagnostics.setHandler { _ in }  // without one, the drop can trap (R4)

  private var promise: Promise<Int, Gone>?
  private var future: Future<Int, Gone>?
  private var work: (@Sendable () -> Void)?

  init(_: Shape, _ threads: [[Operation]]) {
    _ = Self.handler
    let promise = Promise<Int, Gone>()
    self.promise = promise
    let context = ExecutionContext.custom(
      execute: { $0() },
      afterNanoseconds: { [unowned self] _, work in
        self.work = work
        return { [unowned self] in self.work = nil }
      }
    )
    future = promise.future.timeout(afterNanoseconds: .max, on: context) { .success(0) }
  }

  func run(_ operation: Operation) {
    switch operation {
    case .cancel: future?.cancel()
    case .drop: promise = nil
    }
  }

  /// Returns the first fault after all threads have ended.
  func check() -> String? {
    let isResolved = future?.isResolved ?? false
    let keepsTimer = work != nil
    work = nil
    if !isResolved { return "the future is not cancelled (R15)" }
    return keepsTimer ? "the timer of a cancelled future was not freed (R5)" : nil
  }
}
