internal import Futures

/// The name of a task in the source, and its place.
struct OrderTask: Sendable {
  /// The name of `Task(name:)`; `nil` if it has none, or if none was seen.
  var name: String?

  /// The place that made the task.
  var site: CallSite?
}

extension OrderNames {
  /// The name of a task: its own, with its number if another task has the same name.
  func task(_ number: Int32, _ tasks: [Int32: OrderTask]) -> String {
    guard let name = tasks[number]?.name, !name.isEmpty else { return "task \(number)" }
    return tasks.count { $0.value.name == name } > 1 ? "\(name) (task \(number))" : name
  }

  /// The places that made the tasks of an order, at most ten: to find one takes a tenth of a second.
  func places(of tasks: [Int32: OrderTask], in trace: [OrderMove]) -> [String] {
    let numbers = Set(trace.filter { $0.source == Self.task }.map(\.ordinal)).sorted().prefix(10)
    return numbers.compactMap { number in
      tasks[number]?.site?.description.map { "\(task(number, tasks)): \($0)" }
    }
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  /// Keeps the name of the running task, and the place that makes a new task if `job` is the first job of that task.
  func nameTasks(of job: UnownedJob) {
    nameCurrentTask()
    guard let identifier = job.taskIdentifier else { return }
    let isNew = state.withLock { $0.tasks[identifier] == nil }
    guard isNew else { return }
    let site = CallSite.current()
    state.withLock { state in
      let number = state.number(identifier)
      if number > 0 { state.namedTasks[number, default: OrderTask()].site = site }
    }
  }

  /// Keeps the name of the task that runs: the runtime gives the name to that task only.
  func nameCurrentTask() {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), let name = Task.name else { return }
    // Not `running`: in the work of an actor, another task runs. The pointer of a task is also the pointer of its job.
    guard let job = withUnsafeCurrentTask(body: { unsafeBitCast($0, to: UnownedJob?.self) }) else { return }
    guard let identifier = job.taskIdentifier else { return }
    state.withLock { state in
      guard let number = state.tasks[identifier], number > 0 else { return }
      state.namedTasks[number, default: OrderTask()].name = name
    }
  }
}
