public import Futures

extension ExecutionContext {
  /// Runs work on `actor`, one item at a time, in the order of submission.
  ///
  /// All contexts of one actor share that order, also from separate calls. The work is synchronous, so no other job of
  /// the actor interrupts it. Work that arrives while other work runs enters the actor's queue again, behind the
  /// waiting calls. Cost: one task for each burst of work, and a short hold of a process-wide lock.
  /// - Parameter actor: The actor. Its queued work and the context keep it alive.
  /// - Returns: The context.
  public static func actor(_ actor: some Actor) -> Self {
    Self { work in ActorWork.append(work, for: actor) }
  }

  /// Runs each item of work in a separate detached task.
  ///
  /// Tasks run concurrently, so only their submission is in order.
  /// - Parameter priority: The priority of the tasks.
  /// - Returns: The context.
  public static func task(priority: TaskPriority? = nil) -> Self {
    Self { work in Task.detached(priority: priority) { work() } }
  }
}

/// The queued work of each actor, in order.
///
/// A task for each item would lose the order, because an actor runs tasks by priority. So the first item starts a task,
/// which runs all items until the queue is empty. An actor has an entry exactly while its task runs. The task keeps the
/// actor alive, so an identifier never belongs to another actor.
private enum ActorWork {
  private typealias Work = @Sendable () -> Void

  private static let queues = Locked<[ObjectIdentifier: [Work]]>([:])

  static func append(_ work: @escaping @Sendable () -> Void, for actor: any Actor) {
    let isFirst = queues.withLock { queues in
      let isFirst = queues[ObjectIdentifier(actor)] == nil
      queues[ObjectIdentifier(actor), default: []].append(work)
      return isFirst
    }
    guard isFirst else { return }
    Task.detached {
      // Each batch is a separate job: work that keeps adding work must not starve other jobs of the actor.
      while await runBatch(on: actor) { await Task.yield() }
    }
  }

  /// Runs the queued work.
  /// - Returns: Whether more work has arrived meanwhile. If not, the entry is removed.
  private static func runBatch(on actor: isolated any Actor) -> Bool {
    let key = ObjectIdentifier(actor)
    let batch = queues.withLock { queues in
      defer { queues[key] = [] }
      return queues[key] ?? []
    }
    for work in batch { work() }
    return queues.withLock { queues in
      let hasMore = queues[key]?.isEmpty == false
      if !hasMore { queues[key] = nil }
      return hasMore
    }
  }
}
