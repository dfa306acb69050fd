public import Futures

extension Promise {
  /// Starts a task that resolves this promise with the value or the error of `operation`.
  ///
  /// The closure runs as in `Task { }`. Callbacks and transforms run outside the task (R8). If other code resolves the
  /// promise first, the task's result is dropped. The task keeps the promise alive until the task ends.
  ///
  /// Cancellation, future to task: cancelling the future cancels the task. If `Failure` can represent cancellation, the
  /// future is resolved at once. Task to future: if the returned task is cancelled, `operation` decides, and an error
  /// that it throws fails the future.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // otherwise a call with a closure that cannot throw is ambiguous
  @discardableResult
  public func resolve(
    @_inheritActorContext @_implicitSelfCapture
    with operation: sending @escaping @isolated(any) () async throws(Failure) -> Value
  ) -> Task<Void, Never> {
    start(.throwing(operation))
  }

  /// Starts a task that resolves this promise with the value of `operation`, which cannot throw.
  ///
  /// Cancellation: as for an `operation` that throws. If the returned task is cancelled, `operation` decides.
  @_alwaysEmitIntoClient
  @discardableResult
  public func resolve(
    @_inheritActorContext @_implicitSelfCapture
    with operation: sending @escaping @isolated(any) () async -> Value
  ) -> Task<Void, Never> {
    start(.nonthrowing(operation))
  }

  /// Starts the task of `resolve`, so that cancelling the future cancels it, and awaiting the future raises its priority.
  @_alwaysEmitIntoClient
  func start(_ operation: TaskOperation<Value, Failure>) -> Task<Void, Never> {
    let task =
      if let actor = operation.isolation {  // a call on `actor` needs an `await`, which a synchronous function lacks
        startTaskWithoutAwait(on: actor) { isolation in start(operation, isolation: isolation) }
      } else {
        start(operation, isolation: nil)
      }
    onCancel { task.cancel() }
    // For the priority. A promise that follows a future or has a task keeps that producer; then only `onCancel` cancels this task.
    setProducer(task: task)
    return task
  }

  /// Starts a task on the actor `isolation`, which the task's closure captures: so tasks of one actor start in order.
  @_alwaysEmitIntoClient
  func start(
    _ operation: TaskOperation<Value, Failure>,
    isolation: isolated (any Actor)?
  ) -> Task<Void, Never> {
    Task {
      _ = isolation
      resolveFromTask(await operation.run())
    }
  }
}
