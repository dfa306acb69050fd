import Dispatch

/// Time, which tests can replace.
protocol Scheduler: Sendable {
  var now: Duration { get }
  func after(_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable
}

struct DispatchScheduler: Scheduler {
  var now: Duration { .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds)) }

  func after(_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
    // Safe: Dispatch locks its timers, although they are not declared `Sendable`.
    nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler(handler: work)
    timer.schedule(deadline: .now() + .nanoseconds(Int(delay / .nanoseconds(1))))
    timer.activate()
    return CancelAction { timer.cancel() }
  }
}
