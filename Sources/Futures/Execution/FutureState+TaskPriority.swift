// The priority of a task that awaits a future reaches the tasks that resolve the future (R23b).

extension FutureState {
  /// Whether a task resolves this state or a state that it waits for, or a task can start for it later.
  ///
  /// Only then does an await watch the priority of its task. O(number of these states).
  @usableFromInline
  package final var dependsOnTasks: Bool {
    searchTasks(raisingLaterTasksTo: nil) { _ in true }
  }

  /// Raises the priority of the tasks that resolve this state or the states that it waits for.
  ///
  /// Has no effect on older systems, where Swift cannot raise a priority. O(number of these states).
  @usableFromInline
  package final func raiseTasks(to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    _ = searchTasks(raisingLaterTasksTo: priority) { task in
      task?.escalatePriority(to: priority)  // `nil` for a task that starts later: the search has noted its priority
      return false  // continues with the next task
    }
  }

  /// Calls `isFound` for each task that resolves this state or a state that it waits for, until `isFound` returns `true`.
  /// - Parameters:
  ///   - priority: The priority for tasks that start later, which the `Inputs` that start them keep; `nil` to change none.
  ///   - isFound: Gets a task, or `nil` for tasks that can start later.
  /// - Returns: Whether `isFound` has returned `true`.
  private final func searchTasks(
    raisingLaterTasksTo priority: TaskPriority?,
    until isFound: (Task<Void, any Error>?) -> Bool
  ) -> Bool {
    searchProducers(raisingLaterTasksTo: priority) { _, producer in
      switch producer {
      case .task(let task): isFound(task)
      case .inputs(let inputs): inputs.startsInputs && isFound(nil)  // tasks of its inputs can start later
      default: false
      }
    }
  }

  /// Whether this state of shared work waits for `source`, a caller's future, or for `maker`, the task that asked for `source`.
  ///
  /// If so, the work has asked `PendingPromises` for its own key, and waits for itself. `maker` is `nil` if no task
  /// made the request, or if the request came first and so started the work. O(number of the awaited states).
  final func waits(for source: FutureState, madeBy maker: TaskIdentity?) -> Bool {
    searchProducers(raisingLaterTasksTo: nil) { state, producer in
      if state === source { return true }
      if case .task(let task) = producer, let maker { return maker.identifies(task) }
      return false
    }
  }

  /// Calls `isFound` for this state and for each state that it waits for, until `isFound` returns `true`.
  ///
  /// A loop, so it takes no stack. A set of the visited states bounds it, because inputs can share a source, and futures can
  /// follow each other in a circle.
  /// - Parameters:
  ///   - priority: The priority for tasks that start later, which the `Inputs` that start them keep; `nil` to change none.
  ///   - isFound: Gets a state with its producer.
  /// - Returns: Whether `isFound` has returned `true`.
  private final func searchProducers(
    raisingLaterTasksTo priority: TaskPriority?,
    until isFound: (FutureState, Producer) -> Bool
  ) -> Bool {
    var next: FutureState? = self
    var others: [FutureState] = []  // the inputs of joins, while `next` is the source of a stage
    var visited: Set<ObjectIdentifier> = []
    var unrecorded = 64  // the first states are not recorded, so a short chain needs no set
    while let state = next ?? others.popLast() {
      next = nil
      if unrecorded > 0 {
        unrecorded -= 1
      } else if !visited.insert(ObjectIdentifier(state)).inserted {
        continue
      }
      let origin = state.origin
      next = origin.derivation?.source
      if case .inputs(let inputs) = origin.producer { others += inputs.pendingInputs(raisingLaterTasksTo: priority) }
      if isFound(state, origin.producer) { return true }
    }
    return false
  }
}
