public import Futures

extension Future {
  /// Suspends the current task until the future is resolved, or until the task is cancelled if `Failure` can represent
  /// cancellation.
  ///
  /// Cost: three allocations, and one of the runtime for the cancellation handler.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) package func awaitResult() async -> Result<Value, Failure> {
    if let result = await awaitResult(untilCancelled: Cancelled<Failure>.isExpressible) { return result }
    // `nil`: the wait was cancelled. It was cancellable, so `Failure` has a cancelled failure.
    return .failure(Cancelled<Failure>.failure.unsafelyUnwrapped)
  }

  /// Suspends the current task until the future is resolved, or until the task is cancelled.
  ///
  /// Tasks that resolve the future get at least the priority of the current task, also when its priority rises later. On Apple
  /// platforms the raise needs the 26 releases, and a compiler of Swift 6.4 or later.
  /// - Parameters:
  ///   - endsWhenCancelled: Whether the wait ends when the task is cancelled.
  ///   - leavesFuture: Whether a cancelled wait also cancels the future, if the future has no other consumer (R16).
  /// - Returns: The result; `nil` if cancellation has ended the wait.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) package func awaitResult(
    untilCancelled endsWhenCancelled: Bool,
    leaving leavesFuture: Bool = false
  ) async -> Result<Value, Failure>? {
    guard let state = state else { return peek() }  // a future without a state is resolved, and holds its result
    // On Apple systems, compilers before 6.4 link `withTaskPriorityEscalationHandler` strongly. So on an older system, without
    // that function, the program would not start (swift PR 88428).
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

  /// Does the work of `awaitResult(untilCancelled:leaving:)` for a future with a state, apart from the priority.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) static func awaitResult(
    of state: State<Value, Failure>,
    untilCancelled endsWhenCancelled: Bool,
    leaving leavesFuture: Bool
  ) async -> Result<Value, Failure>? {
    let waiter = TaskWaiter<Outcome<Value, Failure>>()
    // Shows the await in the graph of pending work.
    if FuturesDiagnostics.mayTrackPendingFutures { state.trackAwait(waiter, of: nameOfCurrentTask) }
    guard endsWhenCancelled else {
      return await withUnsafeContinuation { continuation in state.attach(waiter, resuming: continuation) }
    }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in state.attach(waiter, resuming: continuation) }
    } onCancel: {
      state.abandon(waiter, cancelling: leavesFuture)  // `attach` resumes the task at once if this came before
    }
  }
}

/// The name of the current task, which the graph of pending work shows.
@usableFromInline package var nameOfCurrentTask: String? {
  // Older Apple systems have no names of tasks.
  if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { Task.name } else { nil }
}
