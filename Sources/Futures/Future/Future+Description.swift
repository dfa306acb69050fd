// Descriptions and mirrors start no lazy future (R2b), and do not count as observing a failure.

extension Future: CustomStringConvertible, CustomReflectable {
  /// The result, or the state and the label: `Future(succeeded: 3)`, `Future(pending, "avatar")`.
  public var description: String { "Future(\(summary.text()))" }

  /// The result, or the state and the label, for a debugger.
  public var customMirror: Mirror { Mirror(self, children: summary.children, displayStyle: .struct) }
}

extension Promise: CustomStringConvertible, CustomReflectable {
  /// The result of the future, or its state and label: `Promise(pending, "avatar")`.
  public var description: String { "Promise(\(future.summary.text()))" }

  /// The result of the future, or its state and label, for a debugger.
  public var customMirror: Mirror { Mirror(self, children: future.summary.children, displayStyle: .class) }
}

extension Future {
  /// The text of the description, and the children of the mirror.
  ///
  /// The text is a closure, so that a mirror does not call the description of the value.
  fileprivate var summary: (text: () -> String, children: KeyValuePairs<String, Any>) {
    let result: Result<Value, Failure>
    switch storage {
    case .succeeded(let value): result = .success(value)
    case .failed(let error): result = .failure(error)
    case .sharedState(let state):
      guard let settled = state.result else { return state.pendingSummary }
      result = settled
    }
    switch result {
    case .success(let value): return ({ "succeeded: \(value)" }, ["result": result])
    case .failure(let error): return ({ "failed: \(error)" }, ["result": result])
    }
  }
}

extension FutureState {
  /// The `summary` of a future without a result.
  fileprivate final var pendingSummary: (text: () -> String, children: KeyValuePairs<String, Any>) {
    let state = pendingDescription
    let label = label
    return ({ label.map { "\(state), \"\($0)\"" } ?? state }, ["state": state, "label": label as Any])
  }
}
