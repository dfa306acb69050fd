internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Waits until the current task has at least the given priority.
///
/// A test that reads the priority once, at an arbitrary moment, races with the library: `Future(task)` awaits the task
/// in another task, which might not have begun yet. Without an escalation, the suite's time limit fails the test.
/// - Parameters:
///   - priority: The priority to wait for.
///   - started: Runs when the wait can see an escalation.
/// - Returns: The priority of the task.
private func priorityRaised(
  to priority: TaskPriority,
  started: @Sendable () -> Void = {}
) async -> TaskPriority {
  let isRaised = Gate()
  await withTaskPriorityEscalationHandler {
    started()
    // An escalation before this point called no handler.
    if Task.currentPriority >= priority { isRaised.open() }
    await withTaskCancellationHandler {
      await isRaised.pass()
    } onCancel: {
      isRaised.open()
    }
  } onPriorityEscalated: { _, newPriority in
    if newPriority >= priority { isRaised.open() }
  }
  return Task.currentPriority
}

@Suite("R23: a higher-priority awaiter raises the priority of the task", .timeLimit(.minutes(20)))
struct TaskPriorityTests {
  /// The path between the task and the await.
  enum Path: CaseIterable, Sendable {
    case direct, map, deep, followed, token, timeout, shielded, abandon, cancel, ignore
    case all, zip, race, allSettled, allOrErrors, allOptional, firstSuccess, reduce, nested
    case serial, concurrent, retry, shared, joinedShared
  }

  /// Starts a background task that ends when its priority is high, and returns that priority.
  func make(_ source: TaskStart) async -> Future<TaskPriority, any Error> {
    let work: @Sendable () async throws -> TaskPriority = { await priorityRaised(to: .high) }
    // An inbox delivers the future: an await of the detached task would raise its priority before it starts `work`.
    let inbox = Inbox<Future<TaskPriority, any Error>>()
    Task.detached(priority: .background) {
      inbox.send(source == .detached ? .detached(priority: .background, operation: work) : source.make(work))
    }
    return await inbox.next() ?? .never
  }

  /// Starts a task of the given priority, which has attached to `future` when this returns.
  func await(
    _ future: Future<TaskPriority, any Error>,
    by path: Path,
    priority: TaskPriority
  ) -> Task<TaskPriority, any Error> {
    Task.immediate(priority: priority) { try await Self.value(of: future, by: path) }
  }

  static func value(of future: Future<TaskPriority, any Error>, by path: Path) async throws -> TaskPriority {
    switch path {
    case .direct: return try await future.value
    case .map: return try await future.map { $0 }.value
    case .deep: return try await future.map { $0 }.mapError { $0 }.receive(on: .immediate).eraseFailure().value
    case .followed:
      let promise = Promise<TaskPriority, any Error>()
      promise.follow(future)
      return try await promise.future.value
    case .token:
      let source = CancellationTokenSource()
      return try await future.cancelled(by: source.token).value
    case .timeout: return try await future.timeout(after: .seconds(3_600)).value
    case .shielded: return try await future.shielded.value
    case .all: return try await Future.all([.succeeded(.low), future]).value[1]
    case .zip: return try await Future.zip(Future<Int, any Error>.succeeded(1), future).value.1
    case .race: return try await Future.race([.never, future]).value
    case .allSettled: return try await Future.allSettled([future, .succeeded(.low)]).value[0].get()
    case .allOrErrors: return try await Future.allOrErrors([future]).value[0]
    case .allOptional: return try await #require(Future.allOptional([future]).value[0])
    case .firstSuccess: return try await Future.firstSuccess([.never, future]).value
    case .reduce: return try await Future.reduce(.low, [future]) { max($0, $1) }.value
    case .nested:
      let joins = Future.all([future.map { $0 }, .race([future, .never])]).map { $0[0] }
      return try await Future.zip(joins, joins.recover { _ in .low }.setFailureType()).value.0
    case .serial: return try await Future.serial([.succeeded(.low), future]) { $0 }.value[1]
    case .concurrent: return try await Future.concurrent([future, future], limit: 2) { $0 }.value[1]
    case .retry: return try await Future.retry(attempts: 2) { future }.value
    case .shared, .joinedShared:
      let pending = PendingPromises<Int, TaskPriority, any Error>()
      defer { withExtendedLifetime(pending) {} }
      let first = pending.future(sharing: 1) { future }
      return try await (path == .shared ? first : pending.future(sharing: 1) { .never }).value
    case .abandon: return try await future.value(onCancel: .abandon)
    case .cancel: return try await future.value(onCancel: .cancel)
    case .ignore: return try await future.value(onCancel: .ignore)
    }
  }

