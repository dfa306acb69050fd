public import Futures

// The operators that start work, for async closures. Each call of the closure is a task of its own, behind the operator for closures
// that return futures. So all rules of that operator hold, and a closure without `await` that returns a future selects that one.

extension Future {
  /// Runs the items one after another in tasks, and fails with the first failure.
  ///
  /// As `serial(_:_:)` for a closure that returns a future. Each item has a task of its own, which runs as `Task { }` does: on the
  /// actor of the closure, with the priority of the caller. Callbacks and transforms run outside these tasks (R8). Only a task
  /// that starts before this returns has the task-locals of the caller.
  ///
  /// ```swift
  /// let saved = Future.serial(documents) { document in try await store.save(document) }
  /// ```
  ///
  /// Cancellation, future to task: cancelling the future cancels the running task, and no other item starts. Exception: if
  /// `Failure` cannot represent cancellation, the other items start in tasks that are cancelled.
  /// - Parameters:
  ///   - items: The items.
  ///   - priority: The priority of the tasks; `nil` for the caller's. A task that awaits the future raises it.
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  ///   - operation: The asynchronous work on one item.
  /// - Returns: A future of the values, in the order of the items.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that the overload for futures comes first where it fits
  public static func serial<Item: Sendable>(
    _ items: some Collection<Item>,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    _ operation: @escaping @Sendable @isolated(any) (Item) async throws(Failure) -> Value
  ) -> Future<[Value], Failure> {
    serial(
      items,
      starting(on: operation.isolation, priority, fileID, line, operation)
    )
  }

  /// Runs the items in tasks, at most `limit` at any time, and fails with the first failure.
  ///
  /// As `concurrent(_:limit:_:)` for a closure that returns a future, with the same parameters.
  /// The tasks run as those of `serial`.
  ///
  /// ```swift
  /// let thumbnails = Future.concurrent(images, limit: 4) { image in await renderer.thumbnail(of: image) }
  /// ```
  ///
  /// Cancellation, future to task: cancelling the future cancels the running tasks, and no other item starts. Exception: if
  /// `Failure` cannot represent cancellation, as in the example, the other items start in tasks that are cancelled.
  /// `concurrentSettled` has no such exception.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that the overload for futures comes first where it fits
  public static func concurrent<Item: Sendable>(
    _ items: some Collection<Item>,
    limit: Int,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    _ operation: @escaping @Sendable @isolated(any) (Item) async throws(Failure) -> Value
  ) -> Future<[Value], Failure> {
    concurrent(
      items,
      limit: limit,
      starting(on: operation.isolation, priority, fileID, line, operation)
    )
  }
}

extension Future where Failure == any Error {
  /// Runs the items in tasks, at most `limit` at any time, and collects each result, whatever fails.
  ///
  /// As `concurrentSettled(_:limit:_:)` for a closure that returns a future, with the same parameters.
  /// The tasks run as those of `serial`.
  ///
  /// ```swift
  /// let results = await Future.concurrentSettled(urls, limit: 6) { url in try await fetch(url) }.value
  /// ```
  ///
  /// Cancellation, future to task: it cancels the tasks, starts no others, and fails unfinished items with `CancellationError`.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that the overload for futures comes first where it fits
  public static func concurrentSettled<Item: Sendable>(
    _ items: some Collection<Item>,
    limit: Int,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    _ operation: @escaping @Sendable @isolated(any) (Item) async throws -> Value
  ) -> Future<[Result<Value, any Error>], Never> {
    concurrentSettled(
      items,
      limit: limit,
      starting(on: operation.isolation, priority, fileID, line, operation)
    )
  }
}

extension Future where Failure: CancellableFailure {
  /// Runs the items in tasks, at most `limit` at any time, and collects each result, whatever fails.
  ///
  /// As the overload for `any Error`, which shows an example. Write the type of the error: `{ item throws(APIError) in … }`.
  ///
  /// Cancellation, future to task: it cancels the tasks, starts no others, and fails unfinished items with `Failure.cancelled`.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that the overload for futures comes first where it fits
  public static func concurrentSettled<Item: Sendable>(
    _ items: some Collection<Item>,
    limit: Int,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    _ operation: @escaping @Sendable @isolated(any) (Item) async throws(Failure) -> Value
  ) -> Future<[Result<Value, Failure>], Never> {
    concurrentSettled(
      items,
      limit: limit,
      starting(on: operation.isolation, priority, fileID, line, operation)
    )
  }
}

