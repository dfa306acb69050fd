internal import Dispatch
internal import Foundation
internal import Futures

/// A serial executor with its own thread, which lets a test count the allocations of its thread.
final class ThreadExecutor: SerialExecutor {
  private let jobs = JobQueue()

  init() {
    let jobs = jobs
    Thread { jobs.run() }.start()
  }

  deinit { jobs.close() }

  func enqueue(_ job: consuming ExecutorJob) {
    jobs.append(UnownedJob(job), of: asUnownedSerialExecutor())
  }

  /// Whether the caller runs on the thread.
  var isCurrent: Bool { jobs.thread == ObjectIdentifier(Thread.current) }
}

/// The jobs of an executor and the loop of its thread.
private final class JobQueue: Sendable {
  private struct State {
    var waiting: [(UnownedJob, UnownedSerialExecutor)] = []
    var thread: ObjectIdentifier?
  }

  private let state = Locked(State())
  private let signal = DispatchSemaphore(value: 0)

  var thread: ObjectIdentifier? { state.withLock { $0.thread } }

  func append(_ job: UnownedJob, of executor: UnownedSerialExecutor) {
    state.withLock { $0.waiting.append((job, executor)) }
    signal.signal()
  }

  /// Ends the thread; the executor must enqueue no more jobs.
  func close() { signal.signal() }

  func run() {
    state.withLock { $0.thread = ObjectIdentifier(Thread.current) }
    while let (job, executor) = next() { job.runSynchronously(on: executor) }
  }

  private func next() -> (UnownedJob, UnownedSerialExecutor)? {
    signal.wait()
    return state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
  }
}

/// An actor with its own executor.
actor ThreadActor {
  nonisolated let executor = ThreadExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

/// An actor on the default executor.
actor PlainActor {}

/// The kinds of actors that a caller can be isolated to.
enum Home: CaseIterable, Sendable {
  case main, plain, thread

  func make() -> any Actor {
    switch self {
    case .main: MainActor.shared
    case .plain: PlainActor()
    case .thread: ThreadActor()
    }
  }
}

/// Returns whether the caller, which the compiler takes to be on `actor`, really runs there.
///
/// For the main actor and a `ThreadActor`, this compares threads. For every actor, it asks the runtime, which traps if
/// the caller is elsewhere.
func isReallyOn(_ actor: any Actor, isolation: (any Actor)? = #isolation) -> Bool {
  guard isolation === actor else { return false }
  if actor is MainActor, !isOnMainQueue { return false }
  if let actor = actor as? ThreadActor, !actor.executor.isCurrent { return false }
  actor.assertIsolated()
  actor.preconditionIsolated()
  return true
}

/// Whether the caller runs on the main queue.
///
/// On Linux, `Thread.isMainThread` can be false on the main queue after an async `main`.
var isOnMainQueue: Bool {
  _ = mainQueueIsMarked
  return DispatchQueue.getSpecific(key: mainQueueKey) == true
}

private let mainQueueKey = DispatchSpecificKey<Bool>()
private let mainQueueIsMarked: Void = DispatchQueue.main.setSpecific(key: mainQueueKey, value: true)

/// Runs `body` on `actor`.
func run<R: Sendable>(
  on actor: isolated any Actor,
  _ body: @Sendable (isolated any Actor) async -> R
) async -> R {
  await body(actor)
}

/// Runs `body` in a task on `actor`, and runs `event` outside any task when `body` has suspended.
///
/// Both bodies are jobs of the actor, so the second job cannot start before the first suspends. No timing is involved.
func run<R: Sendable>(
  on actor: isolated any Actor,
  suspending body: @escaping @Sendable (isolated any Actor) async -> R,
  then event: @escaping @Sendable (Task<R, Never>) -> Void
) async -> R {
  let task = Task {
    _ = actor
    return await body(actor)
  }
  Task {
    _ = actor
    DispatchQueue.global().async { event(task) }
  }
  return await task.value
}
