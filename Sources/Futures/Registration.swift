/// What stands for one attached callback, to take it away again.
///
/// Dropping a registration changes nothing; holding one keeps the future's result, but no callback, alive.
@frozen
public struct Registration: Sendable {
  // One of the state and the node alone: a callback that was attached to a future with a result has no state.
  @usableFromInline let state: AnySharedState?
  @usableFromInline let node: CallbackNode?

  @inlinable
  init(state: AnySharedState?, node: CallbackNode?) {
    self.state = state
    self.node = node
  }

  /// A registration of something that has already run.
  @inlinable static var finished: Registration { Registration(state: nil, node: nil) }

  /// Takes the callback away, unless it has started, and releases what it captured.
  ///
  /// O(1); never waits.
  ///
  /// Removing detaches without cancelling, also when this was the last consumer (R16).
  /// - Returns: Whether the callback was kept from running. From then on it never runs.
  @discardableResult
  public func remove() -> Bool {
    // Not counted: the registration keeps both alive.
    guard let node = node.map(Unmanaged.passUnretained) else { return false }
    let state = state.map(Unmanaged.passUnretained)
    return withExtendedLifetime(self) {
      node._withUnsafeGuaranteedRef { node in
        if let state { return state._withUnsafeGuaranteedRef { $0.remove(node) } }
        guard node.claimSubmitted() else { return false }
        node.release()
        return true
      }
    }
  }
}
