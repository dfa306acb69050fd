internal import Futures

/// The name of a task in the source, and its place.
struct OrderTask: Sendable {
  /// The name of `Task(name:)`; `nil` if it has none, or if none was seen.
  var name: String?

  /// The place that made the task.
  var site: CallSite?

  /// The task itself; `nil` for a child task, whose memory its parent owns.
  var object: WeakTask?

  /// A reference that does not keep a task alive.
  final class WeakTask: @unchecked Sendable {
    // @unchecked: set once, and only compared with `nil`.
    private weak var object: AnyObject?

    init(_ job: UnownedJob) { object = unsafeBitCast(job, to: AnyObject.self) }

    var isAlive: Bool { object != nil }
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
    let task = OrderTask(site: .current(), object: job.isOfChildTask ? nil : OrderTask.WeakTask(job))
    state.withLock { state in
      let number = state.number(identifier)
      if number > 0 { state.namedTasks[number] = task }
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

  /// The tasks that are not released: they are suspended, or they have ended and something holds them.
  var leftTasks: [Int32] {
    state.withLock { state in state.namedTasks.filter { $0.value.object?.isAlive == true }.keys.sorted() }
  }
}
