internal import CFuturesTesting
internal import Dispatch
internal import Futures

// The parts of tasks, which are jobs of the runtime. Child tasks and default actors inherit the run as their executor. `Task { }`
// does not (SE-0417): a hook of the runtime brings its jobs, if the thread of a run enqueues them.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun: TaskExecutor {
  /// Called by the runtime for each part of a task that can run: at its start, after a suspension, and at a change of actors.
  func enqueue(_ job: consuming ExecutorJob) { submit(UnownedJob(job)) }

  /// Adds a job to the agenda, or makes it `followUp`, which runs next without a decision.
  func submit(_ job: UnownedJob, onMain isOnMain: Bool = false) {
    let isOwn = isOnOwnThread  // if not, another thread resumes a task of the run
    let task = taskNumber(of: job)
    let move = move(of: task, onMain: isOnMain, calledBy: isOwn ? running : nil)
    let lane: OrderSource? = isOnMain ? .main : nil
    // A running task that enqueues itself changes its executor. Without a run, a change to the main actor or away from it
    // enqueues a job, so that other work can come first. A return from another actor enqueues none, so here its job runs next.
    let changesExecutor = isOwn && task != nil && task == running
    let continuesAtOnce = changesExecutor && isOnMain == MainContext.isMainQueueCurrent  // not to or from `MainActor`
    if isOwn, awaitsFollowUp || continuesAtOnce {
      awaitsFollowUp = false  // it was `true` if this job ends a wait in `step` or `runAll`, or begins the body
      followUp = Item(number: 0, move: move, lane: lane, due: nil, action: .job(job, task: task))
    } else {
      let number = submit(outside: "has resumed a task of the test.") {
        $0.add(.job(job, task: task), named: move.source, move.ordinal, in: lane)
      }
      if number == nil { passOn(job, onMain: isOnMain) }  // the run is over
    }
  }

  /// Passes a job to the executors of the process, because the run is over.
  private func passOn(_ job: UnownedJob, onMain isOnMain: Bool) {
    // While the thread belongs to the run, a hook of the runtime could bring the job back to the run.
    Self.withoutRun {
      if isOnMain {
        DispatchQueue.main.async { job.runSynchronously(on: MainActor.sharedUnownedExecutor) }
      } else {
        globalConcurrentExecutor.enqueue(ExecutorJob(job))
      }
    }
  }

  /// Runs `body` while the calling thread belongs to no run, so that no hook brings the work of `body` to the run.
  static func withoutRun(_ body: () -> Void) {
    let run = cfuturestesting_run()
    cfuturestesting_set_run(nil)
    body()
    cfuturestesting_set_run(run)
  }

  /// Returns the move of a job; `caller` is the task that runs while the job is submitted.
  private func move(of task: Int32?, onMain isOnMain: Bool, calledBy caller: Int32?) -> OrderMove {
    // The job of a `Task.yield()` or of an actor names no task. So the order shows it as a hop of `caller`.
    guard let task else { return OrderMove(source: .hop, ordinal: caller ?? -1) }  // -1: no known caller
    return OrderMove(source: isOnMain ? .onMain : task == 0 ? .body : .task, ordinal: task)  // task 0 is the body
  }

  /// Puts a task to sleep in virtual time, for `Task.sleep`: the job runs after the delay.
  func sleep(_ job: UnownedJob, onMain isOnMain: Bool, _ delay: Duration) {
    let source = OrderSource.other("sleep \(delay)")
    let task = taskNumber(of: job)
    let number = submit(outside: "has put a task of the test to sleep.") {
      $0.add(.job(job, task: task), named: source, in: isOnMain ? .main : nil, after: delay)
    }
    if number == nil { passOn(job, onMain: isOnMain) }  // the run is over, so the sleep ends now
  }

  // MARK: - Names

  /// Returns the number of a job's task; `nil` if the job names no task. (The body is task 0, because its job comes first.)
  ///
  /// Adds a task other than the body to `namedTasks` at its first job, unless a thread outside of the run has made the task.
  /// `leftTasks` later finds out whether the task is released. It leaves child tasks out, because their parents own their memory.
  private func taskNumber(of job: UnownedJob) -> Int32? {
    guard let identifier = job.taskIdentifier else { return nil }
    let (number, isNew) = state.withLock { state in
      let count = Int32(state.tasks.count)
      let number = state.tasks[identifier] ?? count
      if number == count { state.tasks[identifier] = number }
      return (number, number == count)
    }
    guard isNew, number > 0, isOnOwnThread else { return number }  // a job that another thread submits fails the run
    let object = job.isOfChildTask ? nil : unsafeBitCast(job, to: AnyObject.self)  // the job is the task; kept weakly
    let task = OrderTask(site: isShown ? .current() : nil, object: object)
    state.withLock { $0.namedTasks[number] = task }
    return number
  }

  /// Keeps the running task's name; called at each submission if the order is shown, because only the task can read its name.
  func nameCurrentTask() {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), let name = Task.name else { return }
    // Not `running`: while an actor's job runs a task, `running` is `nil`. The pointer of a task is also that of its job.
    guard let job = withUnsafeCurrentTask(body: { unsafeBitCast($0, to: UnownedJob?.self) }) else { return }
    guard let identifier = job.taskIdentifier else { return }
    state.withLock { state in
      guard let number = state.tasks[identifier], number > 0 else { return }  // 0: it is shown as "body"
      state.namedTasks[number, default: OrderTask()].name = name
    }
  }

  /// The tasks that are not released: they are suspended, or they have ended and something holds them.
  var leftTasks: [Int32] {
    state.withLock { state in state.namedTasks.filter { $0.value.object != nil }.keys.sorted() }
  }

  // MARK: - Outside work that resumes a task

  /// The runs that perform moves now: another thread can resume a task of one of them.
  private static let active = Locked<[ObjectIdentifier: OrderRun]>([:])

  func setActive(_ isActive: Bool) { Self.active.withLock { $0[ObjectIdentifier(self)] = isActive ? self : nil } }

  /// Finds the run of a job's task, and submits the job to it, for a thread that executes no run; returns `false` if there is none.
  static func enqueueFromOutside(_ job: UnownedJob) -> Bool {
    guard let task = job.taskIdentifier else { return false }  // an actor's job and that of `Task.yield()` name no task
    let run = active.withLock(\.self).values.first { run in run.state.withLock { $0.tasks[task] != nil && !$0.isOver } }
    run?.submit(job)
    return run != nil
  }
}

