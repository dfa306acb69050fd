// A handler can cancel the next source or future, so cancellations nest. Above a maximum depth the trampoline defers
// them. The outermost cancellation of the thread runs the deferred ones before it returns (R6, R13). The depth of
// deliveries does not count. So a cancellation inside a deep delivery still runs its handlers before it returns.

extension Trampoline {
  /// The maximum number of nested cancellations.
  ///
  /// Greater than the maximum for deliveries, because `cancel()` promises to return after its handlers (R13). A level
  /// takes less than 2.5 KiB of stack in a debug build.
  static let maximumCancellationDepth = 64

  /// Returns whether the caller can run cancellation handlers now.
  ///
  /// If so, the caller calls `leaveCancellation()` afterwards, and otherwise `deferCancellation(_:)`.
  func enterCancellation() -> Bool {
    guard storage.pointee.cancellationDepth < Self.maximumCancellationDepth else { return false }
    storage.pointee.cancellationDepth += 1
    return true
  }

  /// Ends a cancellation; the outermost one first runs the deferred ones.
  func leaveCancellation() {
    if storage.pointee.cancellationDepth == 1 { runDeferredCancellations() }
    storage.pointee.cancellationDepth -= 1
  }

  /// Enqueues `body` for the end of the thread's outermost cancellation.
  ///
  /// Call it only while a cancellation runs on this thread, which then runs `body`.
  func deferCancellation(_ body: @escaping () -> Void) {
    storage.pointee.deferredCancellations.append(body)
  }

  /// Whether cancellations wait for the end of the thread's outermost cancellation.
  var hasDeferredCancellations: Bool { !storage.pointee.deferredCancellations.isEmpty }

  /// Runs the deferred cancellations, also new ones: when the outermost cancellation ends, or before the thread blocks.
  func runDeferredCancellations() {
    while let body = storage.pointee.deferredCancellations.popFirst() { body() }
  }
}
