/// Removes an attached callback.
///
/// Releasing a registration has no effect. Holding one keeps the future's result alive, but no callback.
@frozen
public struct Registration: Sendable {
  /// The object that holds the callback.
  @usableFromInline
  enum Owner: Sendable {
    /// The list of a future; `nil` if the state itself is in that list, with the callback in its slot.
    case future(FutureState, Consumer?)
    /// The list of a token.
    case token(CancellationState, Consumer)
    /// The context that got the callback, and has not started it.
    case context(Consumer)
    /// Nothing: the callback has run, or never runs.
    case none
  }

  @usableFromInline let owner: Owner

  @_alwaysEmitIntoClient
  init(_ owner: Owner) { self.owner = owner }

  /// The registration of a callback that has run, or never runs.
  @inlinable static var finished: Registration { Registration(.none) }

  /// Removes the callback, unless it has started, and releases its captures.
  ///
  /// O(1); never waits. It never cancels the future, not even for the last consumer (R16).
  /// - Returns: Whether this kept the callback from running. If so, it never runs.
  @discardableResult
  public func remove() -> Bool { owner.remove() }
}

extension Registration.Owner {
  /// Removes the callback from its owner.
  ///
  /// `borrowing`, so that the switch counts no references: the registration keeps the objects alive.
  borrowing func remove() -> Bool {
    switch self {
    case .future(let state, let consumer?): return state.remove(consumer)
    case .future(let state, nil): return state.remove(state)  // the state is its own consumer
    case .token(let state, let handler): return state.remove(handler)
    case .context(let consumer):
      guard consumer.claimSubmitted() else { return false }  // it has started, or was removed before
      consumer.dropCaptures()
      return true
    case .none: return false
    }
  }
}
