public import Futures

extension ExecutionContext {
  /// Runs work on `actor`, one item at a time, in the order of submission.
  ///
  /// All contexts of one actor share that order, also contexts of separate calls. The work is synchronous, so no other job of
  /// the actor interrupts it. Work that arrives while other work runs has its turn after the calls of the actor that already
  /// wait. The compiler does not know that a closure on this context is on the actor. So the closure uses the state
  /// of the actor in `assumeIsolated`. Cost: one task for each burst of work, and a short hold of a process-wide lock. The context
  /// and queued work keep the actor alive.
  public static func actor(_ actor: some Actor) -> Self {
    Self { work in ActorWork.append(work, for: actor) }
  }

  /// Runs each item of work in a separate detached task.
  ///
  /// Tasks run concurrently, so only their submission is in order.
  public static func task(priority: TaskPriority? = nil) -> Self {
    Self { work in Task.detached(priority: priority) { work() } }
  }
}

extension Future {
  /// Runs `work` on `actor`, with the isolation of the actor, and resolves with its value or error.
  ///
  /// All work of one actor through this and `.actor` keeps the order of its submission, as on a serial queue. `Future { await … }`
  /// does not keep it. The closure gets the actor, so it uses its state without `await` and without `assumeIsolated`.
  ///
  /// ```swift
  /// func set(_ key: String, _ value: Int) { Future(on: store) { store in store.set(key, value) }.forward(to: completion) }
  /// ```
  ///
  /// Cancellation: if `Failure` can represent cancellation, a cancellation before the start keeps `work` from starting (R17).
  /// - Parameters:
  ///   - actor: Where `work` runs.
  ///   - fileID: The file that the error of dropped work names.
  ///   - line: The line that the error names.
  ///   - work: Gets the actor. Returns the value, or throws the future's failure.
  @_alwaysEmitIntoClient
  public init<Isolation: Actor>(
    on actor: Isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ work: @escaping @Sendable (isolated Isolation) throws(Failure) -> Value
  ) {
    self.init(on: .actor(actor), fileID: fileID, line: line) { () throws(Failure) -> Value in
      // A `Result`, because `assumeIsolated` loses the type of the error.
      let result: Result<Value, Failure> = actor.assumeIsolated { actor in
        do throws(Failure) {
          return .success(try work(actor))
        } catch {
          return .failure(error)
        }
      }
      return try result.get()
    }
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

  /// Queues work for an actor; the first work starts the task that runs the queue.
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

  /// Runs the work that is queued now, and removes the actor's entry if no more work has arrived meanwhile.
  /// - Returns: Whether more work has arrived.
  private static func runBatch(on actor: isolated any Actor) -> Bool {
    let key = ObjectIdentifier(actor)
    let batch = queues.withLock { queues in
      defer { queues[key] = [] }  // not `nil`: the entry shows `append` that the task runs
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
