public import Foundation
public import Futures

extension ExecutionContext {
  /// Runs work as operations of `queue`.
  ///
  /// The context keeps the order if `queue` runs one operation at a time. If the queue cancels an operation, the derived future
  /// breaks (R2a). `delay`, `timeout` and `retry` on this context use Dispatch's clock.
  public static func operationQueue(_ queue: OperationQueue) -> ExecutionContext {
    ExecutionContext { work in queue.addOperation(work) }
  }

  /// Runs work on the thread of `loop`, when the loop runs in `mode`.
  ///
  /// The context keeps the order, and wakes the loop. Its work runs only while the loop runs in this mode.
  /// `delay`, `timeout` and `retry` on this context use Dispatch's clock.
  ///
  /// On Linux a timer wakes the loop. Each loop keeps one timer for each mode. So `RunLoop.run()` waits, instead of
  /// returning for lack of sources. The context keeps the loop.
  public static func runLoop(_ loop: RunLoop, mode: RunLoop.Mode = .default) -> ExecutionContext {
    // Any thread can make these calls: the Core Foundation functions that they call lock the loop.
    nonisolated(unsafe) let loop = loop
    #if !canImport(ObjectiveC)
      let alarm = RunLoopAlarm.alarm(of: loop, mode)
    #endif
    return ExecutionContext { work in
      loop.perform(inModes: [mode], block: work)
      #if canImport(ObjectiveC)
        CFRunLoopWakeUp(loop.getCFRunLoop())
      #else
        alarm.ring()
      #endif
    }
  }
}

#if !canImport(ObjectiveC)
  /// A timer that wakes a run loop.
  ///
  /// On Linux `RunLoop.perform` does not wake the loop, and `CFRunLoopWakeUp` is not public. A change of a timer's fire
  /// date wakes the loop. Foundation for Linux never frees a timer, so all contexts of a loop and a mode share one.
  private final class RunLoopAlarm: @unchecked Sendable {
    // @unchecked: Core Foundation locks the loop and its timers. This class compares the loop, adds a timer to it and wakes it.
    private static let alarms = Locked<[RunLoopAlarm]>([])

    private weak var loop: RunLoop?
    private let mode: RunLoop.Mode
    private let timer: Timer

    private init(of loop: RunLoop, _ mode: RunLoop.Mode) {
      (self.loop, self.mode) = (loop, mode)
      // Only `ring()` fires it. Repeats, because a timer that does not would be invalid after the first `ring()`.
      timer = Timer(fire: .distantFuture, interval: 1e9, repeats: true) { _ in }
      loop.add(timer, forMode: mode)
    }

    /// Returns the alarm of a loop and a mode; makes it if this is the first call with both.
    static func alarm(of loop: RunLoop, _ mode: RunLoop.Mode) -> RunLoopAlarm {
      nonisolated(unsafe) let loop = loop  // any thread can compare the loop, and add a timer to it
      return alarms.withLock { alarms in
        if let alarm = alarms.first(where: { $0.loop === loop && $0.mode == mode }) { return alarm }
        alarms.removeAll { $0.loop == nil }  // their loops were released
        let alarm = RunLoopAlarm(of: loop, mode)
        alarms.append(alarm)
        return alarm
      }
    }

    /// Wakes the loop.
    func ring() { timer.fireDate = Date() }
  }
#endif
