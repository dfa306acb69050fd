public import Futures

extension Future {
  /// Starts a task and makes a future of what it returns, or throws.
  ///
  /// The closure runs as that of `Task { }` does: on the actor of the caller, with its task-locals and its priority. The
  /// future fails with the very error that the closure throws. Callbacks and transforms of the future do not run inside the
  /// task (R8): its task-locals and its cancellation are not seen there.
  ///
  /// Cancelling the future cancels the task, and ends the future at once where `Failure` can say so; what the task still
  /// returns or throws is dropped. Dropping the future cancels nothing. Whoever awaits the future raises the priority of the
  /// task to his own (on Apple systems since the 26 releases).
  /// - Parameters:
  ///   - name: The name of the task, for debugging.
  ///   - priority: The priority of the task; that of the caller if `nil`.
  ///   - operation: The asynchronous work.
  @inlinable
  public init(
    name: String? = nil,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async throws(Failure) -> Value
  ) {
    self.init(starting: .inheriting, name: name, priority: priority, operation: operation)
  }

  /// Starts a task that inherits nothing, and makes a future of what it returns, or throws.
  ///
  /// As `Task.detached`: no actor, no task-locals, no priority are taken from the caller. Cancelling the future cancels the
  /// task; dropping the future cancels nothing.
  /// - Parameters:
  ///   - name: The name of the task, for debugging.
  ///   - priority: The priority of the task.
  ///   - operation: The asynchronous work.
  /// - Returns: A future of what `operation` returns or throws.
  @inlinable
  public static func detached(
    name: String? = nil,
    priority: TaskPriority? = nil,
    operation: sending @escaping @isolated(any) () async throws(Failure) -> Value
  ) -> Future {
    Future(starting: .detached, name: name, priority: priority, operation: operation)
  }

  /// Starts a task on the calling thread, and makes a future of what it returns, or throws.
  ///
  /// As `Task.immediate`: the work runs at once, up to its first suspension, if the caller is on the actor that it needs. If
  /// it never suspends, the future is resolved when this returns. On Apple systems before the 26 releases, which have no
  /// immediate tasks, it starts as `Future { }` does. Cancelling the future cancels the
  /// task; dropping the future cancels nothing.
  /// - Parameters:
  ///   - name: The name of the task, for debugging.
  ///   - priority: The priority of the task; that of the caller if `nil`.
  ///   - operation: The asynchronous work.
  /// - Returns: A future of what `operation` returns or throws.
  @inlinable
  public static func immediate(
    name: String? = nil,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async throws(Failure) -> Value
  ) -> Future {
    Future(starting: .immediate, name: name, priority: priority, operation: operation)
  }
}

extension Future where Failure == any Error {
  /// Makes a future of the value, or the error, of a task.
  ///
  /// Cancelling the future cancels the task; dropping the future cancels nothing.
  /// - Parameter task: The task. Its priority rises to that of the caller.
  public init(_ task: Task<Value, any Error>) {
    self = .detached {
      // A result, because Swift 6.3 gets a rethrow across a hop wrong.
      try await withTaskCancellationHandler {
        await task.result
      } onCancel: {
        task.cancel()
      }.get()
    }
  }
}

extension Future where Failure == Never {
  /// Makes a future of the value of a task.
  ///
  /// Cancelling the future cancels the task; dropping the future cancels nothing.
  /// - Parameter task: The task. Its priority rises to that of the caller.
  public init(_ task: Task<Value, Never>) {
    self = .detached {
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }
}
