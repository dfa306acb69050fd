internal import AllocationCounter
internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct FutureTaskTests {
  // MARK: - Results

  @Test("R23: the future has the value, or the very error, of its closure", arguments: TaskStart.allCases)
  func resultIsThatOfClosure(start: TaskStart) async {
    let error = ReferenceError()
    #expect((try? await start.make { () async throws(any Error) in 1 }.value) == 1)
    #expect(await start.make { () async throws(any Error) -> Int in throw CancellationError() }.result.isCancellation)
    let future = start.make { () async throws(any Error) -> Int in throw error }
    #expect(await #expect(throws: ReferenceError.self) { try await future.value } === error)
    if TaskStart.plain.contains(start) { #expect(await start.make { () async throws(Never) in 2 }.value == 2) }
    guard TaskStart.typed.contains(start) else { return }
    let typed = start.make { () async throws(ReferenceError) -> Int in throw error }
    #expect(await #expect(throws: ReferenceError.self) { try await typed.value } === error)
  }

  @Test("R23, R23a: the failure type is that of the task or the closure; a future of a future needs an explicit type")
  func inferredTypes() async throws {
    let typed = Future { () async throws(TestError) -> Int in throw TestError(1) }
    #expect(await typed.result == .failure(TestError(1)))
    let plain = Future { 1 }
    #expect(await plain.value == 1)
    let inner = { @Sendable () -> Future<Int, any Error> in .succeeded(1) }
    let nested: Future<Future<Int, any Error>, Never> = Future { inner() }
    #expect(try await nested.value.value == 1)
    let flattened = await Future { inner() }  // with await, this is the value
    #expect(try await flattened.value == 1)
  }

  // MARK: - What the task inherits

  /// A way to start a task with a name and a priority; the task calls the last argument.
  private struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var takesName = true
    let inherits: Bool
    let start: @Sendable (_ name: String?, _ priority: TaskPriority?, @escaping @Sendable () -> Void) -> Void

    /// The closures that cannot throw have overloads of their own.
    static let all =
      TaskStart.allCases.map { start in
        let takesName = [.inheriting, .detached, .immediate].contains(start)
        return Row(testDescription: "\(start)", takesName: takesName, inherits: start.inherits) {
          name,
          priority,
          report in
          _ = start.make(name: name, priority: priority) { () async throws(any Error) in report() }
        }
      } + [
        Row(testDescription: "Future { }", inherits: true) { name, priority, report in
          _ = Future(name: name, priority: priority) { report() }
        },
        Row(testDescription: "Future { @MainActor }", inherits: true) { name, priority, report in
          _ = Future(name: name, priority: priority) { @MainActor in report() }
        },
        Row(testDescription: "immediate { }", inherits: true) { name, priority, report in
          _ = Future.immediate(name: name, priority: priority) { report() }
        },
        Row(testDescription: "cancelling { }", takesName: false, inherits: true) { _, _, report in
          _ = Task.immediate { try await CancellationToken.none.cancelling { report() } }
        },
        Row(testDescription: "detached { }", inherits: false) { name, priority, report in
          _ = Future.detached(name: name, priority: priority) { report() }
        },
      ]
  }

  private struct Context: Equatable, Sendable {
    var name = Task.name
    var local = Local.name
    var priority = Task.basePriority
  }

  @Test(
    "R8, R23: a task has the given name and priority; it inherits priority and task-locals unless callers share it",
    arguments: Row.all
  )
  private func taskHasItsContext(row: Row) async {
    for name in row.takesName ? [nil, "named"] : [nil] {
      for priority in row.takesName ? [nil, TaskPriority.low] : [nil] {
        // An inbox delivers the context, because an await of the task itself would raise its priority.
        let inbox = Inbox<Context>()
        Task.detached(priority: .background) {
          Local.$name.withValue("caller") { row.start(name, priority) { inbox.send(Context()) } }
        }
        let expected = Context(
          name: name,
          local: row.inherits ? "caller" : "none",
          priority: priority ?? (row.inherits ? .background : .medium)
        )
        #expect(await inbox.next() == expected)
      }
    }
  }

  // MARK: - The actor

  @Test("R23: a closure with `@MainActor` runs on the main actor, and a closure of no actor elsewhere")
  func annotatedClosureRunsOnMainActor() async {
    #expect(await Future { @MainActor in isReallyOn(MainActor.shared) }.value)
    #expect(await Future.detached { @MainActor in isReallyOn(MainActor.shared) }.value)
    #expect(await Future.immediate { @MainActor in isReallyOn(MainActor.shared) }.value)
    #expect(await Future { isOnMainQueue }.value == false)
  }

  @Test("R23: tasks of futures and native ones start on their actor in order of creation", arguments: Home.allCases)
  func tasksStartInOrderOfCreation(home: Home) async {
    let recorder = Recorder<Int>()
    await run(on: home.make()) { actor in
      let record = { @Sendable (number: Int, isolation: isolated (any Actor)?) in
        recorder.record(isReallyOn(actor, isolation: isolation) ? number : -1)
      }
      var last: [Future<Void, any Error>] = []
      for number in stride(from: 0, to: 500, by: 5) {
        Task { record(number, actor) }
        _ = Future { record(number + 1, actor) }
        _ = Future(name: "named") { record(number + 2, actor) }
        let promise = Promise<Void, Never>()
        promise.resolve { record(number + 3, actor) }
        last.append(Future { () async throws in record(number + 4, actor) })
      }
      for future in last { _ = await future.result }
    }
    #expect(recorder.events == Array(0..<500))
  }

  // MARK: - Immediate

  @Test(
    "R23: an immediate task runs up to its first suspension before the caller continues, and can resolve its future",
    arguments: Home.allCases
  )
  func immediateTaskStartsAtOnce(home: Home) async {
    let gate = Gate()
    let recorder = Recorder<String>()
    let (resolved, suspended) = await run(on: home.make()) { actor in
      let resolved = Future.immediate {
        _ = actor
        return isReallyOn(actor)
      }.peek()
      let suspended = Future.immediate {
        _ = actor
        recorder.record("started")
        await gate.pass()
        recorder.record("ended")
      }
      recorder.record(suspended.isResolved ? "resolved" : "returned")
      return (resolved, suspended)
    }
    #expect(resolved == .success(true))
    #expect(recorder.events == ["started", "returned"])
    gate.open()
    await suspended.value
    #expect(recorder.events == ["started", "returned", "ended"])
  }

  @Test(
    "R23a: a closure that cannot throw costs no more allocations than a closure that throws",
    .enabled(if: AllocationCounts.areSupported)
  )
  @MainActor
  func nonthrowingClosureCostsNoMore() {
    func count(_ start: () -> Future<Int, any Error>) -> Int64 {
      let before = AllocationCounts.ofThread().allocations
      for _ in 0..<100 { _ = start() }
      return AllocationCounts.ofThread().allocations - before
    }
    let number = Int.random(in: 1...9)
    for surplus in [
      { count { Future { number } } - count { Future { () async throws in number } } },
      { count { .immediate { number } } - count { .immediate { () async throws in number } } },
    ] {
      // The smallest surplus: another test can switch on the tracking of promises meanwhile, which allocates.
      #expect((0..<50).contains { _ in surplus() < 75 })
    }
  }

  // MARK: - Operators that start several tasks

  @Test("R23: the values are in the order of the items, and a closure that is isolated to an actor runs there")
  @MainActor
  func order() async throws {
    let log = Recorder<Int>()
    let work = { @MainActor @Sendable (item: Int) async throws -> Int in
      if isReallyOn(MainActor.shared) { log.record(item) }
      await Task.yield()
      if item > 2 { throw TestError(item) }
      return item
    }
    let items = [0, 1, 2]
    let settled = Future.concurrentSettled(items + [3], limit: 1, work)
    #expect(try await Future.serial(items, work).value == items)
    #expect(try await Future.concurrent(items, limit: 1, work).value == items)
    #expect(await settled.value.map { try? $0.get() } == [0, 1, 2, nil])
    let retries = [
      Future.retry(attempts: 2, on: .immediate) { try await work(3) },
      Future.retry(attempts: 2, delay: .none, on: .immediate) { try await work(3) },
      Future.retry(attempts: 2, on: .immediate, delay: { _, _ in .zero }) { try await work(3) },
    ]
    for retry in retries { await #expect(throws: TestError(3)) { try await retry.value } }
    #expect(log.events.count { $0 == 3 } == 7)
  }

  @Test(
    "A closure that returns a future selects the operator for futures; a typed failure and one that cannot fail stay"
  )
  func selectsOverload() async throws {
    let futures = try await Future.serial([1, 2]) { Future<Int, any Error>.succeeded($0) }.value
    let infallible = await Future.concurrent([1, 2], limit: 2) { item in await Task { item }.value }.value
    let typed: Future<[Int], TestError> = Future.serial([1, 2]) { item throws(TestError) in
      guard await Task(operation: { item }).value > 0 else { throw TestError() }
      return item
    }
    let expected = [1, 2]
    #expect(futures == expected)
    #expect(infallible == expected)
    #expect(await typed.result == .success(expected))
  }

  // MARK: - Delivery

  /// Starts a task with a task-local, which waits at the gate and is cancelled when it ends.
  private static func make(_ start: TaskStart, _ gate: Gate, fails: Bool = false) -> Future<Int, any Error> {
    Local.$name.withValue("producer") {
      start.make { () async throws(any Error) -> Int in
        await gate.pass()
        cancelCurrentTask()
        if fails { throw TestError(1) }
        return 1
      }
    }
  }

  @Test(
    "R8: callbacks and transforms attached before the task ends run outside it, in order, and all awaits end",
    arguments: TaskStart.allCases,
    [false, true]
  )
  func callbacksBefore(start: TaskStart, fails: Bool) async throws {
    let gate = Gate()
    let inbox = Inbox<Surroundings>()
    let future = Self.make(start, gate, fails: fails)
    let promise = Promise<Int, any Error>()
    promise.follow(future)
    let derived = [
      future, promise.future, future.map { $0 }, Future<Int, any Error>.succeeded(0).flatMap { _ in future },
    ]
    for future in derived {
      future.whenResolved(on: .immediate) { _ in inbox.send(Surroundings()) }
      if fails {
        future.whenFailed(on: .immediate) { _ in inbox.send(Surroundings()) }
      } else {
        future.whenSucceeded(on: .immediate) { _ in inbox.send(Surroundings()) }
        future.whenProgressed(on: .immediate) { if $0.isFinished { inbox.send(Surroundings()) } }
      }
      future.forward { _ in inbox.send(Surroundings()) }
    }
    let mapped = future.map { _ in Surroundings() }.recover { _ in Surroundings() }
    let numbers = Inbox<Int>()
    let awaits = (0..<20).map { number in
      future.whenResolved(on: .immediate) { _ in numbers.send(number) }
      return Task.immediate { await future.result.isSuccess }
    }
    gate.open()
    for task in awaits { #expect(await task.value == !fails) }
    #expect(await numbers.next(20) == Array(0..<20))
    #expect(await inbox.next(fails ? 12 : 16).allSatisfy { $0 == .none })
    #expect(await mapped.value == .none)
  }

  @Test("R8: callbacks attached while the task ends never see it")
  func callbacksAttachedAtEndDoNotSeeTask() async throws {
    for _ in 0..<TestTier.choose(standard: 100, thorough: 1_000) {
      let gate = Gate()
      let inbox = Inbox<Surroundings>()
      let future = Self.make(.inheriting, gate)
      DispatchQueue.global().async { gate.open() }
      for _ in 0..<3 { future.whenResolved(on: .immediate) { _ in inbox.send(Surroundings()) } }
      let seen = await inbox.next(3) + [try await future.map { _ in Surroundings() }.value]
      #expect(seen.allSatisfy { $0.local == "none" && !$0.isCancelled })
    }
  }

  // MARK: - Recursion

  /// `f(n) = start { … }.flatMap { f(n - 1) }`, which reports `n` on its way down.
  private static func countdown(
    _ start: TaskStart,
    _ number: Int,
    _ report: @escaping @Sendable (Int) -> Void
  ) -> Future<Int, Never> {
    report(number)
    guard number > 0 else { return .succeeded(0) }
    return start.make { () async throws(Never) in number - 1 }.flatMap { countdown(start, $0, report) }
  }

  @Test(
    "R6: the memory of a recursion through tasks does not grow",
    .enabled(if: AllocationCounts.areSupported),
    .unlessSanitized,
    arguments: TaskStart.plain
  )
  func recursionStaysFlat(start: TaskStart) async {
    // Runs in a process of its own, where nothing else allocates.
    await #expect(processExitsWith: .success) { [start] in
      let levels = TestTier.choose(standard: 5_000, thorough: 20_000)
      // Twenty bytes for each level; one state is more than fifty.
      let tolerance = Int64(20 * levels)
      var least = Int64.max
      // Levels that stay in memory show in each round. The memory of a new thread, and of ended tasks that their
      // threads have not released yet, shows in some rounds only.
      for _ in 0..<10 where least >= tolerance {
        let bytes = Locked<(early: Int64, late: Int64)>((0, 0))
        let future = Self.countdown(start, levels) { number in
          let live = AllocationCounts.ofProcess().liveBytes
          if number == levels * 9 / 10 { bytes.withLock { $0.early = live } }
          if number == 0 { bytes.withLock { $0.late = live } }
        }
        _ = await future.value
        least = min(least, bytes.withLock { $0.late - $0.early })
      }
      #expect(least < tolerance, "\(start): \(least) bytes")
    }
  }
}
