import Dispatch
import Synchronization

/// One value that one thread waits for and another brings.
final class Delivery<Output: Sendable>: Sendable {
  private let output = Mutex<Output?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  func bring(_ value: Output) {
    output.withLock { $0 = value }
    isThere.signal()
  }

  /// Blocks until the value is there; called once, and never in a task.
  func wait() -> Output {
    isThere.wait()
    return output.withLock { $0! }
  }
}

/// Runs an asynchronous function in a task of its own while this thread waits.
func runBlocking<Output: Sendable>(_ work: @escaping @Sendable () async -> Output) -> Output {
  let output = Delivery<Output>()
  Task.detached { output.bring(await work()) }
  return output.wait()
}