  @Test(
    "R23: the priority of an await, at its start or raised later, raises the priority of the task",
    arguments: TaskStart.allCases,
    Path.allCases
  )
  func awaitRaisesPriority(source: TaskStart, path: Path) async throws {
    for isLater in [false, true] {
      let future = await make(source)
      let task = self.await(future, by: path, priority: isLater ? .background : .high)
      if isLater { task.escalatePriority(to: .high) }
      #expect(try await task.value >= .high, "\(source) task, awaited by \(path), raised later: \(isLater)")
    }
  }

  @Test(
    "R23: an escalation of the awaiter while it raises the task's priority reaches the task too",
    arguments: Path.allCases
  )
  func escalationWhileRaising(path: Path) async {
    let (started, end, seen) = (Gate(), Gate(), Recorder<TaskPriority>())
    let awaiter = Locked<Task<Void, Never>?>(nil)
    let future = Future<TaskPriority, any Error>.detached(priority: .background) {
      await withTaskPriorityEscalationHandler {
        started.open()
        await end.pass()
      } onPriorityEscalated: { _, priority in
        // Runs inside the awaiter's call of `escalatePriority`.
        seen.record(priority)
        if priority < .high { awaiter.withLock { $0 }?.escalatePriority(to: .high) }
      }
      return Task.currentPriority
    }
    await started.pass()
    let (enqueued, hasEnded) = (Inbox<Void>(), Locked(false))
    let executor = HeldExecutor { enqueued.send(()) }
    let task = Task(executorPreference: executor, priority: .low) {
      _ = try? await Self.value(of: future, by: path)
      hasEnded.withLock { $0 = true }
    }
    awaiter.withLock { $0 = task }
    executor.runAll()
    #expect(seen.events == [.low, .high])
    end.open()
    while !hasEnded.withLock({ $0 }) {
      await enqueued.next()
      executor.runAll()
    }
  }

  @Test(
    "R23: an item that starts during the await gets the awaiter's priority, too",
    arguments: [1, 2],
    [TaskPriority.high, .background]
  )
  func laterItemIsRaised(limit: Int, priority: TaskPriority) async throws {
    let gates = (0..<2).map { _ in Promise<TaskPriority, any Error>() }
    let task = Task.immediate(priority: priority) {
      try await Future.concurrent(0..<3, limit: limit) { item in
        if item < 2 { return gates[item].future }
        return .detached(priority: .background) { await priorityRaised(to: .high) }
      }.value[2]
    }
    gates[0].succeed(.low)
    task.escalatePriority(to: .high)
    gates[1].succeed(.low)
    #expect(try await task.value >= .high)
  }

  @Test("R6, R23: an await raises the task behind many joins that share their inputs")
  func manySharedInputs() async throws {
    var future = await make(.detached)
    for _ in 0..<TestTier.choose(standard: 2_000, thorough: 100_000) {
      future = Future.all([future, future]).map { $0[0] }
    }
    let task = self.await(future, by: .direct, priority: .high)
    #expect(try await task.value >= .high)
  }

  @Test("An await of futures that follow each other in a circle can be cancelled", arguments: [1, 2, 100])
  func circle(length: Int) async {
    let promises = (0...length).map { _ in Promise<Int, any Error>() }
    for index in promises.indices { promises[index].follow(promises[(index + 1) % promises.count].future) }
    let task = Task { try await promises[0].future.value }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("R23: an awaiter of the same or a lower priority changes no priority")
  func lowerAwaitChangesNothing() async throws {
    let gate = Gate()
    let future = Future<TaskPriority, any Error>.detached(priority: .low) {
      await gate.pass()
      return Task.currentPriority
    }
    let inbox = Inbox<TaskPriority?>()
    Task.immediate(priority: .background) { inbox.send(try? await future.value) }
    gate.open()
    #expect(await inbox.next() == .low)
  }
}
