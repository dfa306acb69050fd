// The priority of a task that awaits a future reaches the tasks that resolve the future (R23b).

extension FutureState {
  /// Whether a task resolves this state or a state that it waits for, or a task can start for it later.
  ///
  /// Only then does an await watch the priority of its task. O(number of these states).
  @usableFromInline
  package final var dependsOnTasks: Bool {
    !forEachTask(raisedTo: nil) { _ in false }  // `false` stops at the first task
  }

  /// Raises the priority of the tasks that resolve this state or the states that it waits for.
  ///
  /// Has no effect on older systems, where Swift cannot raise a priority. O(number of these states).
  @usableFromInline
  package final func raiseTasks(to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    _ = forEachTask(raisedTo: priority) { task in
      task?.escalatePriority(to: priority)  // a task that starts later gets the priority from its inputs
      return true
    }
  }

  /// Calls `body` with each task that resolves this state or a state that it waits for.
  /// - Parameters:
  ///   - priority: The priority that the tasks get, also tasks that start later; `nil` if it is not known yet.
  ///   - body: Gets a task, or `nil` for tasks that can start later. Returns whether to continue.
  /// - Returns: Whether `body` has never returned `false`.
  private final func forEachTask(raisedTo priority: TaskPriority?, _ body: (Task<Void, any Error>?) -> Bool) -> Bool {
    forEachProducer(raisedTo: priority) { _, producer in
      switch producer {
      case .task(let task): body(task)
      case .inputs(let inputs): !inputs.startsInputs || body(nil)
      default: true
      }
    }
  }

  /// Whether this state waits for the caller's future `source`, or for a task that is `maker`, the task that asked for that future.
  ///
  /// Then the caller is a part of this state's own work. O(number of the states that this one waits for).
  final func waits(for source: FutureState, madeBy maker: TaskIdentity?) -> Bool {
    !forEachProducer(raisedTo: nil) { state, producer in
      if case .task(let task) = producer, let maker { return state !== source && !maker.identifies(task) }
      return state !== source
    }
  }

  /// Calls `body` with this state and the states that it waits for, and their producers, until it returns `false`.
  ///
  /// A loop, so it takes no stack. A set of the visited states bounds it, because inputs can share a source, and futures can
  /// follow each other in a circle.
  /// - Parameters:
  ///   - priority: The priority for inputs that start later; `nil` if it is not known yet.
  ///   - body: Returns whether to continue.
  /// - Returns: Whether `body` has never returned `false`.
  private final func forEachProducer(
    raisedTo priority: TaskPriority?,
    _ body: (FutureState, Producer) -> Bool
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
      if !body(state, origin.producer) { return false }
    }
    return true
  }
}
