extension Future {
  /// The same future, after `effect` has run with its result.
  ///
  /// Unlike a callback of `whenResolved`, `effect` holds up what comes after it. Dropping the derived future does not stop
  /// it (R5). Cost: four allocations while this future is unresolved, one of them the closure.
  /// - Parameters:
  ///   - context: Where `effect` runs, and the derived future is resolved.
  ///   - effect: Gets the result.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  public func tap(
    on context: ExecutionContext,
    _ effect: @escaping @Sendable (Result<Value, Failure>) -> Void
  ) -> Future {
    derive(on: context, bypass: { .resolved($0) }) { result in
      effect(result)
      return .resolved(result)
    }
  }

  /// The same future, after `effect` has run with its result on the main actor; its closure needs no annotation.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - effect: Gets the result.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  public func tap(
    on context: MainContext,
    _ effect: @escaping @MainActor (Result<Value, Failure>) -> Void
  ) -> Future {
    tap(on: context.context) { result in MainActor.assumeIsolated { effect(result) } }
  }

  /// The same future, resolved on `context`: what is attached to it `.immediate`, and derived from it, runs there.
  ///
  /// Cost: one hop. A consumer that is attached when it is resolved runs where it is attached.
  /// - Parameter context: Where to resolve the derived future.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  public func receive(on context: ExecutionContext) -> Future {
    derive(on: context, bypass: { .resolved($0) }) { result in .resolved(result) }
  }

  /// The same future, resolved on the main actor.
  /// - Parameter context: `.main` or `.mainImmediate`.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  public func receive(on context: MainContext) -> Future {
    receive(on: context.context)
  }
}
