internal import CFuturesTesting
internal import Futures

#if os(Linux) && compiler(>=6.3)
  @_spi(ExperimentalScheduling) internal import _Concurrency
#endif

// The parts of tasks, which are jobs of the runtime. Child tasks and default actors inherit the run as their executor. `Task { }`
// does not (SE-0417): a hook of the runtime brings its jobs, if the thread of a run enqueues them.
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
    if isShown, isOwn { nameTasks(of: job) }
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
  private func passOn(_ job: UnownedJob) {
    noteLateWork()
    // Where that executor uses the hook of the runtime, a thread with a run would get the job again.
    let run = cfuturestesting_run()
    cfuturestesting_set_run(nil)
    globalConcurrentExecutor.enqueue(ExecutorJob(job))
    cfuturestesting_set_run(run)
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
        if turns < turnLimit {
          next = following
        } else {
          state.withLock { state in
            let task = following.taskIdentifier.map { state.number($0) }
            state.agenda.submit(following, as: move(of: task, calledBy: nil))
          }
        }
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

  /// Puts a task to sleep in virtual time.
  func sleep(_ job: UnownedJob, _ delay: Duration) {
    let delay = max(delay, .zero)
    let source = names.source("sleep \(delay.inSeconds)")
    let number = submit("has put a task of the test to sleep.") {
      $0.submit(.job(job), to: nil, after: delay, named: source)
    }
    if number == nil { passOn(job) }
  }

  // MARK: - Outside work that resumes a task

  /// The runs that perform moves now: another thread can resume a task of one of them.
  private static let active = Locked<[ObjectIdentifier: OrderRun]>([:])

  func setActive(_ isActive: Bool) {
    Self.active.withLock { $0[ObjectIdentifier(self)] = isActive ? self : nil }
    cfuturestesting_add_runs(isActive ? 1 : -1)
  }

  /// Passes a job that a thread without a run enqueues to the run of the job's task, if there is one.
  static func enqueueFromOutside(_ job: UnownedJob) -> Bool {
    guard let task = job.taskIdentifier else { return false }
    let run = active.withLock(\.self).values.first { run in run.state.withLock { $0.tasks[task] != nil && !$0.isOver } }
    run?.enqueue(job)
    return run != nil
  }
}

#if os(Linux) && compiler(>=6.3)
  // `Task.sleep`: the runtime passes the sleep to the executor of the sleeping task. On Apple platforms the protocol comes with the
  // 26.4 releases, without an interface to compile against.
  extension OrderRun: SchedulingExecutor {
    func enqueue<C: Clock>(_ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C) {
      // `ContinuousClock` stands still during a move. For another clock, part of the delay has passed already.
      let left = clock.now.duration(to: instant) as? Duration ?? .zero
      sleep(UnownedJob(job), clock is ContinuousClock ? left : left.roundedUpToMilliseconds)
    }

    func enqueue<C: Clock>(_ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C) {
      sleep(UnownedJob(job), delay as? Duration ?? .zero)
    }
  }
#endif

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
  /// The flags of the job, of which the first byte is the kind, and the task's number.
  ///
  /// They come after the header and the two words of the scheduler: a part of the runtime's interface.
  private var header: (flags: UInt32, identifier: UInt32) {
    let job = unsafeBitCast(self, to: UnsafeRawPointer.self)
    let offset = 4 * MemoryLayout<Int>.size
    return (job.load(fromByteOffset: offset, as: UInt32.self), job.load(fromByteOffset: offset + 4, as: UInt32.self))
  }

  private var kind: UInt8 { UInt8(truncatingIfNeeded: header.flags) }

  /// Whether the job belongs to a child task.
  var isOfChildTask: Bool { header.flags & 1 << 24 != 0 }

  /// Whether the job only resumes a task, as that of `Task.yield()` does.
  var resumesTask: Bool { kind == 195 }

  /// The runtime's number of the job's task; `nil` for a job of an actor.
  var taskIdentifier: Int? { kind == 0 ? Int(header.identifier) : nil }
}
