// The priority of a task that awaits a future reaches the tasks that resolve the future (R23b).

extension FutureState {
  /// Whether a task resolves this state or a state that it waits for, or a task can start for it later.
  ///
  /// Only then does an await watch the priority of its task. O(number of these states).
  @usableFromInline
  package final var dependsOnTasks: Bool {
    containsTask(raisedTo: nil) { _ in true }
  }

  /// Raises the priority of the tasks that resolve this state or the states that it waits for.
  ///
  /// Has no effect on older systems, where Swift cannot raise a priority. O(number of these states).
  @usableFromInline
  package final func raiseTasks(to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    _ = containsTask(raisedTo: priority) { task in
      task?.escalatePriority(to: priority)  // a task that starts later gets the priority from its inputs
      return false  // continues with the next task
    }
  }

  /// Searches the tasks that resolve this state or a state that it waits for.
  /// - Parameters:
  ///   - priority: The priority for tasks that start later; `nil` if the caller raises none.
  ///   - matches: Gets a task, or `nil` for tasks that can start later. The search ends when it returns `true`.
  /// - Returns: Whether `matches` has returned `true`.
  private final func containsTask(
    raisedTo priority: TaskPriority?,
    where matches: (Task<Void, any Error>?) -> Bool
  ) -> Bool {
    containsProducer(raisedTo: priority) { _, producer in
      switch producer {
      case .task(let task): matches(task)
      case .inputs(let inputs): inputs.startsInputs && matches(nil)
      default: false
      }
    }
  }

  /// Whether this state waits for the caller's future `source`, or for a task that is `maker`, the task that asked for that future.
  ///
  /// Then the caller is a part of this state's own work. O(number of the states that this one waits for).
  final func waits(for source: FutureState, madeBy maker: TaskIdentity?) -> Bool {
    containsProducer(raisedTo: nil) { state, producer in
      if state === source { return true }
      if case .task(let task) = producer, let maker { return maker.identifies(task) }
      return false
    }
  }

  /// Searches this state and the states that it waits for.
  ///
  /// A loop, so it takes no stack. A set of the visited states bounds it, because inputs can share a source, and futures can
  /// follow each other in a circle.
  /// - Parameters:
  ///   - priority: As in `containsTask`.
  ///   - matches: Gets a state with its producer. The search ends when it returns `true`.
  /// - Returns: Whether `matches` has returned `true`.
  private final func containsProducer(
    raisedTo priority: TaskPriority?,
    where matches: (FutureState, Producer) -> Bool
  ) -> Bool {
    var next: FutureState? = self
    var others: [FutureState] = []
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
      if case .inputs(let inputs) = origin.producer { others += inputs.inputs(raisedTo: priority) }
      if matches(state, origin.producer) { return true }
    }
    return false
  }
}
