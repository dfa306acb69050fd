/// A user's callback that runs on an execution context.
@_fixed_layout
@usableFromInline
final class SubmittedObserver<Value: Sendable, Failure: Error>: Observer<Value, Failure>, @unchecked Sendable {
  // @unchecked: as the base class says.

  /// `nil` once the context has the callback: a context can own the work, which owns this observer, so both would form a cycle.
  @exclusivity(unchecked) @usableFromInline final var context: ExecutionContext?

  @inlinable
  init(on context: ExecutionContext, _ callback: __owned Callback<Value, Failure>) {
    self.context = context
    super.init(kind: context.consumerKind, consume callback) { consumer, source, _ in
      if let result = unsafeDowncast(source, to: State<Value, Failure>.self).result {
        unsafeDowncast(consumer, to: SubmittedObserver.self).submit(result, from: source)
      } else if consumer.claimSubmitted() {
        // The source is broken, so no context gets the callback. A concurrent `remove()` can claim the observer first.
        consumer.dropCaptures()
        source.reportWaitForBrokenPromise()
      }
    }
  }

  /// Hands the callback to its context; until the context starts the callback, a removal can still claim it.
  /// - Parameters:
  ///   - result: The result for the callback.
  ///   - source: The state with the result; `nil` if the future was resolved when the callback was attached.
  @_alwaysEmitIntoClient
  func submit(_ result: Result<Value, Failure>, from source: FutureState?) {
    guard let context else { return }  // never: an observer is handed over once
    self.context = nil
    guard !FuturesDiagnostics.mayTrackPendingFutures else { return submitTracked(result, from: source, on: context) }
    context.execute { [self] in
      guard claimSubmitted() else { return }
      takeValue(at: &callback)?(result)
    }
  }

  /// As `submit`, with an entry in the table of pending work until the callback has returned.
  @usableFromInline
  func submitTracked(_ result: Result<Value, Failure>, from source: FutureState?, on context: ExecutionContext) {
    let work = TrackedWork(self)
    PendingFutures.shared.add(.work, work, context: context.identity, source: source)
    context.execute { [self] in work.runUnlessRemoved { takeValue(at: &callback)?(result) } }
  }

  override func describe(into facts: inout NodeFacts, isListed: Bool) { facts.context = context?.identity }
}
