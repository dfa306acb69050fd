internal import Dispatch

/// Runs `work` on the global queue: the caller has done enough for other threads (R28), or must not run `work` in its task (R8).
///
/// Each caller explains its reason. The test kit sets `submitElsewhere`, to choose when the work runs.
package func handOn(_ work: @escaping @Sendable () -> Void) {
  if let submit = Trampoline.current.storage.pointee.submitElsewhere { return submit(work) }
  DispatchQueue.global().async(execute: work)
}
