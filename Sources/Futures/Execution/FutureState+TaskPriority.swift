// The priority of a task that awaits a future reaches the tasks that resolve the future (R23b).

extension FutureState {
  /// Whether a task resolves this state or a state that it waits for, or a task can start for it later.
  ///
  /// O(number of these states).
  @usableFromInline
  package final var dependsOnTasks: Bool {
    !forEachTask(raisedTo: nil) { _ in false }
  }

  /// Raises the priority of the tasks that resolve this state or the states that it waits for.
  ///
  /// O(number of these states).
  @usableFromInline
  package final func raiseTasks(to priority: TaskPriority) {
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
      let origin = state.origin
      next = origin.derivation?.source
      switch origin.producer {
      case .task(let task): if !body(task) { return false }
      case .inputs(let inputs):
        others += inputs.inputs(raisedTo: priority)
        if inputs.startsInputs, !body(nil) { return false }
      default: break
      }
    }
    return true
  }
}