extension Future {
  /// Calls `operation` in a task until it succeeds, at most `attempts` times, without a delay.
  ///
  /// As `retry(attempts:on:while:_:)` for a closure that returns a future. Each attempt has a task of its own, which runs as
  /// `Task { }` does: on the actor of the closure, with the priority of the caller. Callbacks and transforms run outside these
  /// tasks (R8). Only the first attempt has the task-locals of the caller.
  ///
  /// ```swift
  /// let page = Future.retry(attempts: 3) { try await fetch(url) }
  /// ```
  ///
  /// Cancellation, future to task: cancelling the future cancels the task of the running attempt, and starts no other attempt.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that the overload for futures comes first where it fits
  public static func retry(
    attempts: Int,
    on context: ExecutionContext = .global(),
    while shouldRetry: @escaping @Sendable (Failure) -> Bool = { _ in true },
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    _ operation: @escaping @Sendable @isolated(any) () async throws(Failure) -> Value
  ) -> Future {
    let start = starting(on: operation.isolation, priority, fileID, line) { (_: Void) throws(Failure) in  // no item
      try await operation()
    }
    return retry(attempts: attempts, on: context, while: shouldRetry, fileID: fileID, line: line) { start(()) }
  }

  /// Calls `operation` in a task until it succeeds, at most `attempts` times.
  ///
  /// As `retry(attempts:delay:on:while:_:)` for a closure that returns a future, with the same parameters.
  /// The tasks run as those of the overload without a delay.
  ///
  /// ```swift
  /// let page = Future.retry(attempts: 3, delay: .constant(.seconds(1))) { try await fetch(url) }
  /// ```
  ///
  /// Cancellation, future to task: cancelling the future cancels the running attempt or the timer, and starts no other attempt.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that the overload for futures comes first where it fits
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public static func retry(
    attempts: Int,
    delay: RetryDelay,
    on context: ExecutionContext = .global(),
    while shouldRetry: @escaping @Sendable (Failure) -> Bool = { _ in true },
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    _ operation: @escaping @Sendable @isolated(any) () async throws(Failure) -> Value
  ) -> Future {
    let start = starting(on: operation.isolation, priority, fileID, line) { (_: Void) throws(Failure) in  // no item
      try await operation()
    }
    return retry(attempts: attempts, delay: delay, on: context, while: shouldRetry, fileID: fileID, line: line) {
      start(())
    }
  }

  /// Calls `operation` in a task until it succeeds, with a delay that depends on the error, and within a time budget.
  ///
  /// As `retry(attempts:within:on:while:delay:_:)` for a closure that returns a future, with the same parameters.
  /// The tasks run as those of the overload without a delay.
  ///
  /// ```swift
  /// let page = Future.retry(attempts: 3, within: .seconds(30), delay: { attempt, _ in .seconds(attempt) }) {
  ///   try await fetch(url)
  /// }
  /// ```
  ///
  /// Cancellation, future to task: cancelling the future cancels the running attempt or the timer, and starts no other attempt.
  @_alwaysEmitIntoClient
  @_disfavoredOverload  // so that the overload for futures comes first where it fits
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public static func retry(
    attempts: Int,
    within budget: Duration? = nil,
    on context: ExecutionContext = .global(),
    while shouldRetry: @escaping @Sendable (Failure) -> Bool = { _ in true },
    delay: @escaping @Sendable (_ attempt: Int, _ error: Failure) -> Duration,
    priority: TaskPriority? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    @_inheritActorContext @_implicitSelfCapture
    _ operation: @escaping @Sendable @isolated(any) () async throws(Failure) -> Value
  ) -> Future {
    let start = starting(on: operation.isolation, priority, fileID, line) { (_: Void) throws(Failure) in  // no item
      try await operation()
    }
    return retry(
      attempts: attempts,
      within: budget,
      on: context,
      while: shouldRetry,
      delay: delay,
      fileID: fileID,
      line: line
    ) { start(()) }
  }
}

// MARK: - Starting a task for each call

extension Future {
  /// Returns a closure that starts a task for each call of it.
  ///
  /// `operation` is or calls the user's closure, and `actor` is that closure's actor. Each task starts on that actor, so tasks of
  /// one actor start in the order of the calls. `retry` has no items, so its item is `()`.
  @_alwaysEmitIntoClient
  static func starting<Item: Sendable>(
    on actor: (any Actor)?,
    _ priority: TaskPriority?,
    _ fileID: StaticString,
    _ line: UInt,
    _ operation: @escaping @Sendable (Item) async throws(Failure) -> Value
  ) -> @Sendable (Item) -> Future {
    // Reads the caller's priority now: the operator makes later calls outside the caller's task.
    let priority = priority ?? withUnsafeCurrentTask { $0?.priority }
    return { item in
      Future(
        starting: .task,
        on: actor,
        name: nil,
        priority: priority,
        fileID,
        line,
        operation: .throwing { () async throws(Failure) in try await operation(item) }
      )
    }
  }
}
