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

@Suite(.timeLimit(.minutes(20)))
struct TaskPriorityTests {
  typealias Raised = Future<Int, any Error>

  /// Starts a background task that ends when its priority is high.
  func make(_ start: TaskStart) async -> Raised {
    let work: @Sendable () async throws -> Int = { Int(await priorityRaised(to: .high).rawValue) }
    // An inbox delivers the future: an await of the detached task would raise its priority before it starts `work`.
    let inbox = Inbox<Raised>()
    Task.detached(priority: .background) {
      inbox.send(start == .detached ? .detached(priority: .background, operation: work) : start.make(work))
    }
    return await inbox.next() ?? .never
  }

  /// Awaits `awaited`, at a high priority or raised to it, and checks the priority with which the task of `future` ends.
  private func check(_ future: Raised, isLater: Bool, _ body: @escaping @Sendable () async throws -> Int) async throws {
    // Has attached to the future when this returns.
    let task = Task.immediate(priority: isLater ? .background : .high, operation: body)
    if isLater { task.escalatePriority(to: .high) }
    _ = try await task.value
    #expect(try await future.value >= TaskPriority.high.rawValue)
  }

  @Test(
    "R23, R23b: the priority of an await, at its start or raised later, raises the task behind a derived future",
    arguments: Derivation.raising,
    [false, true]
  )
  func awaitRaisesTaskBehindDerivedFuture(row: Derivation, isLater: Bool) async throws {
    for start in TaskStart.allCases {
      let future = await make(start)
      let derived = row.derive(future, .succeeded(0))
      try await check(future, isLater: isLater) { try await derived.value }
    }
  }

  @Test(
    "R23: an escalation of the awaiter while it raises the task's priority reaches the task too",
    arguments: Derivation.raising
  )
  func escalationWhileRaising(row: Derivation) async {
    let (started, end, seen) = (Gate(), Gate(), Recorder<TaskPriority>())
    let awaiter = Locked<Task<Void, Never>?>(nil)
    let future = Raised.detached(priority: .background) {
      await withTaskPriorityEscalationHandler {
        started.open()
        await end.pass()
      } onPriorityEscalated: { _, priority in
        // Runs inside the awaiter's call of `escalatePriority`.
        seen.record(priority)
        if priority < .high { awaiter.withLock { $0 }?.escalatePriority(to: .high) }
      }
      return 1
    }
    await started.pass()
    let (enqueued, hasEnded) = (Inbox<Void>(), Locked(false))
    let executor = HeldExecutor { enqueued.send(()) }
    let task = Task(executorPreference: executor, priority: .low) {
      _ = await row.derive(future, .succeeded(0)).result
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
    let source = await make(.detached)
    var future = source
    for _ in 0..<TestTier.choose(standard: 1_000, thorough: 100_000) {
      future = Future.all([future, future]).map { $0[0] }
    }
    try await check(source, isLater: false) { [future] in try await future.value }
  }

  @Test("An await of futures that follow each other in a circle can be cancelled", arguments: [1, 2, 100])
  func circle(length: Int) async {
    let promises = (0...length).map { _ in Promise<Int, any Error>() }
    for index in promises.indices { promises[index].follow(promises[(index + 1) % promises.count].future) }
    let task = Task { try await promises[0].future.value }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
