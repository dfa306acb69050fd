public import Futures

// Async work that returns a future would give a future of a future, and would count as ended at once. So each function that takes
// async work has an overload here, whose call does not compile. It takes a synchronous closure that returns a future:
// - Synchronous: a narrower type, so the compiler prefers this overload. A body with `await` cannot have that type.
// - It can throw: otherwise a closure that throws would select the overload for async work.
// - `tryAwaitItsValue`: the compiler's error prints the label. Callers write a trailing closure.
// Operators such as `retry` also have an overload for futures. It does not fit a closure that throws, or another failure type.

/// Isolates functions to a separate actor, so that the compiler refuses calls of them.
///
/// `unavailable` would not do: the type checker skips an unavailable overload while another one fits, but it selects an overload
/// without regard to isolation. A call with `await` compiles, and flattens the future. An explicit type such as
/// `Future<Future<Int, any Error>, Never>` selects the other overload.
@_documentation(visibility: internal)
@globalActor
public actor FutureOfAFuture {
  /// The actor; it runs an overload below only if the call has `await`.
  public static let shared = FutureOfAFuture()
}

@FutureOfAFuture  // without `await`, the compiler refuses a call from outside this actor, and prints the label
extension Future where Failure == any Error {  // without `fileID` and `line`, so diagnostics name this file
  /// Refuses `Future { get() }` if `get` returns a future; `await Future { get() }` flattens it.
  ///
  /// The pack `Nothing` improves compiler errors: see `Future+Task.swift`. It is always empty, so `nothing` never runs.
  @_documentation(visibility: internal)
  @_alwaysEmitIntoClient
  public init<Inner: FutureProtocol, each Nothing>(
    name: String? = nil,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture tryAwaitItsValue operation:
      sending @escaping @isolated(any) (repeat (Never, each Nothing) -> Void) throws -> Inner
  ) where Inner.Value == Value {
    let work = TaskOperation<Value, any Error>.throwing {  // awaits a `Future`, because `Inner` has no `value`
      try await Future<Value, Inner.Failure>(operation(repeat nothing((each Nothing).self))).value
    }
    self.init(starting: .task, name: name, priority: priority, #fileID, #line, operation: work)
  }

  /// Refuses `Future("name") { get() }` if `get` returns a future; with `await` it flattens the future.
  @_documentation(visibility: internal)
  @_alwaysEmitIntoClient
  public init<Inner: FutureProtocol, each Nothing>(
    _ label: String,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture tryAwaitItsValue operation:
      sending @escaping @isolated(any) (repeat (Never, each Nothing) -> Void) throws -> Inner
  ) where Inner.Value == Value {
    let work = TaskOperation<Value, any Error>.throwing {  // awaits a `Future`, because `Inner` has no `value`
      try await Future<Value, Inner.Failure>(operation(repeat nothing((each Nothing).self))).value
    }
    self.init(starting: .task, name: label, priority: priority, #fileID, #line, operation: work)
  }

  /// Refuses work that returns a future: a call needs `await`, because of the actor above, and then flattens the future.
  @_documentation(visibility: internal)
  @_alwaysEmitIntoClient
  public static func detached<Inner: FutureProtocol>(
    name: String? = nil,
    priority: TaskPriority? = nil,
    tryAwaitItsValue operation: sending @escaping @isolated(any) () throws -> Inner
  ) -> Future where Inner.Value == Value {
    detached(name: name, priority: priority) { () async throws in  // async, so this calls the overload for async work
      try await Future<Value, Inner.Failure>(operation()).value  // a `Future`, because `Inner` has no `value`
    }
  }

  /// Refuses work that returns a future: a call needs `await`, because of the actor above, and then flattens the future.
  @_documentation(visibility: internal)
  @_alwaysEmitIntoClient
  public static func immediate<Inner: FutureProtocol>(
    name: String? = nil,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture tryAwaitItsValue operation:
      sending @escaping @isolated(any) () throws -> Inner
  ) -> Future where Inner.Value == Value {
    immediate(name: name, priority: priority) { () async throws in  // async, so this calls the overload for async work
      try await Future<Value, Inner.Failure>(operation()).value  // a `Future`, because `Inner` has no `value`
    }
  }

  /// Refuses a closure that throws and returns a future, or returns one of another failure type; `await` flattens the future.
  @_documentation(visibility: internal)
  @_alwaysEmitIntoClient
  public static func serial<Item: Sendable, Inner: FutureProtocol>(
    _ items: some Collection<Item>,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture tryAwaitItsValue operation:
      @escaping @Sendable @isolated(any) (Item) throws -> Inner
  ) -> Future<[Value], Failure> where Inner.Value == Value {
    serial(items, priority: priority) { item in try await Future<Value, Inner.Failure>(operation(item)).value }
  }

  /// Refuses a closure that throws and returns a future, or returns one of another failure type; `await` flattens the future.
  @_documentation(visibility: internal)
  @_alwaysEmitIntoClient
  public static func concurrent<Item: Sendable, Inner: FutureProtocol>(
    _ items: some Collection<Item>,
    limit: Int,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture tryAwaitItsValue operation:
      @escaping @Sendable @isolated(any) (Item) throws -> Inner
  ) -> Future<[Value], Failure> where Inner.Value == Value {
    concurrent(items, limit: limit, priority: priority) { item in
      try await Future<Value, Inner.Failure>(operation(item)).value  // a `Future`, because `Inner` has no `value`
    }
  }

  /// Refuses futures of closures that throw, or whose `Failure` has no error for items not started (the label); `await` flattens.
  @_documentation(visibility: internal)
  @_alwaysEmitIntoClient
  public static func concurrentSettled<Item: Sendable, Inner: FutureProtocol>(
    _ items: some Collection<Item>,
    limit: Int,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture failureMustRepresentCancellation operation:
      @escaping @Sendable @isolated(any) (Item) throws -> Inner
  ) -> Future<[Result<Value, Failure>], Never> where Inner.Value == Value {
    concurrentSettled(items, limit: limit, priority: priority) { item in
      try await Future<Value, Inner.Failure>(operation(item)).value  // a `Future`, because `Inner` has no `value`
    }
  }

  /// Refuses a closure that throws and returns a future, or returns one of another failure type; `await` flattens the future.
  @_documentation(visibility: internal)
  @_alwaysEmitIntoClient
  public static func retry<Inner: FutureProtocol>(
    attempts: Int,
    on context: ExecutionContext = .global(),
    while shouldRetry: @escaping @Sendable (Failure) -> Bool = { _ in true },
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture tryAwaitItsValue operation:
      @escaping @Sendable @isolated(any) () throws -> Inner
  ) -> Future where Inner.Value == Value {
    retry(attempts: attempts, on: context, while: shouldRetry, priority: priority) {
      try await Future<Value, Inner.Failure>(operation()).value  // a `Future`, because `Inner` has no `value`
    }
  }

  /// Refuses a closure that throws and returns a future, or returns one of another failure type; `await` flattens the future.
  @_documentation(visibility: internal)
  @_alwaysEmitIntoClient
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public static func retry<Inner: FutureProtocol>(
    attempts: Int,
    delay: RetryDelay,
    on context: ExecutionContext = .global(),
    while shouldRetry: @escaping @Sendable (Failure) -> Bool = { _ in true },
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture tryAwaitItsValue operation:
      @escaping @Sendable @isolated(any) () throws -> Inner
  ) -> Future where Inner.Value == Value {
    retry(attempts: attempts, delay: delay, on: context, while: shouldRetry, priority: priority) {
      try await Future<Value, Inner.Failure>(operation()).value  // a `Future`, because `Inner` has no `value`
    }
  }

  /// Refuses a closure that throws and returns a future, or returns one of another failure type; `await` flattens the future.
  @_documentation(visibility: internal)
  @_alwaysEmitIntoClient
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public static func retry<Inner: FutureProtocol>(
    attempts: Int,
    within budget: Duration? = nil,
    on context: ExecutionContext = .global(),
    while shouldRetry: @escaping @Sendable (Failure) -> Bool = { _ in true },
    delay: @escaping @Sendable (_ attempt: Int, _ error: Failure) -> Duration,
    priority: TaskPriority? = nil,
    @_inheritActorContext @_implicitSelfCapture tryAwaitItsValue operation:
      @escaping @Sendable @isolated(any) () throws -> Inner
  ) -> Future where Inner.Value == Value {
    retry(attempts: attempts, within: budget, on: context, while: shouldRetry, delay: delay, priority: priority) {
      try await Future<Value, Inner.Failure>(operation()).value  // a `Future`, because `Inner` has no `value`
    }
  }
}

@FutureOfAFuture  // the compiler refuses a call from outside this actor, unless the call has `await`
extension SerialQueue {
  /// Refuses work that returns a future: a call needs `await`, because of the actor above, and then flattens the future.
  @_documentation(visibility: internal)
  @_alwaysEmitIntoClient
  public func future<Inner: FutureProtocol>(
    name: String? = nil,
    priority: TaskPriority? = nil,
    @_inheritActorContext tryAwaitItsValue operation: @escaping @Sendable @isolated(any) () throws -> Inner
  ) -> Future<Inner.Value, any Error> {
    future(name: name, priority: priority) { () async throws in
      try await Future<Inner.Value, Inner.Failure>(operation()).value  // `Inner` has no `value`
    }
  }
}

@FutureOfAFuture  // the compiler refuses a call from outside this actor, unless the call has `await`
extension ConcurrencyLimit {
  /// Refuses a closure that throws and returns a future, or returns one that is not a `Future`; `await` flattens the future.
  @_documentation(visibility: internal)
  @_disfavoredOverload  // so that the overload for futures comes first where it fits, as for the async overload
  @_alwaysEmitIntoClient
  public func run<Inner: FutureProtocol>(
    name: String? = nil,
    priority: TaskPriority = .medium,
    @_inheritActorContext tryAwaitItsValue operation: @escaping @Sendable @isolated(any) () throws -> Inner
  ) -> Future<Inner.Value, any Error> {
    run(name: name, priority: priority) { () async throws in
      try await Future<Inner.Value, Inner.Failure>(operation()).value  // `Inner` has no `value`
    }
  }
}

// A call of an async function has `await` anyway, so isolation cannot refuse it. These overloads only warn.

extension ConcurrencyLimit {
  /// Warns about a closure that returns a future; the call still waits for that future.
  @_documentation(visibility: internal)
  @available(*, deprecated, message: "to get the value, write { try await future.value }")
  @_alwaysEmitIntoClient
  public func withSlot<Inner: FutureProtocol>(
    priority: TaskPriority? = nil,
    isolation: isolated (any Actor)? = #isolation,
    tryAwaitItsValue operation: () throws -> Inner
  ) async throws -> Inner {
    try await withSlot(priority: priority, isolation: isolation) { () async throws in await settled(try operation()) }
  }
}

extension Latest {
  /// Warns about a closure that returns a future; the call still waits for that future.
  @_documentation(visibility: internal)
  @available(*, deprecated, message: "to get the value, write { try await future.value }")
  @_alwaysEmitIntoClient
  public func value<Inner: FutureProtocol>(
    isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext tryAwaitItsValue operation: @escaping @Sendable @isolated(any) () throws -> Inner
  ) async throws -> Inner {
    try await value(isolation: isolation) { () async throws in await settled(try await operation()) }
  }

  /// Warns about a closure that returns a future; the call still waits for that future.
  @_documentation(visibility: internal)
  @available(*, deprecated, message: "to get the value, write { try await future.value }")
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  @_alwaysEmitIntoClient
  public func value<Inner: FutureProtocol>(
    after delay: Duration,
    atMost maximum: Duration? = nil,
    leading: Bool = false,
    isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext tryAwaitItsValue operation: @escaping @Sendable @isolated(any) () throws -> Inner
  ) async throws -> Inner {
    try await value(after: delay, atMost: maximum, leading: leading, isolation: isolation) { () async throws in
      await settled(try await operation())
    }
  }
}

extension CancellationToken {
  /// Warns about a closure that returns a future; the call still waits for that future.
  @_documentation(visibility: internal)
  @available(*, deprecated, message: "to get the value, write { try await future.value }")
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func cancelling<Inner: FutureProtocol>(
    @_inheritActorContext @_implicitSelfCapture tryAwaitItsValue operation:
      sending @escaping @isolated(any) () throws -> Inner
  ) async throws -> Inner {
    try await cancelling { () async throws in await settled(try await operation()) }
  }
}

/// Awaits the result of `future`, and returns the future: for the overloads that only warn, whose calls return a future.
@_alwaysEmitIntoClient
nonisolated(nonsending) func settled<Inner: FutureProtocol>(_ future: Inner) async -> Inner {
  _ = await Future<Inner.Value, Inner.Failure>(future).result
  return future
}
