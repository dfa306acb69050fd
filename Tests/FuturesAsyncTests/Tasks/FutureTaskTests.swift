internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R23: `Future { }`", .timeLimit(.minutes(20)))
struct FutureTaskTests {
  // MARK: - Results

  @Test("R23: the future has the value, or the very error, of its closure", arguments: TaskStart.allCases)
  func resultIsThatOfClosure(start: TaskStart) async {
    let error = ReferenceError()
    #expect(await start.make { () async throws(Never) in 1 }.value == 1)
    #expect(await start.make { () async throws(any Error) in 2 }.result.isSuccess)
    #expect(await start.make { () async throws(any Error) -> Int in throw CancellationError() }.result.isCancellation)
    let future = start.make { () async throws(any Error) -> Int in throw error }
    #expect(await #expect(throws: ReferenceError.self) { try await future.value } === error)
    guard start != .task else { return }
    let typed = start.make { () async throws(ReferenceError) -> Int in throw error }
    #expect(await #expect(throws: ReferenceError.self) { try await typed.value } === error)
  }

  @Test("R23: `Future(task)` has the failure type of the task, in generic code too")
  func genericTask() async throws {
    func future<Failure: Error>(of task: Task<Int, Failure>) -> Future<Int, Failure> { Future(task) }
    #expect(await future(of: Task { 1 }).value == 1)
    let failing = Task<Int, any Error> { throw TestError(2) }
    await #expect(throws: TestError(2)) { try await future(of: failing).value }
  }

  @Test("A future of a future needs an explicit type; a call with await flattens")
  func futureOfAFuture() async throws {
    let inner = { @Sendable () -> Future<Int, any Error> in .succeeded(1) }
    let nested: Future<Future<Int, any Error>, Never> = Future { inner() }
    #expect(try await nested.value.value == 1)
    let flattened = await Future { inner() }
    #expect(try await flattened.value == 1)
  }

  // MARK: - What the task inherits

  /// A way to start a task with a name and a priority; the task calls the last argument.
  private struct Start: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether the task inherits the task-locals and the priority of its creator.
    let inherits: Bool
    let start: @Sendable (_ name: String?, _ priority: TaskPriority?, @escaping @Sendable () -> Void) -> Void

    static let all: [Start] = [
      Start(testDescription: "Future { }", inherits: true) { name, priority, report in
        _ = Future(name: name, priority: priority) { report() }
      },
      Start(testDescription: "Future { throws }", inherits: true) { name, priority, report in
        _ = Future<Void, any Error>(name: name, priority: priority) { () async throws in report() }
      },
      Start(testDescription: "Future { @MainActor }", inherits: true) { name, priority, report in
        _ = Future(name: name, priority: priority) { @MainActor in report() }
      },
      Start(testDescription: "immediate", inherits: true) { name, priority, report in
        _ = Future.immediate(name: name, priority: priority) { report() }
      },
      Start(testDescription: "immediate { throws }", inherits: true) { name, priority, report in
        _ = Future<Void, any Error>.immediate(name: name, priority: priority) { () async throws in report() }
      },
      Start(testDescription: "detached", inherits: false) { name, priority, report in
        _ = Future.detached(name: name, priority: priority) { report() }
      },
      Start(testDescription: "detached { throws }", inherits: false) { name, priority, report in
        _ = Future<Void, any Error>.detached(name: name, priority: priority) { () async throws in report() }
      },
    ]
  }

  private struct Context: Equatable, Sendable {
    var name = Task.name
    var local = Local.name
    var priority = Task.basePriority
  }

  @Test(
    "R23: a task has the given name and priority, or inherits the priority and the task-locals",
    arguments: Start.all
  )
  private func taskHasItsContext(row: Start) async {
    for name in [nil, "named"] {
      for priority in [nil, TaskPriority.low] {
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

  @Test("R23: an immediate task that never suspends has resolved its future", arguments: Home.allCases)
  func immediateWithoutSuspension(home: Home) async {
    let result = await run(on: home.make()) { actor in
      Future.immediate {
        _ = actor
        return isReallyOn(actor)
      }.peek()
    }
    #expect(result == .success(true))
    #expect(Future.immediate { 1 }.peek() == .success(1))
    #expect(Future<Int, any Error>.immediate { throw TestError(1) }.isResolved)
  }

  @Test("R23: an immediate task runs up to its first suspension before the caller continues", arguments: Home.allCases)
  func immediateWithSuspension(home: Home) async {
    let gate = Gate()
    let recorder = Recorder<String>()
    let future = await run(on: home.make()) { actor in
      let future = Future.immediate {
        _ = actor
        recorder.record("started")
        await gate.pass()
        recorder.record("ended")
      }
      recorder.record(future.isResolved ? "resolved" : "returned")
      return future
    }
    #expect(recorder.events == ["started", "returned"])
    gate.open()
    await future.value
    #expect(recorder.events == ["started", "returned", "ended"])
  }

  @Test("R23: an immediate task for another actor starts on that actor instead of the caller's")
  func immediateElsewhere() async {
    let recorder = Recorder<String>()
    await run(on: PlainActor()) { _ in
      let gate = Gate()
      let elsewhere = Future.immediate { @MainActor in
        await gate.pass()
        recorder.record("ran")
        return isReallyOn(MainActor.shared)
      }
      recorder.record("returned")
      gate.open()
      #expect(await elsewhere.value)
    }
    #expect(recorder.events == ["returned", "ran"])
  }
}
