internal import CFuturesTesting
internal import Dispatch
internal import Futures

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun: TaskExecutor {
  /// The job that runs directly after the current one, without a decision.
  enum FollowUp {
    case none
    /// The next job that this thread enqueues: that of a resumed step. The decision for the step was already made.
    case next
    case job(UnownedJob)
    /// Like `job`, for the main queue: work of a body or a task on the main actor.
    case main(MainWork)
  }

  /// Called by the runtime for each part of a task that can run: at its start, after a suspension, and at a change of actors.
  func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

  func enqueue(_ job: UnownedJob) {
    let isOwn = isOnOwnThread
    // A body on the main thread can run while this thread still returns from the call that resumed the body.
    let isHere = isOnThreadOfMoves
    if keepsNotes, isOwn { nameTasks(of: job) }
    if isHere, case .next = followUp { return followUp = .job(job) }
    let identifier = job.taskIdentifier
    let isAdded = state.withLock { state in
      if state.isOver { return false }
      if !isOwn { interfere("has resumed a task of the test.", &state) }
      let task = identifier.map { state.number($0) }
      // A running task that enqueues itself changes between executors. Most such changes enqueue no job, so none is a
      // move.
      if isHere, let task, task == running {
        followUp = .job(job)
      } else {
        state.agenda.submit(job, as: move(of: task, calledBy: isHere ? running : nil))
      }
      return true
    }
    guard isAdded else { return passOn(job) }
    signalArrival()
  }

  /// Passes a job to the global executor, because the run is over.
  func passOn(_ job: UnownedJob) {
    noteLateWork()
    // Where that executor uses the hook of the runtime, a thread with a run would get the job again.
    let run = cfuturestesting_run()
    cfuturestesting_set_run(nil)
    globalConcurrentExecutor.enqueue(ExecutorJob(job))
    cfuturestesting_set_run(run)
  }

  /// Adds a job to the agenda, as a move of its own.
  private func submit(_ job: UnownedJob) {
    state.withLock { state in
      let task = job.taskIdentifier.map { state.number($0) }
      state.agenda.submit(job, as: move(of: task, calledBy: nil))
    }
  }

  private func move(of task: Int32?, calledBy caller: Int32?) -> OrderMove {
    // A job without a task belongs to an actor: a task calls it, or the actor continues with its other calls.
    guard let task else { return OrderMove(source: OrderNames.hop, ordinal: caller ?? OrderNames.unknownTask) }
    return OrderMove(source: task == 0 ? OrderNames.body : OrderNames.task, ordinal: task)
  }

  /// Executes a job, and the jobs that follow without a decision.
  func run(_ job: UnownedJob) {
    var next: UnownedJob? = job
    while let job = next {
      running = job.taskIdentifier.map { identifier in state.withLock { $0.number(identifier) } }
      if running == nil, !job.resumesTask { callsActors = true }
      job.runSynchronously(on: asUnownedTaskExecutor())
      running = nil
      next = nil
      if case .job(let following) = followUp {
        turns += 1
        // A task can change between executors for ever.
        if turns < turnLimit { next = following } else { submit(following) }
        followUp = .none
      }
    }
    runMainFollowUp()
  }

  /// Resumes a task whose decision was made.
  func resume(_ continuation: UnsafeContinuation<Void, Never>) {
    followUp = .next
    continuation.resume()
    runFollowUp()
  }

  /// Executes the job that was enqueued since `followUp` was `next`, if there is one.
  func runFollowUp() {
    guard case .job(let job) = followUp else { return runMainFollowUp() }
    followUp = .none
    run(job)
  }

  private func runMainFollowUp() {
    let following = followUp
    followUp = .none
    if case .main(let work) = following { perform(work) }
  }

  /// Whether a run gets the jobs of its unstructured tasks: `Task { }` does not inherit an executor preference.
  static let controlsUnstructuredTasks = cfuturestesting_divert_jobs { run, job in
    Unmanaged<OrderRun>.fromOpaque(run).takeUnretainedValue().enqueue(unsafeBitCast(job, to: UnownedJob.self))
  } _: { job in
    let job = unsafeBitCast(job, to: UnownedJob.self)
    guard let task = job.taskIdentifier else { return false }
    let run = active.withLock(\.self).values.first { run in run.state.withLock { $0.tasks[task] != nil && !$0.isOver } }
    run?.enqueue(job)
    return run != nil
  }

  /// The runs that perform moves now: another thread can resume a task of one of them.
  private static let active = Locked<[ObjectIdentifier: OrderRun]>([:])

  func setActive(_ isActive: Bool) {
    Self.active.withLock { $0[ObjectIdentifier(self)] = isActive ? self : nil }
    cfuturestesting_add_runs(isActive ? 1 : -1)
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun.State {
  /// Returns the number of a task: the body has 0, as its job is the first.
  mutating func number(_ identifier: Int) -> Int32 {
    if let number = tasks[identifier] { return number }
    let number = Int32(tasks.count)
    tasks[identifier] = number
    return number
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension UnownedJob {
  /// Whether the job only resumes a task, as that of `Task.yield()` does.
  ///
  /// Its kind is the first byte after the header and the two words of the scheduler (`JobKind`, a part of the runtime's interface).
  var resumesTask: Bool {
    let job = unsafeBitCast(self, to: UnsafeRawPointer.self)
    return job.load(fromByteOffset: 4 * MemoryLayout<Int>.size, as: UInt8.self) == 195
  }

  /// The runtime's number of the job's task, which only the description shows; `nil` for a job of an actor.
  var taskIdentifier: Int? {
    var number: Int?
    for byte in description.utf8 where (48...57).contains(byte) { number = (number ?? 0) * 10 + Int(byte) - 48 }
    return number
  }
}
