internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct ConcurrencyLimitTaskTests {
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
}
