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
/// | a move | `decide()` selects an item of the agenda, and `perform(_:)` runs it to its end |
/// | the end | the body has returned or thrown, nothing is left to run, a bound is reached, or work came from outside (`Verdict`). Then `unwind` runs the work that is left, without choices |
///
/// One thread makes the moves: that of the search, or the main thread for work of the main queue, while the other one waits.
/// Other threads can only submit work, and that ends the run with a failure.
///
/// Where the main queue is not controlled (`controlsMain`), a body on the main actor runs there on its own. Then the run waits
/// before each move until the main queue has no earlier work, and the main queue waits during the move.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class OrderRun: @unchecked Sendable {
  // @unchecked: `state` is locked. Only the thread that makes the moves uses the other variables.

  /// How a run ended.
  enum Verdict {
    case returned
    case threw(any Error)
    /// The body waits, and nothing is left to run.
    case deadlock(waiting: [String])
    /// Another thread has submitted work, or a job.
    case uncontrolled(String)
    /// The run exceeded a bound; with the failure's sentence.
    case endless(String)
    /// The run cannot take the order that it should take.
    case strayed(any Error)
  }

  /// Gets the possible moves, sorted, and the index of the one that was submitted first; returns the index of the next move.
  typealias Chooser = (_ possible: [OrderMove], _ first: Int) throws -> Int

  /// What comes next.
  private enum Next {
    case move(OrderAgenda.Place)
    /// Nothing can come next.
    case nothing
    case end(Verdict)
  }

  struct State {
    var agenda = OrderAgenda()

    /// The numbers of the tasks, by the identifiers of the runtime.
    var tasks: [Int: Int32] = [:]

    /// Names and places of tasks, where the order of the run is shown.
    var namedTasks: [Int32: OrderTask] = [:]

    /// The continuations of `runAll`.
    var waitersOfRunAll: [UnsafeContinuation<Void, Never>] = []

    /// The first interference of another thread.
    var interference: Interference?

    /// The move that runs now, and the number of the last one.
    var move: Move?
    var lastMove = 0

    var outside = OutsideState()

    /// The stand-ins for Dispatch queues, by their labels.
    var queues: [String: VirtualQueue] = [:]
    /// How many queues the code has made itself, by their labels.
    var madeQueues: [String: Int] = [:]

    /// The notes of the test, by the index of the move in `trace`; `-1` before the first move.
    var notes: [Int: [String]] = [:]

    var result: Result<Void, any Error>?
    var isUnwinding = false

    /// Says whether new work is dropped: after the end of the run.
    var closing = Closing()
    var isOver: Bool { closing.isClosed }
  }

  /// The greatest number of decisions in an order; after them the order is that of submission, so that a loop can end.
  static let maximumDecisions = 1_000

  /// The greatest number of moves in a run.
  static let maximumMoves = 20_000

  /// The greatest number of turns in a run: of moves, of parts of tasks without a decision, and of ends of `runAll`.
  static let maximumTurns = 2 * maximumMoves

  /// The greatest sum of the moves that were possible at each decision: a run of 1,400 simultaneous tasks has a million.
  static let maximumAlternatives = 1_000_000

  /// The greatest number of turns after the body.
  static let maximumTurnsOfTheRest = 10_000

  let names: OrderNames

  /// The thread of the search, which makes the run.
  let thread = cfuturestesting_thread_number()

  let state = Locked(State())

  /// Signalled when another thread submits work, or ends the body.
  let arrivals = DispatchSemaphore(value: 0)

  /// The task whose job runs now; `nil` for a job of an actor.
  var running: Int32?

  /// The job that follows without a decision.
  var followUp = FollowUp.none

  /// Whether the body has not reached the main actor yet.
  var isStarting: Bool

  /// Whether an actor has run calls, and whether the body left behind work with several orders.
  var callsActors = false, hasLeftChoices = false

  /// The number of turns so far, and of the moves that were possible at them.
  var turns = 0
  private(set) var alternatives = 0

  /// From this number of turns on, each following part of a task is a move, so that the loop can end.
  var turnLimit = OrderRun.maximumTurns

  /// Whether the work that the body left behind has ended, and whether the main thread did not come in a minute.
  private(set) var hasSettled = true
  var isMainStuck = false

  private(set) var trace: [OrderMove] = [], choices: [OrderChoice] = []
  /// The moves that left the order of submission, by their places in `trace`, and the number of decisions up to the last of them.
  private(set) var deviations: Set<Int> = [], lastDeviation = 0
  /// Identifies the decisions.
  private(set) var hash: UInt64 = 0
  /// A lower bound of the number of orders: each decision could have been another one; and an estimate of the number.
  private(set) var knownOrders = 1, estimatedOrders = 1.0
  /// Whether moves came after `maximumDecisions`.
  private(set) var isCut = false

  /// Makes the decisions while the run makes moves; `strayed` says why it could not make one.
  private var chooser: Chooser?
  private var strayed: (any Error)?
  /// The decision of the main thread that the thread of the search performs.
  private var decided: Next?

  /// The real time of `ContinuousClock` at the beginning, in nanoseconds.
  private let startTime = cfuturestesting_real_time()
  private let start = DispatchTime.now()
  /// The dependencies in a run that ended in a deadlock.
  private(set) var waitForGraph: WaitForGraph?
  private let usesMain: Bool
  /// Whether the body is on the main actor, and the run does not perform the work of the main queue.
  let isOnMain: Bool
  /// Whether the order of this run is shown: it keeps notes and the names of tasks, and lists the pending futures of a deadlock.
  let isShown: Bool
  private let waitsForOthers: Bool
  let outsidePatience: OutsidePatience
  /// Ends the search if a move does not return.
  var watch: (watch: OrderWatch, failure: @Sendable (String) -> OrderFailure)?

  /// Makes a run.
  /// - Parameters:
  ///   - names: The names of the moves, shared by all runs.
  ///   - isOnMain: Whether the body is isolated to the main actor.
  ///   - isShown: Whether the order of the run is shown.
  ///   - waitsForOthers: Whether a run without moves waits for other threads, to tell a deadlock from outside work.
  ///   - outsidePatience: How long to wait for work that has left the run.
  init(names: OrderNames, isOnMain: Bool, isShown: Bool, waitsForOthers: Bool, outsidePatience: OutsidePatience) {
    (self.names, self.isShown, self.waitsForOthers) = (names, isShown, waitsForOthers)
    self.outsidePatience = outsidePatience
    usesMain = isOnMain
    isStarting = isOnMain
    self.isOnMain = isOnMain && !Self.controlsMain
  }

  /// Whether the caller's thread is one of the run.
  var isOnOwnThread: Bool { isOnThreadOfMoves || (isOnMain && MainContext.isMainQueueCurrent) }

  /// Whether the caller's thread performs the moves.
  var isOnThreadOfMoves: Bool { cfuturestesting_run() == Unmanaged.passUnretained(self).toOpaque() }

  /// Runs the body once.
  func perform(_ body: @escaping OrderBody, choosing choose: Chooser) -> Verdict {
    withMainContext { performMoves(body, choosing: choose) }
  }

  private func performMoves(_ body: @escaping OrderBody, choosing choose: Chooser) -> Verdict {
    let previous = cfuturestesting_run()
    cfuturestesting_set_run(Unmanaged.passUnretained(self).toOpaque())
    setActive(true)
    defer {
      setActive(false)
      cfuturestesting_set_run(previous)
    }
    // The task inherits the task-local values of the caller, by which a test library finds the test.
    nonisolated(unsafe) let body = body
    let orders = Orders(run: self)
    followUp = .next
    let task = Task(executorPreference: self) { await self.run(body, orders, on: body.isolation) }
    let verdict = withoutActuallyEscaping(choose) { choose in
      chooser = choose
      defer { chooser = nil }
      inMove { runFollowUp() }
      isStarting = false
      return makeMoves()
    }
    hasSettled = unwind(task, after: verdict)
    close()
    guard case .returned = verdict else { return verdict }
    if let sentence = interferenceSentence { return .uncontrolled(sentence) }
    return hasSettled ? verdict : .endless(Self.endlessRest)
  }

  /// Runs the body, and keeps its result while still on the body's actor, so that the way back is no move of the order.
  private func run(_ body: OrderBody, _ orders: Orders, on actor: isolated (any Actor)?) async {
    do {
      try await body(orders)
      end(.success(()))
    } catch {
      end(.failure(error))
    }
  }

  private func end(_ result: Result<Void, any Error>) {
    state.withLock { $0.result = result }
    signalArrival()
  }

  // MARK: - Moves

  private func makeMoves() -> Verdict {
    var patience = Self.patience
    while true {
      switch decided.take() ?? settleAndDecide() {
      case .move(let place): perform(place)
      case .end(let verdict): return verdict
      case .nothing:
        if resumeWaitersOfRunAll() || waitForOthers(&patience) { continue }
        return deadlock()
      }
    }
  }

  private func settleAndDecide() -> Next {
    guard settleMain() else {
      return .end(.uncontrolled("The main thread is blocked, and the body is on the main actor."))
    }
    waitForOutside()
    return decide()
  }

  /// Decides what comes next.
  ///
  /// A move that comes next is from now on a part of the order.
  private func decide() -> Next {
    turns += 1
    if let sentence = interferenceSentence { return .end(.uncontrolled(sentence)) }
    let (result, possible) = state.withLock { ($0.result, $0.agenda.possible) }
    switch result {
    case .success: return .end(.returned)
    case .failure(let error): return .end(.threw(error))
    case nil: break
    }
    guard trace.count < Self.maximumMoves, turns < Self.maximumTurns else {
      let turns = trace.count < Self.maximumMoves ? " in \(Self.maximumTurns.grouped) turns" : ""
      return .end(.endless("The body made \(trace.count.grouped) moves\(turns) and did not end."))
    }
    alternatives += possible.count
    guard alternatives < Self.maximumAlternatives else {
      let many = "\(possible.count.grouped) moves can come next: these are too many to explore."
      return .end(.endless("The body made \(trace.count.grouped) moves and did not end. \(many)"))
    }
    guard !possible.isEmpty else { return .nothing }
    let index = possible.count > 1 ? choose(possible.map(\.move)) : 0
    if let strayed { return .end(.strayed(strayed)) }
    if index > 0 { deviations.insert(trace.count) }
    trace.append(possible[index].move)
    return .move(possible[index].place)
  }

  /// Decides between moves that are in the order of submission.
  private func choose(_ possible: [OrderMove]) -> Int {
    guard let chooser else { return 0 }
    guard choices.count < Self.maximumDecisions else {
      isCut = true
      // A timer, which comes last, has its turn too: a loop can wait for it.
      return trace.count.isMultiple(of: 16) ? possible.count - 1 : 0
    }
    // Sorted, because equal runs can submit work in different orders, for example in that of a dictionary.
    let sorted = possible.sorted()
    do {
      let index = try chooser(sorted, sorted.firstIndex(of: possible[0]) ?? 0)
      choices.append(OrderChoice(letter: names.letter(sorted[index]), index: index))
      var mixer = SplitMix64(seed: hash ^ UInt64(index + 1))
      hash = mixer.next()
      knownOrders += possible.count - 1
      estimatedOrders *= Double(possible.count)
      let place = possible.firstIndex(of: sorted[index]) ?? 0
      if place > 0 { lastDeviation = choices.count }
      return place
    } catch {
      strayed = error
      return 0
    }
  }

  private func deadlock() -> Verdict {
    if let outsideWait { return .uncontrolled(outsideWait) }
    guard isShown else { return .deadlock(waiting: []) }
    waitForGraph = FuturesDiagnostics.graph(since: start, ofThread: usesMain ? nil : .ofCurrentThread)
    let waiting = PendingFutures.shared.awaited(since: start, ofThisThread: !usesMain)
    return .deadlock(waiting: waiting)
  }

  private func perform(_ place: OrderAgenda.Place) {
    guard let item = state.withLock({ $0.agenda.take(place) }) else { return }
    withMainWaiting {
      switch item.action {
      case .work(let work): work()
      case .job(let job): run(job)
      case .step(let continuation): resume(continuation)
      case .main(let work): perform(work)
      case .workOnMain(let work): perform(MainWork(work))
      }
    }
  }

  /// Returns the work of the main queue that comes directly after such work, so that the main thread goes on with it.
  ///
  /// Another decision waits for the thread of the search.
  func nextMainWork() -> MainWork? {
    let isPossible = state.withLock { $0.agenda.hasMainWork && !$0.outside.hasWork && $0.result == nil }
    guard isPossible, chooser != nil, !isMainStuck else { return nil }
    let next = decide()
    if case .move(let place) = next, state.withLock({ $0.agenda.isMain(place) }),
      case .main(let work)? = state.withLock({ $0.agenda.take(place) })?.action
    {
      return work
    }
    decided = next
    return nil
  }

  /// Runs a move, or a part of it, on the calling thread.
  func inMove(_ move: () -> Void) {
    let previous = cfuturestesting_run()
    cfuturestesting_set_run(Unmanaged.passUnretained(self).toOpaque())
    // The delivery of a future outside the task that resolves it becomes a move of its own.
    let elsewhere = Trampoline.current.setElsewhere { [unowned self] delivery in
      _ = submit("", { $0.submit(.work(delivery), named: self.names.source("delivery")) })
    }
    // At most a century: larger times overflow.
    let (seconds, attoseconds) = min(now, .seconds(3_155_760_000)).components
    cfuturestesting_set_time(startTime + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    let thread = cfuturestesting_thread_number()
    let outer = state.withLock { state in
      defer { state.move = Move(number: state.lastMove, thread: thread) }
      state.lastMove += 1
      return state.move
    }
    let isOnMain = MainContext.isMainQueueCurrent
    let watched = watch?.watch.exchange(watch.map { .init(thread: thread, isOnMain: isOnMain, failure: $0.failure) })
    move()
    _ = watch?.watch.exchange(watched ?? nil)
    state.withLock { $0.move = outer }
    cfuturestesting_set_time(-1)
    _ = Trampoline.current.setElsewhere(elsewhere)
    cfuturestesting_set_run(previous)
  }

  /// Resumes the callers of `runAll`, because nothing is left to run.
  private func resumeWaitersOfRunAll() -> Bool {
    let waitersOfRunAll = state.withLock { state in
      defer { state.waitersOfRunAll = [] }
      return state.waitersOfRunAll
    }
    withMainWaiting {
      for waiter in waitersOfRunAll { resume(waiter) }
    }
    return !waitersOfRunAll.isEmpty
  }

  // MARK: - Other threads

  /// How often a run without moves waits 10 ms for other threads.
  private static let patience = 20

  /// Waits for another thread, for a limited time.
  ///
  /// The time in which other work keeps the main queue busy does not count: the body's next job can be behind it.
  /// - Parameter patience: How many waits of 10 ms are left.
  /// - Returns: Whether to look for moves again.
  private func waitForOthers(_ patience: inout Int) -> Bool {
    guard waitsForOthers || isOnMain else { return false }
    while patience > 0 {
      patience -= 1
      if arrivals.wait(timeout: .now() + .milliseconds(10)) == .success || !settleMain() { return true }
    }
    return false
  }

  /// Ends the wait for other threads, of which the main thread is one.
  func signalArrival() {
    if !isOnThreadOfMoves { arrivals.signal() }
  }

  private var interferenceSentence: String? {
    let (interference, left) = state.withLock { ($0.interference, $0.outside.left) }
    return interference?.sentence(after: left)
  }

  // MARK: - The end

  private static let endlessRest = """
    The body returned, but the work that it left did not end: it went on for \(maximumTurnsOfTheRest.grouped) moves after it. \
    A loop has to end when its timer fails, because the timers that are left fail with BrokenPromise. Or cancel the loop, and \
    `try await orders.runAll()` before the body returns.
    """

  /// Ends the body, runs its remaining work without choices, and drops its timers, so that its tasks can end.
  /// - Returns: Whether nothing is left to run.
  private func unwind(_ task: Task<Void, Never>, after verdict: Verdict) -> Bool {
    state.withLock { $0.isUnwinding = true }
    if case .returned = verdict {} else { task.cancel() }
    turnLimit = turns + Self.maximumTurnsOfTheRest
    var patience = Self.patience
    var isTearingDown = false
    while turns < turnLimit {
      turns += 1
      guard settleMain() else { return false }
      waitForOutside()
      let (possible, hasEnded) = state.withLock { ($0.agenda.possible, $0.result != nil) }
      if !isTearingDown, case .returned = verdict, possible.count > 1 { hasLeftChoices = true }
      if resumeWaitersOfRunAll() { continue }  // before other work: endless work must not keep the body waiting
      switch possible.first?.place {
      case .context(let index)?: perform(.context(index))
      case .unordered(let index)?: perform(.unordered(index))
      case .timer?, nil:
        if case .uncontrolled = verdict, !hasEnded, waitForOthers(&patience) { continue }
        // From now on, futures break because the run ends. That is no work of the body.
        if dropTimers() {
          isTearingDown = true
        } else if state.withLock({ $0.agenda.hasTimers }) {
          perform(.timer)  // a sleeping task: it has to end
        } else {
          return true
        }
      }
    }
    return false
  }

  /// Drops the timers, which breaks their futures.
  /// - Returns: Whether there were any.
  private func dropTimers() -> Bool {
    var timers = state.withLock { $0.agenda.removeTimers() }
    guard !timers.isEmpty else { return false }
    withMainWaiting { release(&timers) }
    return true
  }

  /// Releases the work that never runs.
  private func close() {
    var (items, queues) = state.withLock { state in
      defer { state.queues = [:] }
      state.closing.isClosed = true
      return (state.agenda.removeAll(), state.queues)
    }
    guard !items.isEmpty || !queues.isEmpty else { return }
    release(&items) { queues = [:] }
  }

  /// Releases work: its futures break, and nothing is reported, because the user has made no mistake.
  private func release(_ items: inout [OrderAgenda.Item], and releaseOthers: () -> Void = {}) {
    FuturesDiagnostics.breakObservers.excuse(onThreadsWhere: { [self] in isOnOwnThread }) {
      for case .main(let work) in items.map(\.action) { cfuturestesting_drop(work.context, work.function) }
      items = []
      releaseOthers()
    }
  }
}
