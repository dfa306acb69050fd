internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// The way in which the library starts a task for a future.
private enum Start: CaseIterable, Sendable {
  case inheriting, detached, immediate, promise

  func make<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () async throws(Failure) -> Value
  ) -> Future<Value, Failure> {
    switch self {
    case .inheriting: return Future(operation: work)
    case .detached: return .detached(operation: work)
    case .immediate: return .immediate(operation: work)
    case .promise:
      let promise = Promise<Value, Failure>()
      promise.resolve(with: work)
      return promise.future
    }
  }
}

/// A value that calls a closure when it is released.
private final class Delivery: Sendable {
  private let released: @Sendable () -> Void
  init(_ released: @escaping @Sendable () -> Void) { self.released = released }
  deinit { released() }
}

/// Work that begins, waits at a gate even if it is cancelled, and then reports whether its task is cancelled.
private struct Work: Sendable {
  let started = Gate()
  let gate = Gate()
  let inbox = Inbox<String>()

  func run() async {
    started.open()
    await gate.pass()
    inbox.send(Task.isCancelled ? "cancelled" : "not cancelled")
  }
}

private func isCancelled<Value>(_ future: Future<Value, any Error>) -> Bool {
  if case .failure(let error)? = future.peek() { error is CancellationError } else { false }
}

@Suite("R23: cancelling the future of a task", .timeLimit(.minutes(20)))
struct FutureTaskCancellationTests {
  // MARK: - Future → task

