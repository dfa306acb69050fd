internal import Synchronization

// Descriptions and mirrors start no lazy future (R2b), and do not count as observing a failure.

extension Future: CustomStringConvertible {
  /// The result, or the state and the label: `Future(succeeded: 3)`, `Future(pending, "avatar")`.
  public var description: String { "Future(\(summary.text))" }
}

extension Future: CustomReflectable {
  /// The result, or the state and the label, for a debugger.
  public var customMirror: Mirror { Mirror(self, children: summary.children, displayStyle: .struct) }
}

extension Promise: CustomStringConvertible {
  /// The result of the future, or its state and label: `Promise(pending, "avatar")`.
  public var description: String { "Promise(\(future.summary.text))" }
}

extension Promise: CustomReflectable {
  /// The result of the future, or its state and label, for a debugger.
  public var customMirror: Mirror { Mirror(self, children: future.summary.children, displayStyle: .class) }
}

extension Future {
  fileprivate var summary: Summary<Value, Failure> {
    switch storage {
    case .succeeded(let value): .resolved(.success(value))
    case .failed(let error): .resolved(.failure(error))
    case .shared(let state): state.typedRoot.summary
    }
  }
}

/// The content of a description and a mirror.
private enum Summary<Value: Sendable, Failure: Error> {
  case resolved(Result<Value, Failure>)
  case unresolved(String, label: String?)

  var text: String {
    switch self {
    case .resolved(.success(let value)): "succeeded: \(value)"
    case .resolved(.failure(let error)): "failed: \(error)"
    case .unresolved(let state, let label?): "\(state), \"\(label)\""
    case .unresolved(let state, nil): state
    }
  }

  var children: KeyValuePairs<String, Any> {
    switch self {
    case .resolved(let result): ["result": result]
    case .unresolved(let state, let label): ["state": state, "label": label as Any]
    }
  }
}

extension TypedState {
  fileprivate var summary: Summary<Value, Failure> {
    if let result { return .resolved(result) }
    // Relaxed: another thread can change the phase at any time.
    switch phase.load(ordering: .relaxed) {
    case .dormant: return .unresolved("not started", label: label)
    case .broken: return .unresolved("broken", label: label)
    default: return .unresolved("pending", label: label)
    }
  }
}
