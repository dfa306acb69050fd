internal import Dispatch
internal import Synchronization

/// A task that awaits a future, for which the explored threads perform the steps of `await future.value`.
final class Waiting<Failure: Error>: @unchecked Sendable {
  // @unchecked: only the running explored thread uses the variables. The task uses `ended` before it signals its end.
  typealias Continuation = TaskWaiter<Outcome<Int, Failure>>.Continuation

  private var waiter: TaskWaiter<Outcome<Int, Failure>>? = TaskWaiter()
  private var continuation: Continuation?
  private var ended: Result<Int, Failure>?
  private let isSuspended = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)

  private(set) var hasBegun = false
  private var isSettled = false

  /// Starts a task, and waits until it is suspended.
  init() {
    Task.detached {
      self.ended = await withUnsafeContinuation { continuation in
        self.continuation = continuation
        self.isSuspended.signal()
      }
      self.hasEnded.signal()
    }
    isSuspended.wait()
  }

  /// Acts as an await with the continuation of the task.
  func begin(_ future: Future<Int, Failure>) {
    hasBegun = true
    guard let continuation, let waiter else { return }
    if let result = future.settledResult {
      isSettled = true
      continuation.resume(returning: result)
    } else if case .shared(let state) = future.storage {
      state.attach(waiter, resuming: continuation)
    }
  }

  /// Acts as the cancellation of the task.
  func abandon(_ future: Future<Int, Failure>, isCancelling: Bool) {
    guard let waiter, case .shared(let state) = future.storage else { return }
    state.abandon(waiter, cancelling: isCancelling)
  }

  /// The result that resumed the task, with `nil` inside for an abandoned wait; `nil` if it is suspended.
  var end: Result<Int, Failure>?? {
    guard isSettled || waiter?.status.load(ordering: .relaxed) == .finished else { return nil }
    // The thread that sets this status also resumes the task, so only a fault can cause a timeout.
    guard hasEnded.wait(timeout: .now() + .seconds(60)) == .success else { return nil }
    hasEnded.signal()  // for a later call
    return .some(ended)
  }

  func release() { waiter = nil }
}
