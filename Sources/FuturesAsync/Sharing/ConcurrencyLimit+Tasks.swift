public import Futures

extension ConcurrencyLimit {
  /// Suspends until fewer than `limit` pieces of work run, and then runs `operation` in the current task.
  ///
  /// The call waits in one queue with the work of `run`. So futures and async code share the limit.
  ///
  /// ```swift
  /// let downloads = ConcurrencyLimit(4)
  /// let data = try await downloads.withSlot { try await load(url).value }
  /// ```
  ///
  /// Cancellation, task to queue: a task that is cancelled while it waits leaves the queue at once, and this throws
  /// `CancellationError`. A running `operation` decides when it ends.
  /// - Parameters:
  ///   - priority: Work of a higher priority starts first; `nil` for the priority of the task.
  ///   - isolation: The caller's actor, on which `operation` runs.
  ///   - fileID: The file that the graph of pending work names.
  ///   - line: The line that the graph names.
  ///   - operation: The work. It must not wait for another slot of this object, because all slots could wait for each other.
  /// - Returns: The value of `operation`.
  /// - Throws: The error of `operation`; `CancellationError`.
  @_alwaysEmitIntoClient
  public func withSlot<R>(
    priority: TaskPriority? = nil,
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ operation: () async throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    let future = takeSlot(priority ?? Task.currentPriority, fileID, line)
    let hold: Hold
    do {
      hold = try await future.value(onCancel: .cancel)
    } catch {
      // The await can end before the task's cancellation has reached or resolved `future`. So this call cancels `future` itself,
      // and gives back a slot that `future` has got, or still gets from another thread.
      future.cancel()
      future.whenSucceeded(on: .immediate) { [self] hold in release(hold) }
      throw error
    }
    // A `Result`: in Swift 6.3 a rethrow across an actor hop returns off the caller's actor.
    let result: Result<R, any Error>
    do {
      result = .success(try await operation())
    } catch {
      result = .failure(error)
    }
    release(hold)
    return try result.get()
  }

  /// A slot of this object that a task has: the right to run one piece of work.
  @frozen
  @usableFromInline
  struct Hold: Sendable {
    @usableFromInline let slot: Slot
    /// Its future stands for the task's work in the graph until the slot goes back; `nil` if pending futures are not tracked.
    @usableFromInline let end: Promise<Void, Never>?

    @inlinable
    init(slot: Slot, end: Promise<Void, Never>?) { (self.slot, self.end) = (slot, end) }
  }

  /// Enqueues a call of `withSlot`: returns a future of its slot, which the caller gives back by `release`.
  ///
  /// Cancelling the future removes the call from the queue.
  @_alwaysEmitIntoClient
  func takeSlot(_ priority: TaskPriority, _ fileID: StaticString, _ line: UInt) -> Future<
    Hold, CancellationError
  > {
    let promise = Promise<Hold, CancellationError>("ConcurrencyLimit.withSlot", fileID: fileID, line: line)
    // The handler keeps `promise`, so no new object gets its identifier. `self` is weak, because the work below keeps it alive.
    promise.onCancel { [weak self] in self?.remove(ObjectIdentifier(promise)) }
    enqueue(ObjectIdentifier(promise), priority) { [self] slot in
      // Runs when this call gets a slot. Until the slot goes back, `end` is pending: in the graph, waiting calls wait for it.
      let isTracked = FuturesDiagnostics.mayTrackPendingFutures
      let end = isTracked ? Promise<Void, Never>("a slot of ConcurrencyLimit", fileID: fileID, line: line) : nil
      if let end { self.hold(slot, for: end) }
      let hold = Hold(slot: slot, end: end)
      if !promise.succeed(hold) { release(hold) }  // `false`: the wait was cancelled just now
    }
    if !promise.isResolved { showWaiting(promise) }  // so that the graph and raises of priority reach the running work
    return promise.future
  }

  /// Gives a slot back when its work has ended, and removes that work from the graph.
  @_alwaysEmitIntoClient
  func release(_ hold: Hold) {
    hold.end?.succeed()
    release(hold.slot)
  }
}
