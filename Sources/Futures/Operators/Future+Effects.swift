extension Future {
  /// Runs `effect` with the result, and then passes the result on.
  ///
  /// Unlike a callback of `whenResolved`, `effect` delays the consumers of the derived future. If the derived future is
  /// dropped, `effect` still runs (R5). Cost: four allocations while this future is pending, one of them the closure.
  /// - Parameters:
  ///   - context: Where `effect` runs and the derived future is resolved.
  ///   - effect: Gets the result.
  /// - Returns: The derived future. Cancelling it cancels this future, too, unless something else waits for that (R16).
  @_alwaysEmitIntoClient
  public func tap(
    on context: ExecutionContext,
    _ effect: @escaping @Sendable (Result<Value, Failure>) -> Void
  ) -> Future {
    // The bypass: a cancelled stage whose failure type cannot represent cancellation passes the result on without `effect`.
    derive(on: context, bypass: { .resolved($0) }) { result in
      effect(result)
      return .resolved(result)
    }
  }

  /// Runs `effect` with the result on the main actor, and then passes the result on.
  @_alwaysEmitIntoClient
  public func tap(
    on context: MainContext,
    _ effect: @escaping @MainActor (Result<Value, Failure>) -> Void
  ) -> Future {
    tap(on: context.context) { result in MainActor.assumeIsolated { effect(result) } }
  }

  /// Resolves the derived future with the same result, on `context`.
  ///
  /// The `.immediate` consumers and transforms of the derived future then run there. A consumer that is attached after
  /// the resolution runs where it is attached. Cost: one submission to `context`.
  /// - Parameter context: Where the derived future is resolved.
  /// - Returns: The derived future. Cancelling it cancels this future, too, unless something else waits for that (R16).
  @_alwaysEmitIntoClient
  public func receive(on context: ExecutionContext) -> Future {
    // `onlyWaits`: a hop is no work that progress counts. The bypass, as in `tap`, passes the result on without the hop.
    derive(on: context, onlyWaits: true, bypass: { .resolved($0) }) { result in .resolved(result) }
  }

  /// Resolves the derived future with the same result, on the main actor.
  @_alwaysEmitIntoClient
  public func receive(on context: MainContext) -> Future {
    receive(on: context.context)
  }
}
