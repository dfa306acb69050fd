internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Tests async work in shared objects; `TaskStart` has the tests of one piece of work.
@Suite(.timeLimit(.minutes(20)))
struct AsyncWorkTests {
  @Test(
    "A serial queue starts work in the order of the calls, each after the closure before has returned, even if cancelled"
  )
  func serialQueue() async throws {
    let (queue, log) = (SerialQueue(), Recorder<String>())
    let gate = Promise<Void, Never>()
    let isRunning = Promise<Void, Never>()
    let first = queue.future {
      log.record("first starts")
      isRunning.succeed()
      await gate.future.value
      log.record("first ends")
      throw TestError(1)
    }
    let waiting = queue.future { log.record("never") }
    let rest = (0..<10).map { number in
      queue.future { () async in
        log.record("\(number) starts")
        await Task.yield()
        log.record("\(number) ends")
      }
    }
    await isRunning.future.value
    (first as Future<Void, any Error>).cancel()
    rest[9].map { _ in 0 }.cancel()
    withExtendedLifetime(waiting) {}
    #expect(log.events == ["first starts"])
    gate.succeed()
    for future in rest.dropLast() { await future.value }
    let expected = (0..<9).flatMap { ["\($0) starts", "\($0) ends"] }
    #expect(Array(log.events.prefix(3 + expected.count)) == ["first starts", "first ends", "never"] + expected)
  }

  @Test("R8: work that a task's end starts runs outside that task")
  func workAfterTask() async {
    let limit = ConcurrencyLimit(1)
    let gate = Promise<Void, Never>()
    let first = limit.run { await Local.$name.withValue("task") { await gate.future.value } }
    let second = limit.run {
      let isInTask = withUnsafeCurrentTask { $0 != nil }
      return Future<Bool, Never>.succeeded(isInTask)
    }
    gate.succeed()
    await first.value
    let isInTask = await second.value
    #expect(!isInTask)
  }

  @Test("Async work that waits for its own key is cancelled when its other callers leave, and the key is free")
  func ownKey() async {
    let cache = FutureCache<String, Int, any Error>()
    let hasAsked = Promise<Void, Never>()
    let first = cache.future(for: "a") {
      let own = cache.future(for: "a") { .succeeded(1) }
      hasAsked.succeed()
      return try await own.map { $0 }.value
    }
    await hasAsked.future.value
    first.cancel()
    let next = cache.future(for: "a") { .succeeded(2) }
    #expect(next.isResolved)
  }

  @Test("R9: `on: .main` loads on the main actor")
  @MainActor func mainActor() async throws {
    var loads = 0
    let cache = FutureCache<String, Int, any Error>()
    let single = FutureCache<SingleKey, Int, any Error>()
    for _ in 0..<2 {
      let load: @MainActor () -> Future<Int, any Error> = {
        loads += 1
        return .succeeded(loads)
      }
      #expect(try await cache.future(for: "a", on: .main, load).value == 1)
      #expect(try await single.future(on: .main, load).value == 2)
    }
    let stopped = Promise<Int, Never>()
    let pending = PendingPromises<Int, Int, any Error>(on: .main) { key in
      loads = key
      stopped.succeed(key)
    }
    pending.future(for: 7).cancel()
    #expect(await stopped.future.value == 7)
    #expect(loads == 7)
  }

  // MARK: - Slots of a limit

  @Test("Async work waits for a slot behind the work of futures, and futures behind async work")
  func oneQueue() async throws {
    let limit = ConcurrencyLimit(1)
    let (first, second) = (Promise<Int, any Error>(), Promise<Void, Never>())
    let future = limit.run { first.future }
    let task = Task.immediate {
      try await limit.withSlot {
        await second.future.value
        return limit.runningCount
      }
    }
    let last = limit.run { Future<Int, any Error>.succeeded(3) }
    #expect(limit.waitingCount == 2)
    first.succeed(1)
    #expect(try await future.value == 1)
    #expect(last.peek() == nil)
    second.succeed()
    #expect(try await task.value == 1)
    #expect(try await last.value == 3)
    #expect(limit.runningCount == 0)
  }

