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
  /// - Parameter operation: The asynchronous work.
  /// - Returns: The task.
  @_disfavoredOverload
  @discardableResult
  public func resolve(
    @_inheritActorContext @_implicitSelfCapture
    with operation: sending @escaping @isolated(any) () async throws(Failure) -> Value
  ) -> Task<Void, Never> {
    start(.throwing(operation))
  }

  /// Starts a task that cannot fail, as the overload for a closure that throws does.
  ///
  /// Cancellation, future to task: cancelling the future cancels the task. If `Failure` can represent cancellation, the
  /// future is resolved at once. Task to future: if the returned task is cancelled, `operation` decides.
  /// - Parameter operation: The asynchronous work.
  /// - Returns: The task.
  @discardableResult
  public func resolve(
    @_inheritActorContext @_implicitSelfCapture
    with operation: sending @escaping @isolated(any) () async -> Value
  ) -> Task<Void, Never> {
    start(.nonthrowing(operation))
  }

  private func start(_ operation: TaskOperation<Value, Failure>) -> Task<Void, Never> {
    let work = PromiseWork(promise: self, operation: operation)
    let task = if let actor = operation.isolation { work.start(on: actor) } else { work.start(isolation: nil) }
    onCancel { task.cancel() }
    setProducer(task: task)
    return task
  }
}

/// The work of a task that resolves a promise.
private struct PromiseWork<Value: Sendable, Failure: Error>: Sendable {
  let promise: Promise<Value, Failure>
  let operation: TaskOperation<Value, Failure>

  /// Starts a task on `isolation`: the capture makes the task start there, in order of creation.
  func start(isolation: isolated (any Actor)?) -> Task<Void, Never> {
    Task {
      _ = isolation
      promise.resolveFromTask(await operation.run())
    }
  }

  /// Starts a task on `actor`, from any isolation; `TaskWork.start(on:)` explains the cast.
  func start(on actor: any Actor) -> Task<Void, Never> {
    typealias Plain = (PromiseWork, (any Actor)?) -> Task<Void, Never>
    let isolated = { (work: PromiseWork, isolation: isolated (any Actor)?) in work.start(isolation: isolation) }
    return unsafeBitCast(isolated, to: Plain.self)(self, actor)
  }
}
