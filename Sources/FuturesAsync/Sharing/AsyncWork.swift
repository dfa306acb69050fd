public import Futures

// Shared work as an async closure. Its task is detached, because all callers share it (R8). The task has the actor of the
// closure, but neither the task-locals nor the priority of the caller that starts it first. A task that awaits a caller's future raises
// the task's priority (R23).

extension ConcurrencyLimit {
  /// Runs async work in a task when fewer than `limit` pieces of work run.
  ///
  /// The task keeps its place until `work` has returned, also after a cancellation.
  ///
  /// Cancellation, future to task: cancelling the future of waiting work removes the work, which never starts. If `Failure` cannot
  /// represent cancellation, the work starts, and its task is cancelled. Cancelling the future of running work cancels the task.
  /// - Parameters:
  ///   - name: The name of the task, for debugging.
  ///   - priority: Work of a higher priority starts first. It is also the priority of the task.
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  ///   - work: The work. It runs on the actor to which its closure is isolated.
  /// - Returns: A future of the value or the error of `work`.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that the overload for futures comes first where it fits
  public func run<Value: Sendable, Failure: Error>(
    name: String? = nil,
    priority: TaskPriority = .medium,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext _ work: @escaping @Sendable @isolated(any) () async throws(Failure) -> Value
  ) -> Future<Value, Failure> {
    // `priority` twice: for the place in the queue, and for the task.
    start("ConcurrencyLimit.run", name, priority, priority, fileID, line, work)
  }

  /// Does the work of `run` and of `SerialQueue`: runs async work in a task when a slot, the right to run, is free.
  ///
  /// `queuePriority` orders the waiting work, and `priority` is that of the task. `label` names the future, and `name` the task.
  @_alwaysEmitIntoClient
  func start<Value: Sendable, Failure: Error>(
    _ label: String,
    _ name: String?,
    _ queuePriority: TaskPriority,
    _ priority: TaskPriority?,
    _ fileID: StaticString,
    _ line: UInt,
    _ work: @escaping @Sendable @isolated(any) () async throws(Failure) -> Value
  ) -> Future<Value, Failure> {
    run(label, priority: queuePriority, fileID: fileID, line: line) { slot in
      // The trailing closure frees the slot when `work` has returned, not when the future resolves: a cancelled task can still run.
      // `releaseFromTask` starts the next work outside this task (R8).
      Future(starting: .detached, name: name, priority: priority, fileID, line, operation: .throwing(work)) {
        self.releaseFromTask(slot)
      }
    }
  }
}

/// Runs async work in the order of the calls, each piece after the one before has ended.
///
/// For old calls that must keep their order, and now call the methods of an actor: a task for each call would lose the order.
///
/// ```swift
/// let writes = SerialQueue()
///
/// func write(_ number: Int, completion: @escaping @Sendable () -> Void) {
///   _ = writes.future {
///     await store.set("last", number)
///     completion()  // in the closure, so that the handlers keep the order too
///   }
/// }
/// ```
///
/// The work keeps the order, but the callbacks of its futures do not: work can start before callbacks of earlier work have run.
///
/// An actor alone does not do this: at each `await` of a method, other calls can run. A piece of work must not wait for a later
/// one of the same queue, because the later one waits for it.
///
/// Work that waits or runs keeps this object alive.
public final class SerialQueue: Sendable {
  @usableFromInline let limit = ConcurrencyLimit(1)

  /// Makes a queue without work.
  public init() {}

  /// Runs `work` in a task, when all earlier work of this queue has ended.
  ///
  /// Cancellation, future to task: cancelling the future of waiting work removes the work. But if `Failure` cannot represent
  /// cancellation, the work still starts in its turn, and its task is cancelled. Cancelling the future of running work cancels
  /// its task; the next work waits until the closure has returned.
  ///
  /// `work` runs on the actor to which its closure is isolated. `name` and `priority` are those of the task, and do not change the
  /// order.
  @_alwaysEmitIntoClient
  public func future<Value: Sendable, Failure: Error>(
    name: String? = nil,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext _ work: @escaping @Sendable @isolated(any) () async throws(Failure) -> Value
  ) -> Future<Value, Failure> {
    // `.medium` for all work, so that a higher priority of a task does not change the order.
    limit.start("SerialQueue.future", name, .medium, priority, fileID, line, work)
  }

  /// The number of pieces of work that have not started.
  public var waitingCount: Int { limit.waitingCount }
}

extension PendingPromises {
  /// Returns a future of the shared async work for `key`: starts its task, or joins the running one.
  ///
  /// The task is detached, because all callers share it (R8). `work` runs on the actor to which its closure is isolated.
  ///
  /// Cancellation, future to task: when all callers have been cancelled, the task is cancelled.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that the overload for futures comes first where it fits
  public func future(
    sharing key: Key,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext _ work: @escaping @Sendable @isolated(any) () async throws(Failure) -> Value
  ) -> Future<Value, Failure> {
    future(sharing: key, fileID: fileID, line: line) { .detached(fileID: fileID, line: line, operation: work) }
  }
}

extension PendingPromises where Key == SingleKey {
  /// Returns a future of the shared async work: starts its task, or joins the running one.
  ///
  /// Cancellation, future to task: when all callers have been cancelled, the task is cancelled.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that the overload for futures comes first where it fits
  public func shared(
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext _ work: @escaping @Sendable @isolated(any) () async throws(Failure) -> Value
  ) -> Future<Value, Failure> {
    shared(fileID: fileID, line: line) { .detached(fileID: fileID, line: line, operation: work) }
  }
}

extension FutureCache {
  /// Returns a future of the value for `key`: the kept value, or that of the running task, or of a new task.
  ///
  /// The task is detached, because all callers share it (R8). `work` runs on the actor to which its closure is isolated.
  ///
  /// Cancellation, future to task: when all callers have been cancelled, the task is cancelled, and nothing is kept.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that the overload for futures comes first where it fits
  public func future(
    for key: Key,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext _ work: @escaping @Sendable @isolated(any) () async throws(Failure) -> Value
  ) -> Future<Value, Failure> {
    future(for: key, fileID: fileID, line: line) { .detached(fileID: fileID, line: line, operation: work) }
  }
}

extension FutureCache where Key == SingleKey {
  /// Returns a future of the value: the kept value, or that of the running task, or of a new task.
  ///
  /// Cancellation, future to task: when all callers have been cancelled, the task is cancelled, and nothing is kept.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that the overload for futures comes first where it fits
  public func future(
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext _ work: @escaping @Sendable @isolated(any) () async throws(Failure) -> Value
  ) -> Future<Value, Failure> {
    future(fileID: fileID, line: line) { .detached(fileID: fileID, line: line, operation: work) }
  }
}
