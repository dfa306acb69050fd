import Dispatch

#if canImport(Darwin)
  import Futures
#else
  import Synchronization
#endif

/// A value that one thread sends and another thread waits for.
final class Delivery<Output: Sendable>: Sendable {
  private let output = Mutex<Output?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  func bring(_ value: Output) {
    output.withLock { $0 = value }
    isThere.signal()
  }

  /// Blocks until the value arrives; called once, and never in a task.
  func wait() -> Output {
    isThere.wait()
    return output.withLock { $0! }
  }
}

/// Runs an asynchronous function in a new task, and blocks until it returns.
func runBlocking<Output: Sendable>(_ work: @escaping @Sendable () async -> Output) -> Output {
  let output = Delivery<Output>()
  Task.detached { output.bring(await work()) }
  return output.wait()
}
