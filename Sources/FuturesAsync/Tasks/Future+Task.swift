public import Futures

// Why the closures of the initializers have a pack of parameters, which is always empty: `Future { promise in … }` has the same shape.
// If its closure contains a mistake, the compiler repairs each candidate, and reports the cheapest repair. To drop the parameter of a
// closure costs 3, a missing member 4, and a handler of the wrong shape 6. With `() async -> Value` here, the compiler would report
// a surplus parameter, and not the mistake. With the pack, `promise` gets a function type, and each use of it costs more than 10.
// The function takes a `Never`, so a call does not compile: `Future { done in done() }` is a mistake, too.
// `(()) async -> Value` has the same effect on the repairs, but the compiler then refuses closures that are isolated to an actor.
extension Future {
  /// Starts a task, and resolves with the value or the error of `operation`.
  ///
  /// Use it where a caller cannot await: old code gets a future, or a completion handler by `forward`.
  ///
  /// ```swift
  /// let answer = Future { try await newLoad(on: .global()) }
  /// answer.whenSucceeded(on: .main) { number in label.text = "\(number)" }
  /// ```
  ///
  /// The closure runs as in `Task { }`: on the caller's actor, with the caller's task-locals and priority. The future
  /// fails with the same error that the closure throws. Callbacks and transforms of the future run outside the task
  /// (R8). They see neither its task-locals nor its cancellation.
  ///
  /// Cancellation, future to task: cancelling the future cancels the task. If `Failure` can represent cancellation, the
  /// future is resolved at once, and the task's own result is dropped. Dropping the future cancels nothing.
  ///
  /// A task that awaits the future raises this task's priority to its own (on Apple systems since the 26 releases).
  /// - Parameters:
  ///   - name: The name of the task, for debugging.
  ///   - priority: The priority of the task; `nil` for the caller's.
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  ///   - operation: The asynchronous work: a closure without parameters.
  @_alwaysEmitIntoClient
  public init<each Nothing>(  // empty, so `operation` takes nothing; improves compiler errors: see the file's beginning
    name: String? = nil,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) (repeat (Never, each Nothing) -> Void) async throws(Failure) -> Value
  ) {
    self.init(name, priority, fileID, line, throwing: operation)
  }

  /// Starts a detached task, and returns a future of its value or error.
  ///
  /// As with `Task.detached`, the task inherits no actor, no task-locals and no priority.
  ///
  /// Cancellation, future to task: as for `Future { }`. Cancelling cancels the task; dropping the future cancels nothing.
  @_disfavoredOverload  // otherwise calls are ambiguous with the overload for closures that cannot throw
  @_alwaysEmitIntoClient
  public static func detached(
    name: String? = nil,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    operation: sending @escaping @isolated(any) () async throws(Failure) -> Value
  ) -> Future {
    Future(starting: .detached, name: name, priority: priority, fileID, line, operation: .throwing(operation))
  }

  /// Starts a task on the calling thread, and returns a future of its value or error.
  ///
  /// As with `Task.immediate`, the work runs at once if the caller is on its actor, up to its first suspension. If it
  /// never suspends, the future is resolved when this returns. Apple systems before the 26 releases have no immediate
  /// tasks. There the task starts as that of `Future { }` does.
  ///
  /// Cancellation, future to task: as for `Future { }`. Cancelling cancels the task; dropping the future cancels nothing.
  @_disfavoredOverload  // otherwise calls are ambiguous with the overload for closures that cannot throw
  @_alwaysEmitIntoClient
  public static func immediate(
    name: String? = nil,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async throws(Failure) -> Value
  ) -> Future {
    Future(starting: .immediate, name: name, priority: priority, fileID, line, operation: .throwing(operation))
  }
}

// MARK: - Closures that cannot throw

// Overloads: the compiler refuses to send a closure that is isolated to an actor, if the closure must first be converted.
// A type that throws a generic error would need that conversion. The static functions for closures that throw are disfavoured, because
// calls are ambiguous otherwise. The initializer is not: that made the type check of chains twenty times as slow.
extension Future {
  /// Starts a task that cannot fail, as `init(name:priority:fileID:line:operation:)` does.
  ///
  /// Cancellation, future to task: as for the first initializer. Dropping the future cancels nothing.
  @_alwaysEmitIntoClient
  public init<each Nothing>(  // empty, so `operation` takes nothing; improves compiler errors: see the file's beginning
    name: String? = nil,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) (repeat (Never, each Nothing) -> Void) async -> Value
  ) {
    self.init(name, priority, fileID, line, nonthrowing: operation)
  }

  /// Starts a detached task that cannot fail, as `detached(name:priority:fileID:line:operation:)` does.
  ///
  /// Cancellation, future to task: cancelling the future cancels the task. Dropping the future cancels nothing.
  @_alwaysEmitIntoClient
  public static func detached(
    name: String? = nil,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    operation: sending @escaping @isolated(any) () async -> Value
  ) -> Future {
    Future(starting: .detached, name: name, priority: priority, fileID, line, operation: .nonthrowing(operation))
  }

  /// Starts an immediate task that cannot fail, as `immediate(name:priority:fileID:line:operation:)` does.
  ///
  /// Cancellation, future to task: cancelling the future cancels the task. Dropping the future cancels nothing.
  @_alwaysEmitIntoClient
  public static func immediate(
    name: String? = nil,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async -> Value
  ) -> Future {
    Future(starting: .immediate, name: name, priority: priority, fileID, line, operation: .nonthrowing(operation))
  }
}

