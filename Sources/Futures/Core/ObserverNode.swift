/// A user's callback in the list of a future's consumers.
@usableFromInline
final class ObserverNode<Value: Sendable, Failure: Error>: CallbackNode, @unchecked Sendable {
  // @unchecked: as the base class says.
  @usableFromInline typealias Callback = @Sendable (Result<Value, Failure>) -> Void

  /// Owned by whoever moves `status` to `finished`, who takes it; so it is released as soon as it ran or was removed (R5).
  @exclusivity(unchecked) @usableFromInline final var callback: Callback?

  /// A callback that runs inline.
  @inlinable
  init(_ callback: @escaping Callback) {
    self.callback = callback
    super.init(kind: .inline) { node, state, _ in
      let node = unsafeDowncast(node, to: ObserverNode.self)
      let callback = node.takeCallback()
      // No result: the future broke, and the callback is released unrun.
      if let result = unsafeDowncast(state, to: State<Value, Failure>.self).result { callback?(result) }
    }
  }

  /// A callback that runs on `context`.
  @inlinable
  init(on context: ExecutionContext, _ callback: @escaping Callback) {
    self.callback = callback
    super.init(kind: context.nodeKind) { node, state, _ in
      let state = unsafeDowncast(state, to: State<Value, Failure>.self)
      guard let result = state.result else {
        if node.claimSubmitted() { node.release() }
        return
      }
      unsafeDowncast(node, to: ObserverNode.self).submit(result, to: context)
    }
  }

  // Not `callback.take()`: that is generic, and wraps the closure in two allocations.
  @inlinable
  func takeCallback() -> Callback? {
    let callback = callback
    self.callback = nil
    return callback
  }

  /// Hands the callback to `context`, which may start it once, unless it is removed before.
  @inlinable
  func submit(_ result: Result<Value, Failure>, to context: ExecutionContext) {
    context.execute { [self] in
      guard claimSubmitted() else { return }
      takeCallback()?(result)
    }
  }

  @usableFromInline
  override func release() {
    callback = nil
  }
}
