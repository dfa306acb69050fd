extension Future {
  /// Cancels a pending future: first notifies its producer, then resolves it as cancelled, if `Failure` allows it.
  ///
  /// - A promise runs its `onCancel` handlers in order, on this thread. Then the future fails with `CancellationError`
  ///   (`any Error`, `CancellationError`) or with `.cancelled` (a `CancellableFailure`). No other failure type can
  ///   represent cancellation. With such a type, the producer decides how the future resolves (R15).
  /// - A derived future leaves its source, and a join leaves all its inputs. A source without another consumer
  ///   (callback, derived future, await) is cancelled, too (R16). A transform that has not started never runs (R17).
  /// - The future of a task cancels the task.
  ///
  /// A result that the work still delivers is dropped. A second cancellation, or that of a resolved future, does
  /// nothing.
  ///
  /// Cancellations by handlers nest 64 deep. The outermost `cancel()` of the thread runs deeper ones before it returns
  /// (R6).
  ///
  /// O(length of the chain); no stack.
  public func cancel() {
    if case .sharedState(let state) = storage { state.cancel() }
  }

  /// A view of this future through which no cancellation passes.
  ///
  /// Cancelling the view, or a future derived from it, does not affect this future. While it is pending, the view
  /// counts as a consumer. So this future is not cancelled when its other consumers leave. Cost: two allocations while
  /// this future is pending, none if it is resolved.
  public var shielded: Future {
    guard case .sharedState(let source) = storage, !source.isResolved else { return self }
    let derived = FollowingStage<Outcome<Value, Failure>>(of: .passUnretained(source))
    derived.kind = .shield  // the kind can change, because the stage is in no list yet
    return source.attachStage(derived)
  }

  /// Returns a derived future that `token` cancels.
  ///
  /// Use it to stop many operations at one place, for example all requests of a screen when the screen closes.
  ///
  /// ```swift
  /// let closing = CancellationTokenSource()
  /// let picture = load(url).cancelled(by: closing.token)
  /// closing.cancel()  // `picture` fails, and nothing else waits for the request, so the request stops
  /// ```
  ///
  /// The cancellation has the effect of `cancel()` on the derived future. The registration with the token ends when the
  /// future is resolved. If the token is already cancelled, the cancellation happens at once. Then a lazy future starts
  /// only if `Failure` cannot represent cancellation.
  /// - Parameter token: The token that cancels.
  /// - Returns: The derived future. Cancelling it cancels this future, too, unless something else waits for that (R16).
  public func cancelled(by token: CancellationToken) -> Future {
    guard case .sharedState(let source) = storage, !source.isResolved, token != .none else { return self }
    if token.isCancelled, let cancelled = Cancelled<Failure>.failure {
      // The same effect as a derived future that is cancelled at once, but a lazy source does not start. If `Failure` cannot
      // represent cancellation, the derived future still needs the result, so it gets a stage below.
      source.cancelIfUnneeded()
      return .failed(cancelled)
    }
    let interruption = Interruption()
    let derived = InterruptibleStage<Outcome<Value, Failure>>(
      of: .passUnretained(source),
      interruption,
      outlivesSource: false  // breaks with its source, because a token, unlike a timeout, has no result of its own
    )
    let future = source.attachStage(derived)
    interruption.start {
      let link = TokenLink(derived)  // its release tells the stage that the token can no longer cancel
      let registration = token.register { link.stage.cancel() }
      return { registration.remove() }
    }
    return future
  }

  /// Cancels this future if it has no consumer.
  ///
  /// Stands for a consumer that was cancelled before it could attach (R16).
  @usableFromInline
  package func cancelIfUnneeded() {
    if case .sharedState(let state) = storage { state.cancelIfUnneeded() }
  }
}

/// The link from a token to a stage, owned by the token's handler: when the token releases the handler, it cannot cancel any more.
private final class TokenLink<Stored: OutcomeStorage>: Sendable {
  let stage: InterruptibleStage<Stored>

  init(_ stage: InterruptibleStage<Stored>) { self.stage = stage }

  deinit {
    let trampoline = Trampoline.current
    guard trampoline.hasDeferredCancellations else { return stage.tokenEnded() }
    trampoline.deferCancellation { [stage] in stage.tokenEnded() }  // after `stage.cancel()`, if that was deferred
  }
}
