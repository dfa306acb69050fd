public import Futures

extension ConcurrencyLimit {
  /// Suspends until fewer than `limit` pieces of work run, and then runs `operation` in the current task.
  ///
  /// It waits in one queue with the work of `run`. So futures and async code share the limit.
  ///
  /// ```swift
  /// let downloads = ConcurrencyLimit(4)
  /// let data = try await downloads.withSlot { try await load(url).value }
  /// ```
  ///
  /// Cancellation, task to queue: a task that is cancelled while it waits leaves the queue at once, and this throws
  /// `CancellationError`. Once `operation` runs, it decides.
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
    let turn = takeSlot(priority ?? Task.currentPriority, fileID, line)
    let slot: Slot
    do {
      slot = try await turn.value(onCancel: .cancel)
    } catch {
      turn.cancel()
      // A slot that was free when the task was cancelled.
      if case .success(let slot) = turn.peek() { release(slot) }
      throw error
    }
    // A `Result`: in Swift 6.3 a rethrow across a hop returns off the caller's actor.
    let result: Result<R, any Error>
    do {
      result = .success(try await operation())
    } catch {
      result = .failure(error)
    }
    release(slot)
    return try result.get()
  }

  /// Returns a future that resolves when a slot is free.
  ///
  /// Its success takes the slot, which `release` gives back.
  @_alwaysEmitIntoClient
  func takeSlot(_ priority: TaskPriority, _ fileID: StaticString, _ line: UInt) -> Future<
    Slot, CancellationError
  > {
    let promise = Promise<Slot, CancellationError>("ConcurrencyLimit.withSlot", fileID: fileID, line: line)
    let id = ObjectIdentifier(promise)
    promise.onCancel { [weak self] in self?.remove(id) }
    enqueue(id, priority) { [self] slot in if !promise.succeed(slot) { release(slot) } }
    return promise.future
  }
}