  @Test(
    "R22: a task that is cancelled before or during its wait leaves at once; its work does not run",
    arguments: Moment.allCases
  )
  func cancelWaiting(moment: Moment) async throws {
    let limit = ConcurrencyLimit(1)
    let promise = Promise<Int, any Error>()
    let running = moment == .during ? limit.run { promise.future } : nil
    let task = Task.immediate {
      if moment == .before { cancelCurrentTask() }
      try await limit.withSlot { () -> Void in Issue.record("The work of a cancelled task runs.") }
    }
    #expect(limit.waitingCount == (moment == .during ? 1 : 0))
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(limit.waitingCount == 0)
    running?.cancel()
    #expect(limit.runningCount == 0)
    #expect(try await limit.withSlot { 1 } == 1)
  }

  @Test("A cancellation that races with a free slot loses no slot")
  func cancellationRace() async throws {
    let limit = ConcurrencyLimit(1)
    for _ in 0..<TestTier.choose(standard: 5_000, thorough: 20_000) {
      let promise = Promise<Int, any Error>()
      let running = limit.run { promise.future }
      let task = Task.immediate { try await limit.withSlot {} }
      race([{ task.cancel() }, { promise.succeed(1) }])
      _ = await task.result
      withExtendedLifetime(running) {}
      try #require(limit.runningCount == 0 && limit.waitingCount == 0)
    }
  }

  @Test("R29: in the graph, a task and a future that wait for a slot wait for the task that has it, until it ends")
  func graph() async {
    await #expect(processExitsWith: .success) {
      FuturesDiagnostics.tracksPendingFutures = true
      let limit = ConcurrencyLimit(1)
      let end = Promise<Void, Never>("end")
      let tasks = (0..<2).map { _ in Task.immediate { try await limit.withSlot { await end.future.value } } }
      let work = limit.run { Future<Int, Never>.succeeded(1) }
      /// The labels of the futures that wait for a slot that a task has.
      func waiters() -> [String] {
        let graph = FuturesDiagnostics.graph
        let labels = Dictionary(graph.nodes.map { ($0.id, $0.label ?? "") }) { first, _ in first }
        let edges = graph.edges.filter { labels[$0.awaited] == "a slot of ConcurrencyLimit" }
        return edges.map { labels[$0.waiter] ?? "" }.sorted()
      }
      #expect(waiters() == ["ConcurrencyLimit.run", "ConcurrencyLimit.withSlot"])
      let queued = SerialQueue().future { await end.future.value }
      #expect(FuturesDiagnostics.graph.nodes.contains { $0.label == "SerialQueue.future" })
      end.succeed()
      for task in tasks { _ = await task.result }
      await queued.value
      #expect(await work.value == 1)
      #expect(waiters() == [])
    }
  }

  @Test("Work that throws frees its slot")
  func throwing() async throws {
    let limit = ConcurrencyLimit(1)
    await #expect(throws: TestError(1)) { try await limit.withSlot { throw TestError(1) } }
    #expect(limit.runningCount == 0)
  }

  // MARK: - Requests of `Latest`

  @Test("A newer request cancels the work of the one before, which throws")
  func supersede() async throws {
    let latest = Latest()
    let promise = Promise<Int, any Error>()
    let first = Task.immediate { try await latest.value { try await promise.future.value(onCancel: .cancel) } }
    let second = Task.immediate { try await latest.value { 2 } }
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(try await second.value == 2)
  }

  @Test("R17a: a value that has arrived is not returned if the request is cancelled before the caller continues")
  func arrivedValue() async throws {
    let latest = Latest()
    let answer = Promise<Int, any Error>()
    let hasArrived = Promise<Void, Never>()
    let isSuspended = Locked(false)
    let executor = HeldExecutor { if isSuspended.withLock(\.self) { hasArrived.succeed() } }
    let task = Task(executorPreference: executor) {
      try await latest.value { try await answer.future.value }
    }
    executor.runAll()
    isSuspended.withLock { $0 = true }
    answer.succeed(1)
    await hasArrived.future.value  // the value waits for the executor
    latest.cancel()
    executor.runAll()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("R22: a cancelled task cancels its request")
  func cancelledTask() async throws {
    let latest = Latest()
    let task = Task.immediate { try await latest.value(after: .seconds(3_600)) { 1 } }
    #expect(latest.isRunning)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!latest.isRunning)
  }
}
