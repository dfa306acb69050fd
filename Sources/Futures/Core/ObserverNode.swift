/// A user's callback in the list of a future's consumers.
@_fixed_layout
@usableFromInline
class ObserverNode<Value: Sendable, Failure: Error>: CallbackNode, @unchecked Sendable {
  // @unchecked: as the base class says.
  @usableFromInline typealias Callback = @Sendable (Result<Value, Failure>) -> Void

  /// Owned by whoever moves `status` to `finished`, who takes it; so it is released as soon as it ran or was removed (R5).
  @exclusivity(unchecked) @usableFromInline final var callback: Callback?

  @inlinable
  init(kind: Kind, _ callback: @escaping Callback, deliver: @escaping Delivery) {
    self.callback = callback
    super.init(kind: kind, deliver: deliver)
  }

  /// A callback that runs inline.
  @inlinable
  convenience init(_ callback: @escaping Callback) {
    self.init(kind: .inline, consume callback) { node, state, _ in
      let node = unsafeDowncast(node, to: ObserverNode.self)
      let callback = node.takeCallback()
      // No result: the future broke, and the callback is released unrun.
      if let result = unsafeDowncast(state, to: State<Value, Failure>.self).result { callback?(result) }
    }
  }

  // Not `callback.take()`: that is generic, and wraps the closure in two allocations.
  @inlinable
  final func takeCallback() -> Callback? {
    let callback = callback
    self.callback = nil
    return callback
  }

  @usableFromInline
  override func release() {
    callback = nil
  }
}

/// A user's callback that runs on an execution context.
@_fixed_layout
@usableFromInline
final class SubmittedObserverNode<Value: Sendable, Failure: Error>: ObserverNode<Value, Failure>, @unchecked Sendable {
  // @unchecked: as the base class says.

  /// Taken when the callback is handed over, since the context may own the work.
  @exclusivity(unchecked) @usableFromInline final var context: ExecutionContext?

  @inlinable
  init(on context: ExecutionContext, _ callback: @escaping Callback) {
    self.context = context
    super.init(kind: context.nodeKind, callback) { node, state, _ in
      if let result = unsafeDowncast(state, to: State<Value, Failure>.self).result {
        unsafeDowncast(node, to: SubmittedObserverNode.self).submit(result)
      } else if node.claimSubmitted() {
        node.release()
      }
    }
  }

  /// Hands the callback to its context, which may start it once, unless it is removed before.
  @inlinable
  func submit(_ result: Result<Value, Failure>) {
    guard let context else { return }
    self.context = nil
    context.execute { [self] in
      guard claimSubmitted() else { return }
      takeCallback()?(result)
    }
  }
}
