/// Removes an attached callback.
///
/// Releasing a registration has no effect. Holding one keeps the future's result alive, but no callback.
@frozen
public struct Registration: Sendable {
  // Without a state, the callback is with its context. Without a consumer, the state itself is the consumer.
  @usableFromInline let state: FutureState?
  @usableFromInline let consumer: Consumer?

  @inlinable
  init(state: FutureState?, consumer: Consumer?) {
    self.state = state
    self.consumer = consumer
  }

  /// The registration of a callback that has already run.
  @inlinable static var finished: Registration { Registration(state: nil, consumer: nil) }

  /// Removes the callback, unless it has started, and releases its captures.
  ///
  /// O(1); never waits. It never cancels the future, not even for the last consumer (R16).
  /// - Returns: Whether this kept the callback from running. If so, it never runs.
  @discardableResult
  public func remove() -> Bool {
    // Not counted: the registration keeps both alive.
    let state = state.map(Unmanaged.passUnretained)
    let slot = state.map { Unmanaged<Consumer>.fromOpaque($0.toOpaque()) }
    guard let consumer = consumer.map(Unmanaged.passUnretained) ?? slot else { return false }
    return withExtendedLifetime(self) {
      consumer._withUnsafeGuaranteedRef { consumer in
        if let state { return state._withUnsafeGuaranteedRef { $0.remove(consumer) } }
        guard consumer.claimSubmitted() else { return false }
        consumer.release()
        return true
      }
    }
  }
}
