public import Futures

extension Promise {
  /// Starts a task that resolves this promise with what `operation` returns or throws.
  ///
  /// The closure runs as that of `Task { }` does. Callbacks and transforms do not run inside the task (R8). If the promise is
  /// resolved by somebody else first, what the task gives is dropped. The task holds the promise until it has ended.
  ///
  /// Cancellation, future to task: cancelling the future cancels the task, and ends the future at once where `Failure` can say
  /// so. Task to future: cancelling the returned task is up to `operation`, whose error fails the future.
  /// - Parameter operation: The asynchronous work.
  /// - Returns: The task.
  @discardableResult
  public func resolve(
    @_inheritActorContext @_implicitSelfCapture
    with operation: sending @escaping @isolated(any) () async throws(Failure) -> Value
  ) -> Task<Void, Never> {
    let work = PromiseWork(promise: self, operation: operation)
    let task = if let actor = work.operation.isolation { work.start(on: actor) } else { work.start(isolation: nil) }
    onCancel { task.cancel() }
    setProducer(task: task)
    return task
  }
}

/// The work of a task that resolves a promise.
private struct PromiseWork<Value: Sendable, Failure: Error>: @unchecked Sendable {
  // @unchecked: `sending` made `operation` ours, and only the one task that is started calls it.
  let promise: Promise<Value, Failure>
  let operation: @isolated(any) () async throws(Failure) -> Value

  init(promise: Promise<Value, Failure>, operation: sending @escaping @isolated(any) () async throws(Failure) -> Value)
  {
    self.promise = promise
    self.operation = operation
  }

  /// Starts a task on `isolation`; that the closure captures it is what makes the task start there, in order of creation.
  func start(isolation: isolated (any Actor)?) -> Task<Void, Never> {
    Task {
      _ = isolation
      let result: Result<Value, Failure>
      do throws(Failure) {
        result = .success(try await operation())
      } catch {
        result = .failure(error)
      }
      promise.resolveFromTask(result)
    }
  }

  /// Starts a task on `actor`, from anywhere; `TaskWork.start(on:)` says why the cast is needed, and safe.
  func start(on actor: any Actor) -> Task<Void, Never> {
    typealias Plain = (PromiseWork, (any Actor)?) -> Task<Void, Never>
    let isolated = { (work: PromiseWork, isolation: isolated (any Actor)?) in work.start(isolation: isolation) }
    return unsafeBitCast(isolated, to: Plain.self)(self, actor)
  }
}
