/// A task that awaits a future, for which the explored threads perform the steps of `await future.value`.
final class Waiting<Failure: Error>: @unchecked Sendable {
  // @unchecked: only the running explored thread uses the variables; the task runs on that thread as well.
  typealias Continuation = TaskWaiter<Outcome<Int, Failure>>.Continuation

  private var waiter: TaskWaiter<Outcome<Int, Failure>>? = TaskWaiter()
  private var continuation: Continuation?

  /// The result that resumed the task, with `nil` inside for an abandoned wait; `nil` if it is suspended.
  private(set) var end: Result<Int, Failure>??

  private(set) var hasBegun = false

  /// Starts a task, which is suspended at once.
  init() {
    Task.detached(executorPreference: CallerExecutor.shared) {
      self.end = .some(await withUnsafeContinuation { self.continuation = $0 })
    }
  }

  /// Acts as an await with the continuation of the task.
  func begin(_ future: Future<Int, Failure>) {
    hasBegun = true
    guard let continuation, let waiter else { return }
    if let result = future.settledResult {
      continuation.resume(returning: result)
    } else if case .sharedState(let state) = future.storage {
      state.attach(waiter, resuming: continuation)
    }
  }

  /// Acts as the cancellation of the task.
  func abandon(_ future: Future<Int, Failure>, isCancelling: Bool) {
    guard let waiter, case .sharedState(let state) = future.storage else { return }
    state.abandon(waiter, cancelling: isCancelling)
  }

  func release() { waiter = nil }
}

/// Runs each part of a task on the thread that starts or resumes the task, before that thread goes on.
///
/// So a run of the explorer waits for no thread of the concurrency pool, which other tests may block for long.
private final class CallerExecutor: TaskExecutor {
  static let shared = CallerExecutor()

  func enqueue(_ job: consuming ExecutorJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}