  @Test(
    "R15, R23: cancelling the future cancels the task and ends the future at once; the late result is dropped",
    arguments: Start.allCases,
    [false, true]
  )
  private func cancelledFutureEndsAtOnce(start: Start, isThrowing: Bool) async {
    let work = Work()
    let open = start.make { () async throws(any Error) -> Delivery in
      await work.run()
      if isThrowing { throw TestError(1) }
      return Delivery { work.inbox.send("released") }
    }
    await work.started.pass()
    let task = Task.immediate { try await open.value }
    open.cancel()
    #expect(isCancelled(open))
    await #expect(throws: CancellationError.self) { try await task.value }
    work.gate.open()
    #expect(await work.inbox.next() == "cancelled")
    if !isThrowing { #expect(await work.inbox.next() == "released") }
    #expect(isCancelled(open))
  }

  @Test(
    "R15, R23: a failure type with a cancelled case ends the future with that case at once",
    arguments: Start.allCases
  )
  private func saysCancelled(start: Start) async {
    let work = Work()
    let said = start.make { () async throws(Interruption) -> Int in
      await work.run()
      return 1
    }
    said.cancel()
    said.cancel()
    #expect(said.peek() == .failure(.wasCancelled))
    work.gate.open()
    #expect(await work.inbox.next() == "cancelled")
    #expect(said.peek() == .failure(.wasCancelled))
  }

  @Test("R15, R23: without a cancelled case, the future resolves as its task does", arguments: Start.allCases)
  private func typedFutureEndsWithItsTask(start: Start) async {
    let (first, second, third) = (Work(), Work(), Work())
    let never = start.make { () async throws(Never) -> Int in
      await first.run()
      return Task.isCancelled ? 1 : 0
    }
    let typed = start.make { () async throws(TestError) -> Int in
      await second.run()
      throw TestError(2)
    }
    let succeeding = start.make { () async throws(TestError) -> Int in
      await third.run()
      return 3
    }
    never.cancel()
    typed.cancel()
    succeeding.cancel()
    #expect(!never.isResolved && !typed.isResolved && !succeeding.isResolved)
    for (index, work) in [first, second, third].enumerated() {
      work.gate.open()
      #expect(await work.inbox.next() == "cancelled", "work \(index)")
    }
    #expect(await never.value == 1)
    #expect(await typed.result == .failure(TestError(2)))
    #expect(await succeeding.result == .success(3))
  }

  @MainActor
  @Test("R23: a task whose future is cancelled before it begins is cancelled when it begins")
  func beforeItBegins() async {
    let inbox = Inbox<Bool>()
    let promise = Promise<Void, any Error>()
    // The operation cannot begin before this function gives up the main actor.
    promise.resolve {
      inbox.send(Task.isCancelled)
      try Task.checkCancellation()
    }
    let future = Future<Void, any Error> {
      inbox.send(Task.isCancelled)
      try Task.checkCancellation()
    }
    let futures = [future, promise.future]
    for (index, future) in futures.enumerated() {
      future.cancel()
      #expect(isCancelled(future), "future \(index)")
    }
    #expect(await inbox.next(2) == [true, true])
  }

  @Test("R23: cancelling a resolved future changes nothing", arguments: Start.allCases)
  private func cancellingResolvedFutureChangesNothing(start: Start) async {
    let future = start.make { () async throws(any Error) -> Int in 1 }
    #expect((try? await future.value) == 1)
    future.cancel()
    #expect((try? future.peek()?.get()) == 1)
  }

  // MARK: - The last consumer

  private enum Leaving: CaseIterable, Sendable { case derived, deep, await, token, zip, follow }

  /// Attaches one consumer to `future`, and returns a closure that cancels the consumer.
  private func attach(_ leaving: Leaving, to future: Future<Int, any Error>) -> @Sendable () -> Void {
    switch leaving {
    case .derived:
      let derived = future.map { $0 }
      return { derived.cancel() }
    case .deep:
      let derived = future.map { $0 }.flatMap { .succeeded($0) }.recover { _ in 0 }
      return { derived.cancel() }
    case .await:
      let task = Task.immediate { try await future.value(onCancel: .cancel) }
      return { task.cancel() }
    case .token:
      let source = CancellationTokenSource()
      _ = future.cancelled(by: source.token)
      return { source.cancel() }
    case .zip:
      let zipped = Future.zip(future, Future<Int, any Error>.never)
      return { zipped.cancel() }
    case .follow:
      let promise = Promise<Int, any Error>()
      promise.follow(future)
      let followed = promise.future
      return { followed.cancel() }
    }
  }

  @Test(
    "R16, R23: only the cancellation of the last consumer cancels the task",
    arguments: Start.allCases,
    Leaving.allCases
  )
  private func lastConsumerCancelsTask(start: Start, leaving: Leaving) async {
    for hasOther in [false, true] {
      let work = Work()
      let future = start.make { () async throws(any Error) -> Int in
        await work.run()
        return 1
      }
      let other = hasOther ? future.map { $0 } : nil
      attach(leaving, to: future)()
      work.gate.open()
      #expect(
        await work.inbox.next() == (hasOther ? "not cancelled" : "cancelled"),
        "\(start), \(leaving), other consumer: \(hasOther)"
      )
      if let other { #expect((try? await other.value) == 1, "\(start), \(leaving), other consumer: \(hasOther)") }
    }
  }

  @Test(
    "R16, R22, R23: removing a callback, abandoning an await and cancelling a shielded view cancel no task",
    arguments: Start.allCases
  )
  private func detachedConsumersCancelNothing(start: Start) async {
    let work = Work()
    let future = start.make { () async throws(any Error) -> Int in
      await work.run()
      return 1
    }
    #expect(future.whenResolved(on: .immediate) { _ in }.remove())
    for choice in [AwaitCancellation?.none, .abandon] {
      let task = Task.immediate {
        if let choice { try await future.value(onCancel: choice) } else { try await future.value }
      }
      task.cancel()
      await #expect(throws: CancellationError.self, "\(choice as Any)") { try await task.value }
    }
    future.shielded.cancel()
    future.shielded.map { $0 }.cancel()
    work.gate.open()
    #expect(await work.inbox.next() == "not cancelled")
    #expect((try? await future.value) == 1)
  }

  @Test("R23: dropping the future, its derived futures and the promise cancels nothing", arguments: Start.allCases)
  private func droppingCancelsNothing(start: Start) async {
    let work = Work()
    do { _ = start.make { () async throws(any Error) in await work.run() }.map { $0 } }
    work.gate.open()
    #expect(await work.inbox.next() == "not cancelled")
  }

  // MARK: - Future(task)

  @Test("R23: cancelling `Future(task)` or its derived future cancels the task", arguments: [false, true])
  func cancelledFutureCancelsItsTask(isDerived: Bool) async {
    let task = Task<Int, any Error> { try await Future<Int, any Error>.never.value }
    let future = Future(task)
    (isDerived ? future.map { $0 } : future).cancel()
    #expect(isCancelled(future))
    await #expect(throws: CancellationError.self) { try await task.value }

    let work = Work()
    let ofNever = Future(
      Task {
        await work.run()
        return 3
      }
    )
    ofNever.cancel()
    #expect(!ofNever.isResolved)
    work.gate.open()
    #expect(await ofNever.value == 3)
  }

  @MainActor
  @Test("R15: when cancel() returns, the task is cancelled, also one that has not begun")
  func cancelsBeforeItReturns() {
    // Repeated: the second task of `Future(task)` starts on another thread, at varying times.
    for _ in 0..<100 {
      let task = Task<Void, any Error> {}
      Future(task).cancel()
      #expect(task.isCancelled)

      let ofNever = Task {}
      Future(ofNever).cancel()
      #expect(ofNever.isCancelled)
    }
    let promise = Promise<Void, any Error>()
    let task = promise.resolve { try Task.checkCancellation() }
    promise.future.cancel()
    #expect(task.isCancelled)
  }

  @Test("R15: `cancel()` of a future with its own task cancels that task before it returns", arguments: Start.allCases)
  private func cancelsOwnTask(start: Start) async {
    let (log, hasBegun, gate) = (Recorder<Int>(), Gate(), Gate())
    let future = start.make { () async throws(any Error) in
      await withTaskCancellationHandler {
        hasBegun.open()
        await gate.pass()
      } onCancel: {
        log.record(1)
      }
    }
    await hasBegun.pass()
    future.cancel()
    #expect(log.events == [1])
    gate.open()
  }

  @Test("R6: a chain of tasks, each of which cancels the next one's future, takes no stack")
  func chain() async {
    let gate = Gate()
    onThread {
      var futures: [Future<Void, any Error>] = []
      for _ in 0..<2_000 {
        let next = futures.last
        let work: @Sendable () async throws -> Void = {
          await withTaskCancellationHandler {
            await gate.pass()
          } onCancel: {
            next?.cancel()
          }
        }
        futures.append(.immediate(operation: work))
      }
      futures.last?.cancel()
      #expect(!futures.contains { !isCancelled($0) })
    }
    gate.open()
  }

  @Test("R22: an abandoned await of `Future(task)` does not cancel the task")
  func ofTaskAbandoned() async {
    let work = Work()
    let future = Future(
      Task<Void, any Error> {
        await work.run()
      }
    )
    let task = Task.immediate { try await future.value }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    work.gate.open()
    #expect(await work.inbox.next() == "not cancelled")
  }

  // MARK: - flatMap

  @Test("R17, R23: a cancelled `flatMap` cancels the task that runs at that moment", arguments: [false, true])
  func flatMapCancelsRunningTask(isInner: Bool) async {
    let (outer, inner) = (Work(), Work())
    // The transform can still run during the cancellation, so the cancellation itself lets the inner task continue.
    let future = Future<Void, any Error> { await outer.run() }
      .flatMap {
        Future<Void, any Error> {
          await withTaskCancellationHandler {
            await inner.run()
          } onCancel: {
            inner.gate.open()
          }
        }
      }
    if isInner {
      outer.gate.open()
      await inner.started.pass()
    }
    future.cancel()
    #expect(isCancelled(future))
    outer.gate.open()
    #expect(await outer.inbox.next() == (isInner ? "not cancelled" : "cancelled"))
    if isInner { #expect(await inner.inbox.next() == "cancelled") }
  }

  @Test(
    "R23: cancelling the task from within cancels no future, and the future keeps its result",
    arguments: Start.allCases
  )
  private func fromWithin(start: Start) async {
    let future = start.make { () async throws(any Error) -> Bool in
      withUnsafeCurrentTask { $0?.cancel() }
      return Task.isCancelled
    }
    #expect((try? await future.value) == true)
  }
}

// MARK: - Promise.resolve(with:)

@Suite("R23: `Promise.resolve(with:)`", .timeLimit(.minutes(20)))
struct FutureTaskCancellationPromiseTests {
  @Test("R23: when the task has ended, the promise has its value or its very error")
  func promiseResolvesWhenTaskEnds() async throws {
    let (succeeding, failing) = (Promise<Int, any Error>(), Promise<Int, ReferenceError>())
    await succeeding.resolve { 1 }.value
    #expect(try succeeding.future.peek()?.get() == 1)
    let error = ReferenceError()
    await failing.resolve { () async throws(ReferenceError) in throw error }.value
    #expect({ if case .failure(let thrown) = failing.future.peek() { thrown === error } else { false } }())
    let never = Promise<Void, Never>()
    never.resolve {}
    await never.future.value
  }

  @Test("R8: callbacks and transforms run outside the task")
  func callbacksRunOutsideTask() async throws {
    let work = Work()
    let inbox = Inbox<Surroundings>()
    let promise = Promise<Int, any Error>()
    Local.$name.withValue("producer") {
      _ = promise.resolve {
        await work.run()
        withUnsafeCurrentTask { $0?.cancel() }
        return Local.name == "producer" ? 1 : 0
      }
    }
    promise.future.whenResolved(on: .immediate) { _ in inbox.send(Surroundings()) }
    let mapped = promise.future.map { ($0, Surroundings()) }
    work.gate.open()
    #expect(await inbox.next() == Surroundings.none)
    #expect(try await mapped.value == (1, .none))
  }

  @Test("R1, R23: after an earlier resolution the task continues, and its value is dropped and released")
  func earlierResolutionWins() async throws {
    let work = Work()
    let promise = Promise<Delivery?, any Error>()
    let task = promise.resolve {
      await work.run()
      return Delivery { work.inbox.send("released") }
    }
    #expect(promise.succeed(nil))
    promise.future.cancel()
    work.gate.open()
    #expect(await work.inbox.next(2) == ["not cancelled", "released"])
    await task.value
    #expect(try promise.future.peek()?.get() == nil)
  }

  @Test("R4, R23: the task keeps the promise until it has ended, and no longer")
  func taskKeepsPromiseUntilItEnds() async throws {
    let work = Work()
    weak var kept: Promise<Int, any Error>?
    let (future, task) = {
      let promise = Promise<Int, any Error>()
      kept = promise
      let task = promise.resolve {
        await work.run()
        return 1
      }
      return (promise.future, task)
    }()
    #expect(kept != nil)
    work.gate.open()
    #expect(try await future.value == 1)
    await task.value
    #expect(kept == nil)
  }

  @Test("R15, R23: with a future that is already cancelled, the task is cancelled when it starts")
  func cancelledBefore() async {
    let work = Work()
    let promise = Promise<Void, any Error>()
    promise.future.cancel()
    promise.resolve { await work.run() }
    work.gate.open()
    #expect(await work.inbox.next() == "cancelled")
    #expect(isCancelled(promise.future))
  }

  @Test("R15, R23: cancelling the future cancels the tasks of all operations that can resolve it")
  func cancelSeveral() async {
    let works = [Work(), Work()]
    let promise = Promise<Void, any Error>()
    for work in works { promise.resolve { await work.run() } }
    promise.future.cancel()
    for work in works {
      work.gate.open()
      #expect(await work.inbox.next() == "cancelled")
    }
  }

  @Test("R23: the operation decides the effect of cancelling the returned task")
  func cancelTask() async throws {
    let promise = Promise<Int, any Error>()
    let task = promise.resolve { try await Future<Int, any Error>.never.value }
    let other = Promise<Bool, any Error>()
    let gate = Gate()
    let otherTask = other.resolve {
      await gate.pass()
      return Task.isCancelled
    }
    task.cancel()
    otherTask.cancel()
    #expect(!other.isResolved)
    gate.open()
    await #expect(throws: CancellationError.self) { try await promise.future.value }
    #expect(try await other.future.value)
  }

  @Test(
    "R23: the operation runs on the actor of the caller, in order of creation among its tasks",
    arguments: Home.allCases
  )
  func operationRunsOnCallersActor(home: Home) async {
    let recorder = Recorder<Int>()
    await run(on: home.make()) { actor in
      for number in stride(from: 0, to: 200, by: 2) {
        Task {
          _ = actor
          recorder.record(number)
        }
        Promise<Void, Never>().resolve {
          _ = actor
          recorder.record(isReallyOn(actor) ? number + 1 : -1)
        }
      }
      let last = Promise<Void, Never>()
      last.resolve { _ = actor }
      await last.future.value
    }
    #expect(recorder.events == Array(0..<200))
  }
}

// MARK: - Priority

/// Waits until the current task has at least the given priority.
///
/// A test that reads the priority once, at an arbitrary moment, races with the library: `Future(task)` awaits the task
/// in another task, which might not have begun yet. The suite's time limit cancels the wait, so a missing escalation fails the test.
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
struct FutureTaskCancellationPriorityTests {
  /// The way in which the task starts.
  enum Source: CaseIterable, Sendable { case inheriting, detached, immediate, task, promise }

  /// The path between the task and the await.
  enum Path: CaseIterable, Sendable {
    case direct, map, deep, followed, token, timeout, shielded, abandon, cancel, ignore
    case all, zip, race, allSettled, allOrErrors, allOptional, firstSuccess, reduce, nested
    case serial, concurrent, retry, shared, joinedShared
  }

  /// Starts a background task that ends when its priority is high, and returns that priority.
  func make(_ source: Source) async -> Future<TaskPriority, any Error> {
    let work: @Sendable () async throws -> TaskPriority = { await priorityRaised(to: .high) }
    // An inbox delivers the future: an await of the detached task would raise its priority before it starts `work`.
    let inbox = Inbox<Future<TaskPriority, any Error>>()
    Task.detached(priority: .background) {
      switch source {
      case .inheriting: inbox.send(Future(operation: work))
      case .detached: inbox.send(.detached(priority: .background, operation: work))
      case .immediate: inbox.send(.immediate(operation: work))
      case .task: inbox.send(Future(Task(operation: work)))
      case .promise:
        let promise = Promise<TaskPriority, any Error>()
        promise.resolve(with: work)
        inbox.send(promise.future)
      }
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

  @Test("R23: an await of a high priority raises the priority of the task", arguments: Source.allCases, Path.allCases)
  func awaitRaisesPriority(source: Source, path: Path) async throws {
    let future = await make(source)
    let task = self.await(future, by: path, priority: .high)
    #expect(try await task.value >= .high, "\(source) task, awaited by \(path)")
  }

  @Test(
    "R23: raising the priority of a waiting await raises the priority of the task",
    arguments: Source.allCases,
    Path.allCases
  )
  func escalatedAwaitRaisesPriority(source: Source, path: Path) async throws {
    let future = await make(source)
    let task = self.await(future, by: path, priority: .background)
    task.escalatePriority(to: .high)
    #expect(try await task.value >= .high, "\(source) task, awaited by \(path)")
  }

  @Test("R23: a running task sees that its priority was raised", arguments: [Path.direct, .map])
  func runningTaskSeesEscalation(path: Path) async throws {
    let started = Gate()
    let future = Future<TaskPriority, any Error>.detached(priority: .background) {
      await priorityRaised(to: .high) { started.open() }
    }
    await started.pass()
    let task = self.await(future, by: path, priority: .high)
    #expect(try await task.value >= .high)
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
