public import Futures

/// The kind of task behind a future.
@usableFromInline
enum TaskStart: Sendable {
  /// As `Task.detached { }`.
  case detached
  /// As `Task.immediate { }`.
  case immediate
  /// As `Task { }`.
  case task
}

/// The closure of a future's task.
///
/// Two cases: a conversion of a closure that cannot throw to one that can would cost one more allocation.
@frozen
@usableFromInline
enum TaskOperation<Value: Sendable, Failure: Error>: @unchecked Sendable {
  // @unchecked: each closure was transferred here (`sending`), and only one task calls it.
  case throwing(@isolated(any) () async throws(Failure) -> Value)
  case nonthrowing(@isolated(any) () async -> Value)

  @inlinable var isolation: (any Actor)? {
    switch self {
    case .throwing(let operation): operation.isolation
    case .nonthrowing(let operation): operation.isolation
    }
  }

  /// Runs the closure.
  ///
  /// Does not rethrow: in Swift 6.3 a rethrow across an actor hop returns off the caller's actor.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func run() async -> Result<Value, Failure> {
    switch self {
    case .nonthrowing(let operation):
      return .success(await operation())
    case .throwing(let operation):
      do throws(Failure) {
        return .success(try await operation())
      } catch {
        return .failure(error)
      }
    }
  }
}

extension Future {
  /// Starts a task that resolves the new future with the value or the error of `operation`.
  ///
  /// A task that is not detached starts on the actor of `operation`. A caller passes `actor` if `operation` only wraps the user's
  /// closure, because the wrapper has no actor. `end` runs in the task, before the future resolves: it frees the slot of a limit.
  @_alwaysEmitIntoClient
  init(
    starting start: TaskStart,
    on actor: (any Actor)? = nil,
    name: String?,
    priority: TaskPriority?,
    _ fileID: StaticString,
    _ line: UInt,
    operation: TaskOperation<Value, Failure>,
    atEnd end: (@Sendable () -> Void)? = nil
  ) {
    let work = TaskWork<Value, Failure>(operation, atEnd: end)
    self.init(work.state)
    let actor = actor ?? operation.isolation
    // Lets a `wait()` on the main thread find that it blocks a task of the main actor (R10a).
    if let actor { work.state.noteActorOfTask(actor) }
    let task =
      if start == .detached {
        work.startDetached(name: name, priority: priority)
      } else if let actor {  // a call on `actor` needs `await`, and this initializer is not async
        startTaskWithoutAwait(on: actor) { work.start(isolation: $0, start, name: name, priority: priority) }
      } else {
        work.start(isolation: nil, start, name: name, priority: priority)
      }
    work.state.setProducer(task: task)
    if FuturesDiagnostics.mayTrackPendingFutures { work.state.trackTask(name, fileID, line) }
  }
}

/// The work of a future's task, and the state that the work resolves.
@frozen
@usableFromInline
struct TaskWork<Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline let state = State<Value, Failure>()
  @usableFromInline let operation: TaskOperation<Value, Failure>
  @usableFromInline let end: (@Sendable () -> Void)?  // runs before the state resolves: frees the slot of a limit

  @_alwaysEmitIntoClient
  init(_ operation: TaskOperation<Value, Failure>, atEnd end: (@Sendable () -> Void)?) {
    self.operation = operation
    self.end = end
  }

  /// Runs the work, and resolves the state with its result.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func run() async { resolve(await operation.run()) }

  /// Calls `end` first, so that a limit has its slot back when a consumer gets `result`, and then resolves the state.
  @_alwaysEmitIntoClient
  func resolve(_ result: Result<Value, Failure>) {
    end?()
    state.resolveFromTask(result)
  }

  /// Runs the work; the body of a detached task.
  ///
  /// Its closure can be isolated to the main actor, as by the default of its module. Then the state has to resolve there (R10a).
  @_alwaysEmitIntoClient
  nonisolated(nonsending) func runDetached() async {
    if operation.isolation === MainActor.shared { await runOnMainActor() } else { await run() }
  }

  /// Runs the work, and resolves the state on the main actor.
  ///
  /// The trap of R10a relies on this: if the main thread waits for this state, the work cannot resolve it.
  ///
  /// Does not call `run()`: Swift 6.3 can lose the hop to the actor before such a call, as `Future+Await.swift` explains.
  @_alwaysEmitIntoClient
  @MainActor
  func runOnMainActor() async {
    switch operation {
    case .nonthrowing(let operation): resolve(.success(await operation()))
    case .throwing(let operation):
      do throws(Failure) {
        resolve(.success(try await operation()))
      } catch {
        resolve(.failure(error))
      }
    }
  }
}

// MARK: - Starting

// Each kind of task has its own closure literal. A shared closure value would cost one more allocation. The closures
// never throw, but are declared `throws`, because a `Task` would allocate a wrapper for a closure that cannot throw.
extension TaskWork {
  /// Starts a task on `isolation`.
  ///
  /// The task's closure captures that actor, so tasks of one actor start in the order of their creation.
  @_alwaysEmitIntoClient
  func start(
    isolation: isolated (any Actor)?,
    _ start: TaskStart,
    name: String?,
    priority: TaskPriority?
  ) -> Task<Void, any Error> {
    // Immediate tasks and names need the 26 releases on Apple systems. Otherwise, and on older ones, a plain task starts.
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), start == .immediate {
      return Task.immediate(name: name, priority: priority) { () async throws in
        _ = isolation
        await run()
      }
    } else if name != nil, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Task(name: name, priority: priority) { () async throws in
        _ = isolation
        await run()
      }
    } else {
      return Task(priority: priority) { () async throws in
        _ = isolation
        await run()
      }
    }
  }

  /// Starts a detached task, with its name if there is one and the system has names of tasks.
  @_alwaysEmitIntoClient
  func startDetached(name: String?, priority: TaskPriority?) -> Task<Void, any Error> {
    if name != nil, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Task.detached(name: name, priority: priority) { () async throws in await runDetached() }
    } else {
      return Task.detached(priority: priority) { () async throws in await runDetached() }
    }
  }
}

/// Calls `start`, which starts a task on `actor`, from any isolation.
///
/// A call of a function with an isolated parameter needs `await`, which an initializer that is not async cannot use. A task that starts
/// elsewhere would run on the global executor first, and lose its place on the actor. So this casts `start` to a type
/// without isolation, as `Actor.assumeIsolated` does. The cast is safe, because `start` does not access the actor's
/// state: it only passes the reference to a task.
@_alwaysEmitIntoClient
func startTaskWithoutAwait<TaskFailure>(
  on actor: any Actor,
  _ start: (isolated (any Actor)?) -> Task<Void, TaskFailure>
) -> Task<Void, TaskFailure> {
  withoutActuallyEscaping(start) { start in
    unsafeBitCast(start, to: (((any Actor)?) -> Task<Void, TaskFailure>).self)(actor)
  }
}
