extension Future {
  /// The result, if an await can return it at once; else `nil`.
  ///
  /// It is `nil` while a future with progress listeners delivers its result. The await then queues behind the listeners,
  /// because the last report comes before the completion (R20).
  @inlinable
  package var settledResult: Result<Value, Failure>? {
    // The result first: the phase that is read after it is at least as new.
    guard let result = peek() else { return nil }
    // In a cancelled task the wait would end at once, without the result.
    if case .shared(let state) = storage, state.isNotifyingProgress, !Task.isCancelled { return nil }
    return result
  }

  /// Suspends the current task until the future is resolved, or until the task is cancelled if `Failure` can represent
  /// cancellation.
  ///
  /// Cost: three allocations, and one of the runtime for the cancellation handler.
  @inlinable
  nonisolated(nonsending) package func awaitResult() async -> Result<Value, Failure> {
    if let result = await awaitResult(untilCancelled: Cancelled<Failure>.isExpressible) { return result }
    return .failure(Cancelled<Failure>.failure.unsafelyUnwrapped)
  }

  /// Suspends the current task until the future is resolved, or until the task is cancelled.
  ///
  /// Raises the priority of the tasks that resolve the future, if there are some, now and on each later escalation. On Apple
  /// platforms that needs the 26 releases, and a compiler of Swift 6.4 or later.
  /// - Parameters:
  ///   - endsWhenCancelled: Whether the wait ends when the task is cancelled.
  ///   - leavesFuture: Whether a wait that ends so leaves the future. That cancels a future without other consumers (R16).
  /// - Returns: The result; `nil` if cancellation has ended the wait.
  @inlinable
  nonisolated(nonsending) package func awaitResult(
    untilCancelled endsWhenCancelled: Bool,
    leaving leavesFuture: Bool = false
  ) async -> Result<Value, Failure>? {
    guard case .shared(let state) = storage else { return peek() }
    // Compilers before 6.4 make a strong reference to the handler's function, which older systems do not have: a program with it
    // does not start there (swift PR 88428).
    #if !canImport(Darwin) || compiler(>=6.4)
      if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), state.dependsOnTasks {
        return await withTaskPriorityEscalationHandler {
          // After the handler is installed, so that no escalation falls between the two.
          state.raiseTasks(to: Task.currentPriority)
          return await Self.awaitResult(of: state, untilCancelled: endsWhenCancelled, leaving: leavesFuture)
        } onPriorityEscalated: { _, priority in
          state.raiseTasks(to: priority)
        }
      }
    #endif
    return await Self.awaitResult(of: state, untilCancelled: endsWhenCancelled, leaving: leavesFuture)
  }

  @inlinable
  nonisolated(nonsending) static func awaitResult(
    of state: State<Value, Failure>,
    untilCancelled endsWhenCancelled: Bool,
    leaving leavesFuture: Bool
  ) async -> Result<Value, Failure>? {
    let waiter = TaskWaiter<Outcome<Value, Failure>>()
    guard endsWhenCancelled else {
      return await withUnsafeContinuation { continuation in state.attach(waiter, resuming: continuation) }
    }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in state.attach(waiter, resuming: continuation) }
    } onCancel: {
      state.abandon(waiter, cancelling: leavesFuture)
    }
  }
}

extension FutureState {
  /// Whether a task resolves this state or a state that it waits for, or a task can start for it later.
  ///
  /// O(number of these states).
  @usableFromInline
  final var dependsOnTasks: Bool {
    !forEachTask(raisedTo: nil) { _ in false }
  }

  /// Raises the priority of the tasks that resolve this state or the states that it waits for.
  ///
  /// O(number of these states).
  @usableFromInline
  final func raiseTasks(to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    _ = forEachTask(raisedTo: priority) { task in
      task?.escalatePriority(to: priority)
      return true
    }
  }

  /// Calls `body` with each task that resolves this state or a state that it waits for.
  ///
  /// A loop, so it takes no stack. It visits each state once: inputs can share a source, and futures can follow each other
  /// in a circle.
  /// - Parameters:
  ///   - priority: The priority that the tasks get, also tasks that start later; `nil` if it is not known yet.
  ///   - body: Gets a task, or `nil` for tasks that can start later. Returns whether to continue.
  /// - Returns: Whether `body` has never returned `false`.
  private final func forEachTask(raisedTo priority: TaskPriority?, _ body: (Task<Void, any Error>?) -> Bool) -> Bool {
    var next: FutureState? = self
    var others: [FutureState] = []
    var visited: Set<ObjectIdentifier> = []
    var unrecorded = 64  // a short chain needs no set
    while let state = next ?? others.popLast() {
      next = nil
      if unrecorded > 0 {
        unrecorded -= 1
      } else if !visited.insert(ObjectIdentifier(state)).inserted {
        continue
      }
      switch state.origin.origin {
      case .state(let source, _): next = source
      case .task(let task): if !body(task) { return false }
      case .inputs(let inputs):
        others += inputs.inputs(raisedTo: priority)
        if inputs.startsInputs, !body(nil) { return false }
      case .unknown: break
      }
    }
    return true
  }
}
