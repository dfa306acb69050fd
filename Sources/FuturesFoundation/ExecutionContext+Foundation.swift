public import Foundation
public import Futures

extension ExecutionContext {
  /// Runs work as operations of `queue`.
  ///
  /// It keeps the order where `queue` runs one operation at a time. A queue that cancels its operations breaks what waits for
  /// them (R2a). Delays are measured by Dispatch.
  /// - Parameter queue: The queue.
  /// - Returns: The context.
  public static func operationQueue(_ queue: OperationQueue) -> ExecutionContext {
    ExecutionContext { work in queue.addOperation(work) }
  }

  /// Runs work on the thread of `loop`, when that runs in `mode`.
  ///
  /// It keeps the order, and wakes the loop. Nothing runs while nobody runs the loop in this mode. Delays are measured by Dispatch.
  /// - Parameters:
  ///   - loop: The run loop. The context keeps it.
  ///   - mode: The mode.
  /// - Returns: The context.
  public static func runLoop(_ loop: RunLoop, mode: RunLoop.Mode = .default) -> ExecutionContext {
    // Both calls may come from any thread: the Core Foundation functions below them lock the loop.
    nonisolated(unsafe) let loop = loop
    return ExecutionContext { work in
      loop.perform(inModes: [mode], block: work)
      #if canImport(ObjectiveC)
        CFRunLoopWakeUp(loop.getCFRunLoop())
      #else
        // `perform` does not wake the loop, and a timer does.
        loop.add(Timer(timeInterval: 0, repeats: false) { _ in }, forMode: mode)
      #endif
    }
  }
}
