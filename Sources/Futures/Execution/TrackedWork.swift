/// A user's callback that a context got while pending work is tracked.
///
/// The future of a stage shows whether the stage's work has returned. A callback has no future, so this object notes that.
final class TrackedWork: Sendable {
  private enum Status: UInt8, BitwiseCopyable {
    case enqueued, running, ended
  }

  private let consumer: Consumer
  // Relaxed: only the graph reads it, and it publishes nothing.
  private let status = AtomicByte<Status>(.enqueued)

  init(_ consumer: Consumer) { self.consumer = consumer }

  /// Claims the consumer, and runs its callback, unless the callback was removed.
  func runUnlessRemoved(_ callback: () -> Void) {
    status.store(.running, ordering: .relaxed)
    if consumer.claimSubmitted() { callback() }
    status.store(.ended, ordering: .relaxed)
  }

  /// The state of the callback in the graph; `nil` if the callback has returned or was removed.
  var nodeState: WaitForGraph.Node.State? {
    switch status.load(ordering: .relaxed) {
    case .enqueued: consumer.currentStatus == .submitted ? .enqueued : nil
    case .running: .running
    case .ended: nil
    }
  }
}
