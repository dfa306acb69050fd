internal import CFuturesTesting
internal import Dispatch
internal import Futures

/// The body of a test, as the explorer runs it.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
typealias OrderBody = @isolated(any) (Orders) async throws -> Void

/// One run of the body, in one order.
///
/// | part | what it does |
/// |---|---|
/// | the agenda | keeps the work that contexts, timers and tasks have submitted (`OrderAgenda`) |
/// | a move | `nextMove()` selects an item of the agenda, and `makeMove(of:)` runs it to its end |
/// | the end | the body has returned or thrown, nothing is left to run, a bound is reached, or work came from outside. Then the remaining work runs without choices: `nextRemainingItem()` |
///
/// The thread of the search decides and makes the moves. It waits while a move of the main queue runs on the main thread.
/// Other threads can only submit work, and that ends the run with a failure.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class OrderRun: @unchecked Sendable {
  // @unchecked: `state` is locked. Only the thread that makes the moves uses the other variables.

  typealias Item = OrderAgenda.Item

  /// Gets the possible moves, sorted, and the index of the one that was submitted first; returns the index of the next move.
  typealias Chooser = (_ run: OrderRun, _ possible: [OrderMove], _ first: Int) throws(OrderStray) -> Int

  struct State {
    var agenda = OrderAgenda()

    /// The numbers of the tasks, by the identifiers of the runtime.
    var tasks: [Int: Int32] = [:]

    /// The tasks, with names and places where the order of the run is shown.
    var namedTasks: [Int32: OrderTask] = [:]

    var waitersOfRunAll: [UnsafeContinuation<Void, Never>] = []

    /// Describes the first interference of another thread.
    var interference: (@Sendable () -> String)?

    var move: Move?
    var left: [OutsideNotice] = []

    /// The work outside that has not ended, and for which the run waits.
    var outside: [ObjectIdentifier: OutsideWork] = [:]
    /// The stand-ins for Dispatch queues, by their labels.
    var queues: [String: VirtualQueue] = [:]
    /// How many queues the code has made itself, by their labels.
    var madeQueues: [String: Int] = [:]

    /// The notes of the test, by the index of the move in `trace`.
    var notes: [Int: [String]] = [:]

    var result: Result<Void, any Error>?
    /// Whether the order has ended, and the remaining work runs without choices.
    var isEnding = false

    /// Says whether new work is dropped: after the end of the run.
    var closing = Closing()
    var isOver: Bool { closing.isClosed }
  }

  /// The greatest number of decisions in an order; after them the order is that of submission, so that a loop can end.
  static let maximumDecisions = 1_000

  /// The greatest number of turns: of moves, of parts of tasks without a decision, and of ends of `runAll`.
  ///
  /// 25 moves that are possible at a turn count as another one: the limit for 1,000 simultaneous tasks.
  static let maximumTurns = 20_000

  let state = Locked(State())

  /// Signalled when another thread submits work, or when work outside ends.
  let arrivals = DispatchSemaphore(value: 0)

  /// The task whose job runs now; `nil` for a job of an actor.
  var running: Int32?

  /// Whether the next job of this thread runs next without a decision: the job continues the present step, or begins the body.
  var awaitsFollowUp = false
  /// The item that runs next without a decision.
  var followUp: Item?

  /// Whether an actor has run calls.
  private(set) var callsActors = false
  /// The report's phrases for work that was not explored, except for calls of actors and for work outside.
  private(set) var unexplored: Set<String> = []

  private(set) var turns = 0

  private(set) var trace: [OrderMove] = []
  /// The decisions: the hash of those before, the possible moves, sorted, and the index of the move that came next.
  private(set) var decisions: [(hash: UInt64, possible: [OrderMove], index: Int)] = []
  /// The decisions against the order of submission: their places in `trace`, and the number of decisions up to the last of them.
  private(set) var deviations: Set<Int> = [], lastDeviation = 0
  /// The string that repeats the order: the decisions up to the last one in `deviations`, and a checksum (FNV-1a).
  ///
  /// The checksum covers the moves that were possible at these decisions, so it shows whether a changed body still has the order.
  var string: String {
    let needed = decisions.prefix(lastDeviation)
    if needed.isEmpty { return "" }
    let offers = needed.map { $0.possible.names().joined(separator: ",") }.joined(separator: ";")
    let checksum = offers.utf8.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    return needed.map { "\($0.index)." }.joined() + String(checksum % 0x1_0000, radix: 16)
  }
  /// Identifies the order so far: a hash of the decisions.
  private(set) var hash: UInt64 = 0
  /// A lower bound of the number of orders: each decision could have been another one.
  private(set) var knownOrders = 1
  /// The dependencies in a run that ended in a deadlock.
  private(set) var waitForGraph: WaitForGraph?

  /// Why the run has failed, if it has; for an endless run also a sentence.
  var reason: OrderFailure.Reason?
  private(set) var sentence: String?
  /// Whether `makeMoves()` returns: no move comes next.
  private var hasEnded = false
  /// At this number of turns the run, or the work that it left, is endless.
  private var turnLimit = OrderRun.maximumTurns
  /// Whether the timers were dropped: the work that follows from that is not the body's, and the report does not count it.
  private var isTearingDown = false

  private var start = DispatchTime.distantFuture
  /// The real time of `ContinuousClock` at the beginning, in nanoseconds.
  private let startTime = cfuturestesting_real_time()
  private let isOnMain: Bool
  /// Whether the order of this run is shown: it keeps notes and the names of tasks, and lists the pending futures of a deadlock.
  let isShown: Bool
  let watch: OrderWatch
  private var chooser: Chooser

  /// Makes a run of a body, which is isolated to the main actor if `isOnMain`; all runs share the watch.
  init(_ watch: OrderWatch, isOnMain: Bool, isShown: Bool, _ chooser: @escaping Chooser) {
    (self.watch, self.isOnMain, self.isShown, self.chooser) = (watch, isOnMain, isShown, chooser)
  }

  /// Whether the calling thread runs a move of this run.
  var isOnOwnThread: Bool { cfuturestesting_run() == Unmanaged.passUnretained(self).toOpaque() }

  /// Runs the body in the order that the chooser decides, ends the remaining work, and stores the reason of a failure.
  func perform(_ body: @escaping OrderBody) {
    if isOnMain, !Self.controlsDispatch {
      let sentence = "The body is on the main actor, which is controlled on Linux only, and without a sanitizer."
      return reason = .uncontrolled(sentence)
    }
    setActive(true)  // so that a job from another thread finds this run, by its task
    defer { setActive(false) }
    // Not a data race: one run has one body, and the parts of the body are moves, which run one at a time.
    nonisolated(unsafe) let body = body
    let orders = Orders(run: self)
    // Callbacks and timers of `.main` are moves of the run.
    MainContext.replace(with: context(.main)) {
      awaitsFollowUp = true  // the next job begins the body: it needs no decision
      // The task inherits the task-local values of the caller, by which a test library finds the test.
      let task = inMove {
        start = .now()  // by the clock that the moves see
        return Task(executorPreference: self) { await self.run(body, orders, on: body.isolation) }
      }
      awaitsFollowUp = isOnMain  // no decision either: the body's change to the main actor is the only job
      makeMoves(selectedBy: nextMove)
      endRemainingWork(of: task)
    }
    reason = reason ?? interferenceSentence.map { .uncontrolled($0) }  // a thread can interfere after the last move
    if reason == nil, !leftTasks.isEmpty {
      unexplored.insert("tasks that stay suspended, or that a variable still holds")
    }
    // Releases the search and the body, because a task that stays suspended keeps the run.
    chooser = { _, _, first in first }
  }

  /// Runs the body, and stores its result while still on the body's actor: the change back would be one more move.
  private func run(_ body: OrderBody, _ orders: Orders, on actor: isolated (any Actor)?) async {
    do {
      try await body(orders)
      state.withLock { $0.result = .success(()) }
    } catch {
      state.withLock { $0.result = .failure(error) }
    }
  }

  // MARK: - Moves

  /// Makes moves, each on the thread of the search or the main thread, until `end(_:)` is called.
  private func makeMoves(selectedBy next: () -> Item?) {
    hasEnded = false  // the second call runs the work that the order has left
    while !hasEnded {
      turns += 1
      // At the limit `next` ends the run, even if a follow-up is left: a task that changes its executor for ever always has one.
      var item = turns < turnLimit ? followUp.take() : nil  // a follow-up needs no decision
      if item == nil {
        waitForOutside()
        item = next()
      }
      guard let item else { continue }  // the end, or `next` has to look again
      watch.measure {
        if item.isOnMain { runOnMain { self.makeMove(of: item) } } else { makeMove(of: item) }
      }
    }
  }

  /// Lets `makeMoves()` return, and keeps the first reason of a failure; returns `nil`, for callers that return an item.
  @discardableResult
  private func end(_ reason: OrderFailure.Reason?) -> Item? {
    self.reason = self.reason ?? reason
    hasEnded = true
    return nil
  }

  /// Returns an item that resumes the first waiting call of `runAll()`, or `nil`; its move is a placeholder outside the order.
  private func takeWaiterOfRunAll() -> Item? {
    let waiter = state.withLock { $0.waitersOfRunAll.isEmpty ? nil : $0.waitersOfRunAll.removeFirst() }
    return waiter.map {
      Item(number: 0, move: OrderMove(source: .body, ordinal: 0), lane: nil, due: nil, action: .step($0))
    }
  }

  /// Decides which item comes next, and appends its move to `trace`; `nil` at the end, or if another thread removed the item.
  private func nextMove() -> Item? {
    let (interference, result, possible) = state.withLock { ($0.interference, $0.result, $0.agenda.possible) }
    if let interference { return end(.uncontrolled(interference())) }
    switch result {
    case .success: return end(nil)
    case .failure(let error): return end(.thrown(error))
    case nil: break
    }
    turns += possible.count / 25  // 25 possible moves count as another turn, so that too many tasks end the run
    if turns >= turnLimit {  // the text names 100 or more possible moves as the reason: they add four turns to each
      let tooMany = " \(possible.count.grouped) moves can come next: these are too many to explore."
      sentence = "The body made \(trace.count.grouped) moves and did not end.\(possible.count < 100 ? "" : tooMany)"
      return end(.endless)
    }
    guard !possible.isEmpty else {
      if let waiter = takeWaiterOfRunAll() { return waiter }  // nothing is left: a call of `runAll()` returns
      return end(deadlock())
    }
    do {
      let index = possible.count > 1 ? try choose(possible.map { $0.move }) : 0
      trace.append(possible[index].move)
      return state.withLock { $0.agenda.take(possible[index].number) }
    } catch {
      return end(.notDeterministic(error.sentence))
    }
  }

  /// Decides which move comes next, and returns its index in `possible`, which is in the order of submission.
  private func choose(_ possible: [OrderMove]) throws(OrderStray) -> Int {
    guard decisions.count < Self.maximumDecisions else {
      unexplored.insert("what comes after the first \(Self.maximumDecisions.grouped) decisions of an order")
      // Every 16th move is the last possible one, because it can be a timer for which a loop waits.
      return trace.count.isMultiple(of: 16) ? possible.count - 1 : 0
    }
    // Sorted, because equal runs can submit work in different orders, for example in that of a dictionary.
    let sorted = possible.sorted()
    let first = sorted.firstIndex(of: possible[0]) ?? 0
    let index = try chooser(self, sorted, first)
    decisions.append((hash, sorted, index))
    if sorted[index] != possible[0] {  // not in the order of submission
      deviations.insert(trace.count)
      lastDeviation = decisions.count
    }
    var mixer = SplitMix64(seed: hash ^ UInt64(index + 1))  // `hash` identifies the decisions so far
    hash = mixer.next()
    knownOrders += possible.count - 1  // each other choice begins another order
    return possible.firstIndex(of: sorted[index]) ?? 0
  }

  /// Returns why the body waits although no move is possible; a run that is shown to the user also lists the awaited futures.
  private func deadlock() -> OrderFailure.Reason {
    if let outsideWaitSentence { return .uncontrolled(outsideWaitSentence) }  // it waits for work outside the run
    guard isShown else { return .deadlock(waiting: []) }
    // If the body is on the main actor, moves run on two threads, so the graph covers all threads.
    waitForGraph = FuturesDiagnostics.graph(since: start, ofThread: isOnMain ? nil : .ofCurrentThread)
    return .deadlock(waiting: PendingFutures.shared.awaited(since: start, ofThisThread: !isOnMain))
  }

  /// Runs an item on the calling thread, to its end.
  private func makeMove(of item: Item) {
    inMove {
      switch item.action {
      case .work(let work): work()
      case .job(let job, let task):
        running = task
        if item.isOnMain { return job.runSynchronously(on: MainActor.sharedUnownedExecutor) }
        // An actor's job, not that of a `Task.yield()`. The report names other work during a change of actors as not explored.
        if task == nil, !job.resumesTask { callsActors = true }
        job.runSynchronously(on: asUnownedTaskExecutor())
      case .step(let continuation):
        awaitsFollowUp = true  // the job of the task that waits in `step` or `runAll` runs next
        continuation.resume()
      }
    }
    (running, awaitsFollowUp) = (nil, false)  // the second is still `true` if the step's task continues elsewhere
  }

  /// Makes a delivery a move of its own: if a task resolves a future, the callbacks run outside the task (R8).
  private lazy var submitDelivery: Trampoline.Elsewhere = { [unowned self] delivery in
    submit { $0.add(.work(delivery), named: .other("delivery")) }  // needs no `outside`: only a move submits here
  }

  /// Runs a move on the calling thread, which meanwhile belongs to this run and has its time.
  func inMove<Result>(_ move: () -> Result) -> Result {
    cfuturestesting_set_run(Unmanaged.passUnretained(self).toOpaque())
    _ = Trampoline.current.setElsewhere(submitDelivery)  // returns `nil`, because moves do not nest on a thread
    let present = Move(turn: turns, thread: cfuturestesting_thread_number())
    let now = state.withLock { state in
      state.move = present  // work that the move submits to a Dispatch queue waits until the move ends or blocks
      return state.agenda.now.nanoseconds
    }
    cfuturestesting_set_time(startTime + min(now, .max / 2))  // at most 146 years: larger times overflow
    let result = move()
    state.withLock { $0.move = nil }
    cfuturestesting_set_time(-1)  // the real time
    _ = Trampoline.current.setElsewhere(nil)
    cfuturestesting_set_run(nil)
    return result
  }

  // MARK: - The end

  private static let endlessRest = """
    The body returned, but the work that it left did not end: it went on for \((maximumTurns / 2).grouped) moves after it. \
    A loop has to end when its timer fails, because the timers that are left fail with BrokenPromise. Or cancel the loop, and \
    `try await orders.runAll()` before the body returns.
    """

  private static let leftWork = """
    the work that the body left behind (release what the body holds, and then end the work by `try await orders.runAll()`)
    """

  /// Runs the remaining work without choices, and drops its timers, so that all tasks can end, also the body's `task`.
  private func endRemainingWork(of task: Task<Void, Never>) {
    state.withLock { $0.isEnding = true }
    if reason != nil { watch.measure { inMove { task.cancel() } } }  // a move: cancellation handlers run here
    turnLimit = turns + Self.maximumTurns / 2  // work that goes on for more turns is endless
    makeMoves(selectedBy: nextRemainingItem)  // `nextRemainingItem` drops the timers when no other work is ready
    var (items, queues) = state.withLock { state in
      defer { state.queues = [:] }
      state.closing.isClosed = true
      return (state.agenda.takeAll { _ in true }, state.queues)  // items are left only at `turnLimit`
    }
    if !items.isEmpty || !queues.isEmpty { release { (items, queues) = ([], [:]) } }  // this can break futures
  }

  /// Returns the next item of the remaining work; `nil` if none is left, or if the caller has to look again.
  private func nextRemainingItem() -> Item? {
    guard turns < turnLimit else {
      if reason == nil { sentence = Self.endlessRest }
      return end(.endless)
    }
    if let waiter = takeWaiterOfRunAll() { return waiter }  // first: endless work must not keep the body waiting
    // Numbers only, not the items, because `release` below has to drop the last reference to each timer.
    let (next, count, hasDelay, hasResult) = state.withLock { state in
      let possible = state.agenda.possible
      return (possible.first?.number, possible.count, possible.first?.due != nil, state.result != nil)
    }
    // `count > 1`, because one item has only one order. `reason == nil`, because `leftWork` is advice for a body that has returned.
    if !isTearingDown, reason == nil, count > 1 { unexplored.insert(Self.leftWork) }
    if let next, !hasDelay { return state.withLock { $0.agenda.take(next) } }  // delayed items come last
    // Work outside the run can still resume the body. Wait a moment, because the body has to end before its test does.
    if case .uncontrolled? = reason, !hasResult, arrivals.wait(timeout: .now() + .milliseconds(200)) == .success {
      return nil  // the caller looks again
    }
    // No work is ready, so the timers are dropped.
    var timers = state.withLock { $0.agenda.takeAll(where: \.isTimer) }
    if !timers.isEmpty {
      isTearingDown = true  // the work that the broken futures submit is not the body's, so the report leaves it out
      release { timers = [] }
      return nil  // the caller looks for the work that follows
    }
    // Only a sleeping task is left. It runs before its time, so that it can end.
    if let next { return state.withLock { $0.agenda.take(next) } }
    return end(nil)
  }

  /// Releases work that never runs: in a move, because this can break futures, whose callbacks run here and can submit work.
  private func release(_ drop: () -> Void) {
    FuturesDiagnostics.breakObservers.excuse(onThreadsWhere: { [self] in isOnOwnThread }) {  // left work is no mistake
      watch.measure { inMove(drop) }  // `watch` ends the search if a callback never returns
    }
  }
}
