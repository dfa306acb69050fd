/// The identity of a task, which no other task has, also after the end of the task.
///
/// It keeps neither the task nor its result.
struct TaskIdentity: Sendable {
  private let address: ObjectIdentifier

  /// The description of the job, with the number of the task: a later task can get the address, and has another number.
  ///
  /// Empty on older systems.
  private let job: String

  // Only for a task that has not ended, or that the caller keeps alive: the description reads its memory.
  private init(_ task: UnownedJob, _ address: ObjectIdentifier) {
    self.address = address
    if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *) { job = task.description } else { job = "" }
  }

  /// The identity of the task that runs the caller; `nil` outside tasks.
  static var current: TaskIdentity? {
    withUnsafeCurrentTask { task in
      // The handle, the job and the identity are all the address of the task, in all versions of the runtime.
      task.map { TaskIdentity(unsafeBitCast($0, to: UnownedJob.self), unsafeBitCast($0, to: ObjectIdentifier.self)) }
    }
  }

  /// Whether `task` is the identified task, and no later one at the same address.
  func identifies(_ task: Task<Void, any Error>) -> Bool {
    guard address == unsafeBitCast(task, to: ObjectIdentifier.self) else { return false }
    return job == TaskIdentity(unsafeBitCast(task, to: UnownedJob.self), address).job
  }
}