// For calls that leave the failure type open: these are more specific than both other overloads, so such a call is not ambiguous.
extension Future where Failure == Never {
  /// Starts a task that cannot fail, as `init(name:priority:fileID:line:operation:)` does.
  ///
  /// Cancellation, future to task: cancelling the future cancels the task, whose work decides when it ends.
  @_alwaysEmitIntoClient
  public init<each Nothing>(  // empty, so `operation` takes nothing; improves compiler errors: see the file's beginning
    name: String? = nil,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) (repeat (Never, each Nothing) -> Void) async -> Value
  ) {
    self.init(name, priority, fileID, line, nonthrowing: operation)
  }

  /// Starts a detached task that cannot fail, as `detached(name:priority:fileID:line:operation:)` does.
  ///
  /// Cancellation, future to task: cancelling the future cancels the task. Dropping the future cancels nothing.
  @_alwaysEmitIntoClient
  public static func detached(
    name: String? = nil,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    operation: sending @escaping @isolated(any) () async -> Value
  ) -> Future {
    Future(starting: .detached, name: name, priority: priority, fileID, line, operation: .nonthrowing(operation))
  }

  /// Starts an immediate task that cannot fail, as `immediate(name:priority:fileID:line:operation:)` does.
  ///
  /// Cancellation, future to task: cancelling the future cancels the task. Dropping the future cancels nothing.
  @_alwaysEmitIntoClient
  public static func immediate(
    name: String? = nil,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async -> Value
  ) -> Future {
    Future(starting: .immediate, name: name, priority: priority, fileID, line, operation: .nonthrowing(operation))
  }
}

// MARK: - With a label

// The spelling of `Future("upload") { promise in … }`. The label has no default, so these are no candidates for `Future { … }`. For
// the reason of the empty pack, see the beginning of this file; for that of the overloads, see “Closures that cannot throw”.
extension Future {
  /// Starts a task with a name, and resolves with the value or the error of `operation`.
  ///
  /// As `init(name:priority:fileID:line:operation:)`, in the spelling of a future that wraps a callback:
  ///
  /// ```swift
  /// let loaded = Future("load") { try await fetch(url) }
  /// let wrapped = Future("legacy load") { promise in legacyLoad(promise.valueOrErrorHandler) }
  /// ```
  ///
  /// Cancellation, future to task: as for the first initializer. Dropping the future cancels nothing.
  @_alwaysEmitIntoClient
  public init<each Nothing>(  // empty, so `operation` takes nothing; improves compiler errors: see the file's beginning
    _ label: String,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) (repeat (Never, each Nothing) -> Void) async throws(Failure) -> Value
  ) {
    self.init(label, priority, fileID, line, throwing: operation)
  }

  /// Starts a named task that cannot fail, as the initializer for throwing closures does.
  ///
  /// Cancellation, future to task: as for the first initializer. Dropping the future cancels nothing.
  @_alwaysEmitIntoClient
  public init<each Nothing>(  // empty, so `operation` takes nothing; improves compiler errors: see the file's beginning
    _ label: String,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) (repeat (Never, each Nothing) -> Void) async -> Value
  ) {
    self.init(label, priority, fileID, line, nonthrowing: operation)
  }
}

extension Future where Failure == Never {
  /// Starts a named task that cannot fail, as the initializer for throwing closures does.
  ///
  /// Cancellation, future to task: cancelling the future cancels the task, whose work decides when it ends.
  @_alwaysEmitIntoClient
  public init<each Nothing>(  // empty, so `operation` takes nothing; improves compiler errors: see the file's beginning
    _ label: String,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) (repeat (Never, each Nothing) -> Void) async -> Value
  ) {
    self.init(label, priority, fileID, line, nonthrowing: operation)
  }
}

// MARK: - Futures of tasks

extension Future {
  /// Makes a future of the value or the error of a task.
  ///
  /// Cancellation, future to task: cancelling the future cancels the task before `cancel()` returns; dropping it does not.
  /// - Parameter task: The task. Its priority rises to the priority of a task that awaits the future.
  @_alwaysEmitIntoClient
  public init(_ task: Task<Value, Failure> = required()) {
    // The default keeps a trailing closure from matching `task`. No call uses the default, because `init()` refuses `Future()`.
    // A second task resolves the future. The producer is `task` itself, so cancellation and priority reach it at once, also
    // before the second task has started.
    let state = State<Value, Failure>()
    state.setProducer(task: task)
    Task.detached { state.resolveFromTask(await task.result) }
    self.init(state)
  }
}
