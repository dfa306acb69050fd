import Dispatch

/// Time, so that tests can bring their own.
protocol Scheduler: Sendable {
  var now: Duration { get }
  func after(_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable
}

struct DispatchScheduler: Scheduler {
  var now: Duration { .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds)) }

  func after(_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
    // Dispatch locks its timers, but does not say so.
    nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler(handler: work)
    timer.schedule(deadline: .now() + .nanoseconds(Int(delay / .nanoseconds(1))))
    timer.activate()
    return CancelAction { timer.cancel() }
  }
}
