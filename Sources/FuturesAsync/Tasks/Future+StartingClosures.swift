public import Futures

// The task of `Future { … }`. Its closure has a pack of parameters, `Nothing`, which is always empty: it improves the compiler's
// errors for mistakes in a closure (`Future+Task.swift`). A wrapper without the pack would cost one more allocation, and so would
// a conversion of a closure that cannot throw. So `init` and `start` exist twice: for closures that throw, and for others. The
// closures of the tasks are declared `throws`, although they never throw: a `Task` would allocate a wrapper for other closures.

extension Future {
  /// Starts a task as `Task { }` does, for a closure that throws.
  @_alwaysEmitIntoClient
  init<each Nothing>(  // an empty pack, because a wrapper allocates: see the beginning of this file
    _ name: String?,
    _ priority: TaskPriority?,
    _ fileID: StaticString,
    _ line: UInt,
    throwing operation:
      sending @escaping @isolated(any) (repeat (Never, each Nothing) -> Void) async throws(Failure) -> Value
  ) {
    let state = State<Value, Failure>()
    self.init(state)
    // Not a data race: the closure was transferred here, and only the task calls it.
    nonisolated(unsafe) let operation = operation
    let actor = Self.isolation(of: operation)
    if let actor { state.noteActorOfTask(actor) }  // for a `wait()` that blocks a task of the main actor (R10a)
    // The task starts on the actor, so that tasks of one actor start in order. An initializer that is not async cannot `await`.
    let task =
      if let actor {
        startTaskWithoutAwait(on: actor) { Self.start(isolation: $0, name, priority, state, throwing: operation) }
      } else {
        Self.start(isolation: nil, name, priority, state, throwing: operation)
      }
    state.setProducer(task: task)
    if FuturesDiagnostics.mayTrackPendingFutures { state.trackTask(name, fileID, line) }
  }

  /// Starts a task as `Task { }` does, for a closure that cannot throw.
  @_alwaysEmitIntoClient
  init<each Nothing>(  // an empty pack, because a wrapper allocates: see the beginning of this file
    _ name: String?,
    _ priority: TaskPriority?,
    _ fileID: StaticString,
    _ line: UInt,
    nonthrowing operation: sending @escaping @isolated(any) (repeat (Never, each Nothing) -> Void) async -> Value
  ) {
    let state = State<Value, Failure>()
    self.init(state)
    nonisolated(unsafe) let operation = operation  // transferred here, and only the task calls it
    let actor = Self.isolation(of: operation)
    if let actor { state.noteActorOfTask(actor) }  // for a `wait()` that blocks a task of the main actor (R10a)
    // The task starts on the actor, so that tasks of one actor start in order. An initializer that is not async cannot `await`.
    let task =
      if let actor {
        startTaskWithoutAwait(on: actor) { Self.start(isolation: $0, name, priority, state, nonthrowing: operation) }
      } else {
        Self.start(isolation: nil, name, priority, state, nonthrowing: operation)
      }
    state.setProducer(task: task)
    if FuturesDiagnostics.mayTrackPendingFutures { state.trackTask(name, fileID, line) }
  }

  /// Returns the actor of a closure; a function, because Swift 6.3 cannot read `isolation` of a `sending` parameter of this type.
  @_alwaysEmitIntoClient
  static func isolation<each Nothing, Thrown: Error>(  // an empty pack, because `operation` has one: see above
    of operation: @isolated(any) (repeat (Never, each Nothing) -> Void) async throws(Thrown) -> Value
  ) -> (any Actor)? { operation.isolation }

  /// Starts a task on the actor `isolation`, which the task's closure captures: so tasks of one actor start in order.
  @_alwaysEmitIntoClient
  static func start<each Nothing>(  // an empty pack, because a wrapper allocates: see the beginning of this file
    isolation: isolated (any Actor)?,
    _ name: String?,
    _ priority: TaskPriority?,
    _ state: State<Value, Failure>,
    throwing operation: @escaping @isolated(any) (repeat (Never, each Nothing) -> Void) async throws(Failure) -> Value
  ) -> Task<Void, any Error> {
    nonisolated(unsafe) let operation = operation  // only the task calls it
    // A `Task` would allocate a wrapper for a closure that is not `throws`. On Apple systems, a name needs the 26 releases.
    if name != nil, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Task(name: name, priority: priority) { () async throws in
        _ = isolation  // captures the actor
        do throws(Failure) {
          state.resolveFromTask(.success(try await operation(repeat nothing((each Nothing).self))))
        } catch {
          state.resolveFromTask(.failure(error))
        }
      }
    }
    return Task(priority: priority) { () async throws in
      _ = isolation  // captures the actor
      do throws(Failure) {
        state.resolveFromTask(.success(try await operation(repeat nothing((each Nothing).self))))
      } catch {
        state.resolveFromTask(.failure(error))
      }
    }
  }

  /// Starts a task on `isolation`, as above, for a closure that cannot throw; its task's closure `throws` to save an allocation.
  @_alwaysEmitIntoClient
  static func start<each Nothing>(  // an empty pack, because a wrapper allocates: see the beginning of this file
    isolation: isolated (any Actor)?,
    _ name: String?,
    _ priority: TaskPriority?,
    _ state: State<Value, Failure>,
    nonthrowing operation: @escaping @isolated(any) (repeat (Never, each Nothing) -> Void) async -> Value
  ) -> Task<Void, any Error> {
    nonisolated(unsafe) let operation = operation  // only the task calls it
    if name != nil, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Task(name: name, priority: priority) { () async throws in
        _ = isolation  // captures the actor
        state.resolveFromTask(.success(await operation(repeat nothing((each Nothing).self))))
      }
    }
    return Task(priority: priority) { () async throws in
      _ = isolation  // captures the actor
      state.resolveFromTask(.success(await operation(repeat nothing((each Nothing).self))))
    }
  }
}

/// Returns the argument for a parameter of the pack `Nothing`.
///
/// The pack is always empty, so the library never calls it.
@_alwaysEmitIntoClient
func nothing<Parameter>(_: Parameter.Type) -> (Never, Parameter) -> Void { { _, _ in } }