/// The name of a task in the source, and its place.
struct OrderTask: @unchecked Sendable {
  // @unchecked: the weak reference is only compared with `nil`.

  /// The name of `Task(name:)`; `nil` if it has none, or if none was seen.
  var name: String?

  /// The place that made the task.
  var site: CallSite?

  /// The task itself; `nil` for a child task, whose memory its parent owns.
  weak var object: AnyObject?
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension UnownedJob {
  /// The flags of the job, of which the first byte is the kind, and the task's number.
  ///
  /// They follow the object's header and two words of the scheduler, in a layout that the runtime's interface fixes.
  private var fields: (flags: UInt32, identifier: UInt32) {
    let job = unsafeBitCast(self, to: UnsafeRawPointer.self)
    let offset = 4 * MemoryLayout<Int>.size
    return (job.load(fromByteOffset: offset, as: UInt32.self), job.load(fromByteOffset: offset + 4, as: UInt32.self))
  }

  private var kind: UInt8 { UInt8(truncatingIfNeeded: fields.flags) }

  /// Whether the job belongs to a child task: bit 24 of the runtime's flags.
  var isOfChildTask: Bool { fields.flags & 1 << 24 != 0 }

  /// Whether the job only resumes a task, as that of `Task.yield()` does: the runtime's kind `NullaryContinuation`.
  var resumesTask: Bool { kind == 195 }

  /// The runtime's number of the job's task (kind 0); `nil` for a job of an actor, or one that only resumes a task.
  var taskIdentifier: Int? { kind == 0 ? Int(fields.identifier) : nil }
}
