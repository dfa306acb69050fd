internal import Dispatch

/// Continues work that the calling thread has done long enough for other threads, on a thread of the global queue (R28).
///
/// Each place that calls this names its bound. A test with an order of its own runs the work where its deliveries run.
package func handOn(_ work: @escaping @Sendable () -> Void) {
  if let submit = Trampoline.current.storage.pointee.submitElsewhere { return submit(work) }
  DispatchQueue.global().async(execute: work)
}
