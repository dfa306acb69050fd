public import Futures

extension ExecutionContext {
  /// Runs on `actor`, one piece of work at a time, in the order in which it was handed over.
  ///
  /// All contexts of one actor share that order, also those made by separate calls. The work is synchronous, so nothing
  /// else of the actor runs in the middle of it. Cost: one task for each burst of work, and a process-wide lock for a moment.
  /// - Parameter actor: The actor. It is kept alive by work that has not run yet, and by the context.
  /// - Returns: The context.
  public static func actor(_ actor: some Actor) -> Self {
    Self { work in ActorWork.append(work, for: actor) }
  }

  /// Runs each piece of work in a detached task of its own.
  ///
  /// Tasks run concurrently, so the order is that of submission only.
  /// - Parameter priority: The priority of the tasks.
  /// - Returns: The context.
  public static func task(priority: TaskPriority? = nil) -> Self {
    Self { work in Task.detached(priority: priority) { work() } }
  }
}

/// What is to run on actors, in order for each of them.
///
/// A task for each piece of work would lose the order, since an actor runs tasks by priority. So the first piece starts a
/// task that runs all that is there, and what comes meanwhile. An actor has an entry exactly as long as its task runs, which
/// keeps the actor alive, so an identifier is never that of another actor.
private enum ActorWork {
  private typealias Work = @Sendable () -> Void

  private static let queues = Locked<[ObjectIdentifier: [Work]]>([:])

  static func append(_ work: @escaping @Sendable () -> Void, for actor: any Actor) {
    let isFirst = queues.withLock { queues in
      let isFirst = queues[ObjectIdentifier(actor)] == nil
      queues[ObjectIdentifier(actor), default: []].append(work)
      return isFirst
    }
    if isFirst { Task.detached { await run(on: actor) } }
  }

  private static func run(on actor: isolated any Actor) {
    while let batch = takeBatch(for: actor) {
      for work in batch { work() }
    }
  }

  /// What has come since the last batch; `nil`, and the end of the entry, if that is nothing.
  private static func takeBatch(for actor: any Actor) -> [Work]? {
    queues.withLock { queues in
      let key = ObjectIdentifier(actor)
      guard let batch = queues[key], !batch.isEmpty else {
        queues[key] = nil
        return nil
      }
      queues[key] = []
      return batch
    }
  }
}
