extension Future {
  /// Cancels the future, if it is unresolved: its producer is told first, and then it ends, if `Failure` can say so.
  ///
  /// - A promise's `onCancel` handlers run, in order, on this thread. Then the future fails with `CancellationError` (where
  ///   `Failure` is `any Error` or that), or with `.cancelled` (a `CancellableFailure`). Any other failure type cannot say so,
  ///   and the producer decides how the future ends (R15).
  /// - A derived future leaves its source, and a future of several leaves them all. A source that no other consumer is
  ///   attached to (callback, derived future, await) is cancelled, too (R16). A transform that has not started never runs.
  /// - A task's future cancels the task.
  ///
  /// What the work still delivers is dropped. Cancelling twice, or a resolved future, does nothing.
  ///
  /// O(length of the chain); no stack.
  public func cancel() {
    if case .shared(let state) = storage { state.cancel() }
  }

  /// A view of this future through which no cancellation passes: cancelling it, or all that is derived from it, leaves this
  /// future alone.
  ///
  /// While it is unresolved it counts as a consumer of this future, so others who leave do not cancel this one either.
  /// Cost: three allocations while this future is unresolved, none if it is resolved.
  public var shielded: Future {
    guard case .shared(let source) = storage, !source.isResolved else { return self }
    let derived = State<Value, Failure>(hasPromise: false)
    let node = FollowerNode(derived)
    derived.details = .inputs(Shield(source, node))  // nobody else has the derived state yet
    source.attach(node)
    return Future(derived)
  }

  /// The same future, cancelled when `token` is.
  ///
  /// As if `cancel()` was called on the derived future: it leaves this one, which is cancelled too if nobody else needs it.
  /// The registration with the token goes when the future is resolved. If the token was cancelled before, all that happens
  /// at once, and a lazy future is not started.
  /// - Parameter token: Who cancels.
  /// - Returns: The derived future.
  public func cancelled(by token: CancellationToken) -> Future {
    guard case .shared(let source) = storage, !source.isResolved, token != .none else { return self }
    if token.isCancelled, let cancelled = Cancelled<Failure>.failure {
      source.cancelIfUnneeded()
      return .failed(cancelled)
    }
    let derived = State<Value, Failure>(hasPromise: false)
    let interruption = Interruption()
    attach(.passRetained(InterruptibleFollowerNode(derived, interruption, outlivesSource: false)), resolving: derived)
    interruption.start {
      let registration = token.register { derived.cancel() }
      return { registration.remove() }
    }
    return Future(derived)
  }

  /// Cancels a future that was about to be attached to, and is not needed after all, unless somebody else needs it.
  @usableFromInline
  package func cancelIfUnneeded() {
    if case .shared(let state) = storage { state.cancelIfUnneeded() }
  }
}

/// What stands between a shielded view and its source.
private final class Shield: InputHolder, @unchecked Sendable {
  // @unchecked: constants; the node is protected by the lock of its source.
  private let source: AnySharedState
  private let node: CallbackNode

  init(_ source: AnySharedState, _ node: CallbackNode) {
    self.source = source
    self.node = node
  }

  override var progressParts: ProgressParts { ProgressParts(rule: .passedThrough, states: [source]) }

  override func leaveInputs(silently isSilent: Bool) -> [AnySharedState] {
    // Whatever becomes of the source, it is not cancelled from here.
    _ = source.leave(node, silently: isSilent)
    return []
  }
}
