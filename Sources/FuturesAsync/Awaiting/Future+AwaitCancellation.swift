public import Futures

/// The effect of a task's cancellation on its await.
public enum AwaitCancellation: Sendable {
  /// Ends the await at once; the future and its other consumers are unaffected.
  case abandon
  /// Ends the await at once, and cancels the future if no other consumer is attached (R16).
  case cancel
  /// Continues the await.
  case ignore
}

extension Future {
  /// Returns the value, with a choice for the cancellation of the task.
  ///
  /// An await of a resolved future does not suspend. After the await, the caller is on its own actor, also when this
  /// throws.
  ///
  /// Cancellation, task to future: `choice` decides, for any `Failure`. A caller whose await has ended does not get the
  /// later result; the other consumers do. In an already cancelled task, `abandon` and `cancel` throw at once while the
  /// future is pending. `cancel` then also cancels a future that has had no consumer yet. A resolved future still gives
  /// its value.
  /// - Parameters:
  ///   - choice: The effect of the cancellation.
  ///   - isolation: The caller's actor.
  /// - Returns: The value.
  /// - Throws: The future's failure, or `CancellationError` if the cancellation ended the await.
  @_alwaysEmitIntoClient
  public func value(
    onCancel choice: AwaitCancellation,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Value {
    guard let result = await result(onCancel: choice, isolation: isolation) else { throw CancellationError() }
    return try result.get()
  }

  /// Does the work of both functions `value`; returns `nil` if the cancellation of the task ended the await.
  ///
  /// Does not throw, because in Swift 6.3 a rethrow across an actor hop returns off the caller's actor.
  @_alwaysEmitIntoClient
  func result(
    onCancel choice: AwaitCancellation,
    isolation: isolated (any Actor)?
  ) async -> Result<Value, Failure>? {
    if let result = settledResult { return result }
    if choice != .ignore, Task.isCancelled {
      if choice == .cancel { cancelIfUnneeded() }  // an await that has attached does this when it leaves (R16)
      return nil
    }
    return await awaitResult(untilCancelled: choice != .ignore, leaving: choice == .cancel)
  }
}

extension Future where Failure: CancellableFailure {
  /// Returns the value, with a choice for the cancellation of the task, and throws the failure type of the future.
  ///
  /// Cancellation, task to future: `choice` decides. All else is as for any other failure type.
  /// - Throws: The future's failure, or `Failure.cancelled` if the cancellation ended the await.
  @_alwaysEmitIntoClient
  public func value(
    onCancel choice: AwaitCancellation,
    isolation: isolated (any Actor)? = #isolation
  ) async throws(Failure) -> Value {
    guard let result = await result(onCancel: choice, isolation: isolation) else { throw .cancelled }
    return try result.get()
  }
}
