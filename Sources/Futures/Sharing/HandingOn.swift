internal import Dispatch

/// Runs `work` on a thread of the global queue, because the calling thread has done enough for other threads (R28).
///
/// Each caller has a bound, and explains it. The test kit sets `submitElsewhere`, to choose when the work runs.
package func handOn(_ work: @escaping @Sendable () -> Void) {
  if let submit = Trampoline.current.storage.pointee.submitElsewhere { return submit(work) }
  DispatchQueue.global().async(execute: work)
}
