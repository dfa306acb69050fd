/// A change of meaning that an `await` in place of a callback would bring.
public enum CallRisk: String, CaseIterable, Codable, Sendable {
  /// Statements after the call ran before the callback.
  case order

  /// Callers of the enclosing function did not wait for the callback.
  case callers

  /// Calls of a loop ran at once.
  case loop

  /// A `defer` block ran before the callback.
  case `defer`

  /// A lock, a group, a semaphore, or code that asks for its thread is near the call, or the callback comes on a queue
  /// of its own.
  case lock

  /// The callback captured an object weakly, and the code after an await keeps the object alive.
  case weakSelf = "weak-self"

  /// The callback hops to the main queue.
  case mainQueue = "main-queue"

  /// The callback ran elsewhere than the code after an `await`.
  case isolation

  /// The counterpart ends early when its task is cancelled.
  case cancellation
}

/// The reason why a call is not converted.
struct CallRefusal: Error, Equatable {
  let reason: String

  /// The name for `--allow`; `nil` where the call cannot be converted at all.
  var risk: CallRisk?

  init(_ reason: String, _ risk: CallRisk? = nil) {
    self.reason = reason
    self.risk = risk
  }
}
