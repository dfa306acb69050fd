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
    let task = Task {
      let result: Result<Value, Failure>
      do throws(Failure) {
        result = .success(try await operation())
      } catch {
        result = .failure(error)
      }
      resolveFromTask(result)
    }
    setProducer(task: task)
    return task
  }
}
