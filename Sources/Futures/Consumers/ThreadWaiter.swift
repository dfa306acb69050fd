internal import Dispatch

/// A thread that blocks until a future is resolved.
final class ThreadWaiter: Consumer, @unchecked Sendable {
  // @unchecked: as the base class says. The semaphore is thread-safe.
  private let semaphore: DispatchSemaphore

  init() {
    let semaphore = DispatchSemaphore(value: 0)
    self.semaphore = semaphore
    super.init(kind: .waiter) { _, state, _ in
      if state.isResolved {
        semaphore.signal()
      } else {
        state.reportWaitForBrokenPromise()
      }
    }
  }

  func wait() {
    semaphore.wait()
  }

  /// Waits until the future is resolved, or until the deadline.
  /// - Returns: Whether the future was resolved in time.
  func wait(until deadline: DispatchTime) -> Bool {
    semaphore.wait(timeout: deadline) == .success
  }
}
