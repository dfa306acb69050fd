extension CancellationToken: CustomStringConvertible, CustomReflectable {
  /// The state: `CancellationToken(cancelled)`, `CancellationToken(not cancelled)` or `CancellationToken(none)`.
  public var description: String {
    state == nil ? "CancellationToken(none)" : "CancellationToken(\(isCancelled ? "cancelled" : "not cancelled"))"
  }

  /// The state, for a debugger.
  public var customMirror: Mirror { Mirror(self, children: ["isCancelled": isCancelled], displayStyle: .struct) }
}

extension CancellationTokenSource: CustomStringConvertible, CustomReflectable {
  /// The state: `CancellationTokenSource(cancelled)` or `CancellationTokenSource(not cancelled)`.
  public var description: String { "CancellationTokenSource(\(isCancelled ? "cancelled" : "not cancelled"))" }

  /// The state, for a debugger.
  public var customMirror: Mirror { Mirror(self, children: ["isCancelled": isCancelled], displayStyle: .class) }
}
