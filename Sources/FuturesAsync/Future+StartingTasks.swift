public import Futures

/// How the task behind a future begins.
@usableFromInline
enum TaskStart {
  /// As `Task { }`.
  case inheriting
  /// As `Task.detached { }`.
  case detached
  /// As `Task.immediate { }`.
  case immediate
}

extension Future {
  /// Starts a task that resolves the new future with what `operation` returns or throws.
  @inlinable
  init(
    starting start: TaskStart,
    name: String?,
    priority: TaskPriority?,
    operation: sending @escaping @isolated(any) () async throws(Failure) -> Value
  ) {
    let work = TaskWork<Value, Failure>(operation)
    self.init(work.state)
    let task =
      if start == .detached {
        work.startDetached(name: name, priority: priority)
      } else if let actor = work.isolation {
        work.start(on: actor, start, name: name, priority: priority)
      } else {
        work.start(isolation: nil, start, name: name, priority: priority)
      }
    work.state.setProducer(task: task)
  }
}

/// The work of a future's task, and the state that it resolves.
@frozen
@usableFromInline
struct TaskWork<Value: Sendable, Failure: Error>: @unchecked Sendable {
  // @unchecked: `sending` made `operation` ours, and only the one task that is started calls it.
  @usableFromInline typealias Operation = @isolated(any) () async throws(Failure) -> Value

  @usableFromInline let state = State<Value, Failure>(hasPromise: false)
  @usableFromInline let operation: Operation

  @inlinable
  init(_ operation: sending @escaping Operation) {
    self.operation = operation
  }

  @inlinable var isolation: (any Actor)? { operation.isolation }

  /// Runs the work, and resolves the state with its result.
  ///
  /// Nothing is rethrown across a hop, which Swift 6.3 gets wrong.
  @inlinable
  nonisolated(nonsending) func run() async {
    let result: Result<Value, Failure>
    do throws(Failure) {
      result = .success(try await operation())
    } catch {
      result = .failure(error)
    }
    state.resolveFromTask(result)
  }
}

// MARK: - Starting

// The closures stand here as literals, once for each kind of task, since each would cost an allocation more if it were handed
// on as a value. They are declared to throw, though they do not, because a `Task` wraps one that cannot.
extension TaskWork {
  /// Starts a task on `isolation`.
  ///
  /// That the closure captures it is what makes the task start there, in order of creation.
  @inlinable
  func start(
    isolation: isolated (any Actor)?,
    _ start: TaskStart,
    name: String?,
    priority: TaskPriority?
  ) -> Task<Void, any Error> {
    // Immediate tasks and names need the 26 releases on Apple systems.
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

  @inlinable
  func startDetached(name: String?, priority: TaskPriority?) -> Task<Void, any Error> {
    if name != nil, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Task.detached(name: name, priority: priority) { () async throws in await run() }
    } else {
      return Task.detached(priority: priority) { () async throws in await run() }
    }
  }

  /// Starts a task on `actor`, from anywhere.
  ///
  /// A function with an isolated parameter can only be called with a hop, and an initializer cannot hop; a task that were
  /// started elsewhere would run on the global executor first, and lose its place on the actor. So the type is cast, as
  /// `Actor.assumeIsolated` does. It is safe because `start` touches no state of the actor: it hands the reference to a task.
  @inlinable
  func start(
    on actor: any Actor,
    _ start: TaskStart,
    name: String?,
    priority: TaskPriority?
  ) -> Task<Void, any Error> {
    typealias Plain = (TaskWork, (any Actor)?, TaskStart, String?, TaskPriority?) -> Task<Void, any Error>
    let isolated = { (work: TaskWork, isolation: isolated (any Actor)?, start, name, priority) in
      work.start(isolation: isolation, start, name: name, priority: priority)
    }
    return unsafeBitCast(isolated, to: Plain.self)(self, actor, start, name, priority)
  }
}
