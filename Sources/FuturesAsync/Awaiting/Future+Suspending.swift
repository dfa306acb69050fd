public import Futures

extension Future {
  /// Suspends the current task until the future is resolved, or until the task is cancelled if `Failure` can represent
  /// cancellation.
  ///
  /// Cost: three allocations, and one of the runtime for the cancellation handler.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) package func awaitResult() async -> Result<Value, Failure> {
    if let result = await awaitResult(untilCancelled: Cancelled<Failure>.isExpressible) { return result }
    // The wait was cancelled, so `Failure` can represent that.
    return .failure(Cancelled<Failure>.failure.unsafelyUnwrapped)
  }

  /// Suspends the current task until the future is resolved, or until the task is cancelled.
  ///
  /// Raises the tasks that resolve the future, if there are some, to the priority of the current task, and again when that
  /// rises. On Apple platforms this needs the 26 releases, and a compiler of Swift 6.4 or later.
  /// - Parameters:
  ///   - endsWhenCancelled: Whether the wait ends when the task is cancelled.
  ///   - leavesFuture: Whether a cancelled wait also cancels the future, if the future has no other consumer (R16).
  /// - Returns: The result; `nil` if cancellation has ended the wait.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) package func awaitResult(
    untilCancelled endsWhenCancelled: Bool,
    leaving leavesFuture: Bool = false
  ) async -> Result<Value, Failure>? {
    guard let state = state else { return peek() }  // it was made resolved, so the result is there
    // Compilers before 6.4 refer strongly to `withTaskPriorityEscalationHandler`. On a system without that function, such a
    // program does not start (swift PR 88428).
    #if !canImport(Darwin) || compiler(>=6.4)
      if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), state.dependsOnTasks {
        return await withTaskPriorityEscalationHandler {
          // Read after the handler is installed, so that this also finds an escalation that came before the handler.
          state.raiseTasks(to: Task.currentPriority)
          return await Self.awaitResult(of: state, untilCancelled: endsWhenCancelled, leaving: leavesFuture)
        } onPriorityEscalated: { _, priority in
          state.raiseTasks(to: priority)
        }
      }
    #endif
    return await Self.awaitResult(of: state, untilCancelled: endsWhenCancelled, leaving: leavesFuture)
  }

  /// Attaches a waiter to `state`, and suspends the current task until `state` has ended, or until a cancellation ends the wait.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) static func awaitResult(
    of state: State<Value, Failure>,
    untilCancelled endsWhenCancelled: Bool,
    leaving leavesFuture: Bool
  ) async -> Result<Value, Failure>? {
    let waiter = TaskWaiter<Outcome<Value, Failure>>()
    if FuturesDiagnostics.mayTrackPendingFutures { state.trackAwait(waiter, of: nameOfCurrentTask) }
    guard endsWhenCancelled else {
      return await withUnsafeContinuation { continuation in state.attach(waiter, resuming: continuation) }
    }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in state.attach(waiter, resuming: continuation) }
    } onCancel: {
      state.abandon(waiter, cancelling: leavesFuture)  // before `attach`: `attach` then resumes the task
    }
  }
}

/// The name of the current task.
@usableFromInline package var nameOfCurrentTask: String? {
  // Older Apple systems have no names of tasks.
  if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { Task.name } else { nil }
}
