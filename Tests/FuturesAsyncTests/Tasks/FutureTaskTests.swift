internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R23: `Future { }`", .timeLimit(.minutes(20)))
struct FutureTaskTests {
  // MARK: - Results

  @Test("R23: the future succeeds with the value that the closure returns")
  func futureSucceedsWithReturnedValue() async throws {
    #expect(await Future { 1 }.value == 1)
    #expect(await Future.detached { 2 }.value == 2)
    #expect(await Future.immediate { 3 }.value == 3)
    #expect(try await Future<Int, any Error> { 4 }.value == 4)
  }

  @Test("R23: the future fails with the very error that the closure throws")
  func sameError() async {
    let error = ReferenceError()
    let futures: [Future<Int, any Error>] = [
      Future { throw error }, .detached { throw error }, .immediate { throw error },
    ]
    for (index, future) in futures.enumerated() {
      let thrown = await #expect(throws: ReferenceError.self, "future \(index)") { try await future.value }
      #expect(thrown === error, "future \(index)")
    }
  }

  @Test("R23: the future fails with the very error that a typed closure throws")
  func sameTypedError() async {
    let error = ReferenceError()
    let operation: @Sendable () async throws(ReferenceError) -> Int = { () async throws(ReferenceError) in throw error }
    let futures: [Future<Int, ReferenceError>] = [
      Future(operation: operation), .detached(operation: operation), .immediate(operation: operation),
    ]
    for (index, future) in futures.enumerated() {
      do throws(ReferenceError) {
        _ = try await future.value
        Issue.record("No error was thrown.")
      } catch {
        let thrown: ReferenceError = error
        #expect(thrown === error, "future \(index)")
      }
      #expect({ if case .failure(let thrown) = future.peek() { thrown === error } else { false } }(), "future \(index)")
    }
  }

  @Test("R23: a cancellation error that the closure throws fails the future like any other error")
  func cancellationError() async {
    let future = Future<Int, any Error> { throw CancellationError() }
    await #expect(throws: CancellationError.self) { try await future.value }
  }

  @Test("R23: dropping the future cancels nothing, and the work continues")
  func droppingCancelsNothing() async {
    let inbox = Inbox<String>()
    let gate = Gate()
    func start(_ name: String, _ make: (@escaping @Sendable () async -> Void) -> Void) {
      make {
        await gate.pass()
        inbox.send(Task.isCancelled ? "\(name) cancelled" : name)
      }
    }
    start("inheriting") { work in _ = Future { await work() } }
    start("detached") { work in _ = Future.detached { await work() } }
    start("immediate") { work in _ = Future.immediate { await work() } }
    start("derived") { work in _ = Future { 1 }.flatMap { _ in Future { await work() } } }
    gate.open()
    #expect(await Set(inbox.next(4)) == ["inheriting", "detached", "immediate", "derived"])
  }

  @Test("R5: the captures of the closure are released when it ends, also while the future lives")
  func endedTaskReleasesCaptures() async {
    let inbox = Inbox<String>()
    let future = {
      let captured = Deinit { inbox.send("released") }
      return Future { captured.use() }
    }()
    await future.value
    #expect(await inbox.next() == "released")
    #expect(future.isResolved)
  }

  private final class Deinit: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
    func use() {}
  }

  // MARK: - Task → future

  @Test("R23: `Future(task)` resolves with the value of the task, or with its very error")
  func ofTask() async throws {
    let gate = Gate()
    let pending = Task<Int, any Error> {
      await gate.pass()
      return 1
    }
    let future = Future(pending)
    #expect(future.peek() == nil)
    gate.open()
    #expect(try await future.value == 1)
    #expect(try await Future(pending).value == 1)

    let error = ReferenceError()
    let thrown = await #expect(throws: ReferenceError.self) {
      try await Future(Task<Int, any Error> { throw error }).value
    }
    #expect(thrown === error)
    #expect(await Future(Task { 2 }).value == 2)
  }

  @Test("R23: `Future(task)` has the failure type of the task, in generic code too")
  func genericTask() async throws {
    func future<Failure: Error>(of task: Task<Int, Failure>) -> Future<Int, Failure> { Future(task) }
    #expect(await future(of: Task { 1 }).value == 1)
    let failing = Task<Int, any Error> { throw TestError(2) }
    await #expect(throws: TestError(2)) { try await future(of: failing).value }
  }

  @Test("R23: dropping `Future(task)` does not cancel the task")
  func droppingOfTask() async {
    let gate = Gate()
    let task = Task {
      await gate.pass()
      return Task.isCancelled
    }
    do { _ = Future(task) }
    gate.open()
    #expect(await task.value == false)
  }

  // MARK: - A future of a future

  @Test("A future of a future needs an explicit type; a call with await flattens")
  func futureOfAFuture() async throws {
    let inner = { @Sendable () -> Future<Int, any Error> in .succeeded(1) }
    let nested: Future<Future<Int, any Error>, Never> = Future { inner() }
    #expect(try await nested.value.value == 1)
    let flattened = await Future { inner() }
    #expect(try await flattened.value == 1)
  }

  // MARK: - Names

  @Test("R23: the task has the given name", arguments: Home.allCases)
  func taskHasGivenName(home: Home) async {
    let names = await run(on: home.make()) { actor in
      let inheriting = Future(name: "inheriting") {
        _ = actor
        return Task.name
      }
      let detached = Future.detached(name: "detached") { Task.name }
      let immediate = Future.immediate(name: "immediate") {
        _ = actor
        return Task.name
      }
      let none = Future {
        _ = actor
        return Task.name
      }
      return await [inheriting.value, detached.value, immediate.value, none.value]
    }
    #expect(names == ["inheriting", "detached", "immediate", nil])
  }
}
