internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct ActorContextTests {
  private actor Log {
    var numbers: [Int] = []

    func append(_ number: Int) { numbers.append(number) }
  }

  @Test("R2: `.actor` runs callbacks isolated to the actor", arguments: Home.allCases)
  func actorContextIsIsolated(home: Home) async {
    let actor = home.make()
    let inbox = Inbox<Bool>()
    let promise = Promise<Int, any Error>()
    let isHome: @Sendable () -> Bool = { isReallyOn(actor, isolation: actor) }
    promise.future.whenResolved(on: context(of: actor)) { _ in inbox.send(isHome()) }
    promise.succeed(1)
    promise.future.whenResolved(on: context(of: actor)) { _ in inbox.send(isHome()) }
    #expect(await inbox.next(2) == [true, true])
    #expect((try? await promise.future.map(on: context(of: actor)) { _ in isHome() }.value) == true)
  }

  private func context(of actor: any Actor) -> ExecutionContext {
    func make(_ actor: some Actor) -> ExecutionContext { .actor(actor) }
    return make(actor)
  }

  @Test(
    "R2: `Future(on: actor)` isolates its closure to the actor, in the order of creation, and has its value or error"
  )
  func futureOnAnActor() async {
    let log = Log()
    var reads: [Future<Int?, Never>] = []
    for number in 0..<100 {
      _ = Future(on: log) { $0.append(number) }
      reads.append(Future(on: log) { $0.numbers.last })
    }
    #expect(await Future.all(reads).value == Array(0..<100))
    let failed = Future<Int, TestError>(on: log) { (log) throws(TestError) in throw TestError(log.numbers.count) }
    #expect(await failed.result == .failure(TestError(100)))
  }

  @Test("Callbacks that attach themselves again and again do not starve a call of the actor")
  func fairness() async {
    let log = Log()
    let ends = Inbox<Bool>()
    let hasHit = Locked(false)
    @Sendable func run(_ number: Int) {
      // From here on, the call is a job of the actor.
      if number == 1 { log.assumeIsolated { log in Self.start(on: log) { hasHit.withLock { $0 = true } } } }
      let isOver = hasHit.withLock { $0 }
      // Bounded, so that the test detects a starved call.
      if isOver || number == 100_000 { return ends.send(isOver) }
      Future.succeeded(number).whenSucceeded(on: .actor(log)) { run($0 + 1) }
    }
    for _ in 0..<2 { Future.succeeded(0).whenSucceeded(on: .actor(log)) { run($0 + 1) } }
    #expect(await ends.next(2) == [true, true])
  }

  /// Starts a task on `log`, in its turn.
  private static func start(on log: isolated Log, _ body: @escaping @Sendable () -> Void) {
    Task {
      _ = log
      body()
    }
  }

  @Test("R5: an actor is released when its work has run")
  func actorIsReleasedAfterItsWork() async {
    let inbox = Inbox<String>()
    do {
      let actor = Mortal { inbox.send("deinit") }
      Future.succeeded(1).whenResolved(on: .actor(actor)) { _ in
        actor.preconditionIsolated()
        inbox.send("ran")
      }
    }
    #expect(await inbox.next(2) == ["ran", "deinit"])
  }

  private actor Mortal {
    let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
  }

  // MARK: - Tasks

  @Test("R2: `.task` runs each callback once, in its own task, which inherits nothing and has the given priority")
  func taskContextInheritsNothing() async {
    let inbox = Inbox<Int>()
    let surroundings = Inbox<Surroundings>()
    let promise = Promise<Int, Never>()
    for number in 0..<500 {
      promise.future.whenResolved(on: .task()) { _ in inbox.send(number) }
    }
    promise.future.whenResolved(on: .task()) { _ in surroundings.send(Surroundings()) }
    Local.$name.withValue("resolver") { _ = promise.succeed(1) }
    #expect(await inbox.next(500).sorted() == Array(0..<500))
    #expect(await surroundings.next() == Surroundings(local: "none", isCancelled: false, isInTask: true))
    let priorities = Inbox<TaskPriority>()
    for priority in [TaskPriority.background, .high] {
      promise.future.whenResolved(on: .task(priority: priority)) { _ in priorities.send(Task.basePriority ?? .low) }
      #expect(await priorities.next() == priority)
    }
  }
}
