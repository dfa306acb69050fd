/// The floor of B2, an await of a pending future: a lock and a slot for one value or one suspended task, used once.
///
/// The generic deinitializer runs unspecialised. That costs some tens of nanoseconds, but B2 takes microseconds.
final class HandSlot<Value: Sendable>: Sendable {
  typealias Continuation = UnsafeContinuation<Value, Never>

  private enum State {
    case empty
    case awaited(Continuation)
    case resolved(Value)
  }

  private let state = Mutex(State.empty)

  /// Stores the value for `resume(_:)`, or resumes the waiting task with the value.
  func succeed(_ value: Value) {
    let continuation: Continuation? = state.withLock { state in
      guard case .awaited(let continuation) = state else {
        state = .resolved(value)
        return nil
      }
      return continuation
    }
    continuation?.resume(returning: value)
  }

  /// Resumes the task with the value, now or later.
  func resume(_ continuation: Continuation) {
    let value: Value? = state.withLock { state in
      guard case .resolved(let value) = state else {
        state = .awaited(continuation)
        return nil
      }
      return value
    }
    if let value { continuation.resume(returning: value) }
  }
}
