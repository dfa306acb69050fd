internal import CFuturesTesting
internal import Dispatch
internal import Futures

/// The body of a test, as the explorer runs it.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
typealias OrderBody = @isolated(any) (Orders) async throws -> Void

/// One run of the body: performs one move at a time, on the thread that calls `perform`.
///
/// That thread performs the items of the contexts and the timers, and executes the jobs of the tasks. Work of the main queue
/// runs on the main thread, while that thread waits. Other threads can only submit work, and that ends the run with a failure.
///
/// Where the main queue is not controlled (`controlsMain`), a body on the main actor runs there on its own. Then the run waits
/// before each move until the main queue has no earlier work, and the main queue waits during the move.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class OrderRun: @unchecked Sendable {
  // @unchecked: `state` is locked. Only the thread of the moves uses the other variables.

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

  /// Gets the moves since the last decision, and the possible moves; returns the index of the next move.
  typealias Chooser = (_ forced: [OrderMove], _ possible: [OrderMove]) throws -> Int

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

    /// Work that has left the run: the first pieces, and how many have not ended.
    var left: [OutsideWork] = []
    var outstanding = 0
    /// The groups whose notifications have not begun.
    var notifications: [ObjectIdentifier: UnsafeMutableRawPointer] = [:]
    /// The threads of the outside work that has begun.
    var outsideThreads: [ObjectIdentifier: Int32] = [:]

    /// The stand-ins for Dispatch queues, by their labels.
    var queues: [String: VirtualQueue] = [:]

    /// The notes of the test, by the index of the move in `trace`; `-1` before the first move.
    var notes: [Int: [String]] = [:]

    var result: Result<Void, any Error>?
    var isUnwinding = false

    /// Says whether new work is dropped: after the end of the run.
    var closing = Closing()
    var isOver: Bool { closing.isClosed }
  }

  /// The greatest number of moves in a run.
  static let maximumMoves = 100_000

  /// The greatest number of turns in a run: of moves, of parts of tasks without a decision, and of ends of `runAll`.
  static let maximumTurns = 2 * maximumMoves

  /// The greatest number of turns after the body.
  static let maximumTurnsOfTheRest = 10_000

  /// The greatest sum of the moves that were possible at each decision: a run of 1,500 simultaneous tasks has a million.
  static let maximumAlternatives = 2_000_000

  /// How often a run without moves waits 10 ms for other threads.
  static let patience = 100

  let names: OrderNames

  /// The thread that performs the moves, which makes the run.
  let thread = cfuturestesting_thread_number()

  /// The real time of `ContinuousClock` at the beginning, in nanoseconds.
  private let startTime: Int64

  let state = Locked(State())

  /// Signalled when another thread submits work, or ends the body.
  let arrivals = DispatchSemaphore(value: 0)

  /// The task whose job runs now; `nil` for a job of an actor.
  var running: Int32?

  /// Whether an actor has run calls.
  var callsActors = false

  /// The job that follows without a decision.
  var followUp = FollowUp.none

  /// Whether the body has not reached the main actor yet.
  var isStarting: Bool

  /// The number of turns so far.
  var turns = 0

  /// From this number of turns on, each following part of a task is a move, so that the loop can end.
  var turnLimit = OrderRun.maximumTurns

  /// Whether the work that the body left behind has ended.
  private(set) var hasSettled = true

  /// Whether the body left behind work with several orders, and whether the main thread did not come in a minute.
  var hasLeftChoices = false, isMainStuck = false

  private(set) var trace: [OrderMove] = [], choices: [OrderChoice] = []
  /// The moves that left the default order, by their places in `trace`.
  private(set) var deviations: Set<Int> = []

  /// The moves since the last decision.
  private(set) var forced: [OrderMove] = []

  /// Makes the decisions while the run makes moves; `strayed` says why it could not make one.
  private var chooser: Chooser?
  private var strayed: (any Error)?
  private let start = DispatchTime.now()
  /// The dependencies in a run that ended in a deadlock.
  private(set) var waitForGraph: WaitForGraph?
  private let usesMain: Bool
  /// Whether the body is on the main actor, and the run does not perform the work of the main queue.
  let isOnMain: Bool
  let listsPendingFutures: Bool
  private let waitsForOthers: Bool
  let outsidePatience: OutsidePatience
  /// Ends the search if a move does not return.
  var watch: (watch: OrderWatch, failure: @Sendable (MoveSeconds.Stall) -> OrderFailure)?

  /// Makes a run.
  /// - Parameters:
  ///   - names: The names of the moves, shared by all runs.
  ///   - isOnMain: Whether the body is isolated to the main actor.
  ///   - listsPendingFutures: Whether a deadlock lists the pending futures.
  ///   - waitsForOthers: Whether a run without moves waits for other threads, to tell a deadlock from outside work.
  ///   - outsidePatience: How long to wait for work that has left the run.
  init(
    names: OrderNames,
    isOnMain: Bool,
    listsPendingFutures: Bool,
    waitsForOthers: Bool,
    outsidePatience: OutsidePatience
  ) {
    self.outsidePatience = outsidePatience
    self.names = names
    usesMain = isOnMain
    isStarting = isOnMain
    self.isOnMain = isOnMain && !Self.controlsMain
    startTime = cfuturestesting_real_time()
    self.listsPendingFutures = listsPendingFutures
    self.waitsForOthers = waitsForOthers
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

  private static let endlessRest = """
    The body returned, but the work that it left did not end: it went on for \(maximumTurnsOfTheRest.grouped) moves after it. \
    A loop has to end when its timer fails, because the timers that are left fail with BrokenPromise. Or cancel the loop, and \
    `try await orders.runAll()` before the body returns.
    """

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
    var alternatives = 0
    while true {
      turns += 1
      guard settleMain() else { return .uncontrolled("The main thread is blocked, and the body is on the main actor.") }
      waitForOutside()
      if let sentence = interferenceSentence { return .uncontrolled(sentence) }
      if let strayed { return .strayed(strayed) }
      let (result, possible) = state.withLock { ($0.result, $0.agenda.possible) }
      switch result {
      case .success: return .returned
      case .failure(let error): return .threw(error)
      case nil: break
      }
      guard trace.count < Self.maximumMoves else {
        return .endless("The body made \(Self.maximumMoves.grouped) moves and did not end.")
      }
      guard turns < Self.maximumTurns else {
        let moves = trace.count.grouped
        return .endless("The body made \(moves) moves in \(Self.maximumTurns.grouped) turns and did not end.")
      }
      alternatives += possible.count
      guard alternatives < Self.maximumAlternatives else {
        return .endless(
          """
          The body made \(trace.count.grouped) moves and did not end. \(possible.count.grouped) moves can come next: these are \
          too many to explore.
          """
        )
      }
      guard !possible.isEmpty else {
        var patience = Self.patience
        if resumeWaitersOfRunAll() || waitForOthers(&patience) { continue }
        if let outsideWait { return .uncontrolled(outsideWait) }
        let waiting = pendingFutures
        if listsPendingFutures { waitForGraph = FuturesDiagnostics.graph(since: start, ofThread: threadOfGraph) }
        return .deadlock(waiting: waiting)
      }
      let index = choose(possible.map(\.move))
      if let strayed { return .strayed(strayed) }
      perform(possible[index].place)
    }
  }

  /// Decides between moves; takes the first move after the body has returned, and after the run has left its order.
  func choose(_ possible: [OrderMove]) -> Int {
    var index = 0
    if possible.count > 1, let chooser, strayed == nil {
      do { index = try chooser(forced, possible) } catch { strayed = error }
      guard strayed == nil else { return 0 }
      let choice = OrderChoice(letter: names.letter(possible[index]), index: index)
      choices.append(choice)
      forced = []
    }
    guard chooser != nil else { return index }
    if index > 0 { deviations.insert(trace.count) }
    trace.append(possible[index])
    forced.append(possible[index])
    return index
  }

  private var interferenceSentence: String? {
    let (interference, left) = state.withLock { ($0.interference, $0.left) }
    return interference?.sentence(after: left)
  }

  func perform(_ place: OrderAgenda.Place) {
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

  /// Begins a move, or a part of one, and returns the move that it interrupts, if any.
  private func beginMove() -> Move? {
    let thread = cfuturestesting_thread_number()
    return state.withLock { state in
      defer {
        state.lastMove += 1
        state.move = Move(number: state.lastMove, thread: thread)
      }
      return state.move
    }
  }

  /// Runs a move, or a part of it, on the calling thread.
  func inMove(_ move: () -> Void) {
    let previous = cfuturestesting_run()
    cfuturestesting_set_run(Unmanaged.passUnretained(self).toOpaque())
    // The delivery of a future outside the task that resolves it becomes a move of its own.
    let elsewhere = Trampoline.current.setElsewhere { [unowned self] delivery in
      _ = submit("", { $0.submit(delivery, named: self.names.source("delivery")) })
    }
    // At most a century: larger times overflow.
    let (seconds, attoseconds) = min(now, .seconds(3_155_760_000)).components
    cfuturestesting_set_time(startTime + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    let outer = beginMove()
    let watched = watchMove()
    move()
    _ = watch?.watch.exchange(watched)
    state.withLock { $0.move = outer }
    cfuturestesting_set_time(-1)
    _ = Trampoline.current.setElsewhere(elsewhere)
    cfuturestesting_set_run(previous)
  }

  /// Resumes the callers of `runAll`, because nothing is left to run.
  func resumeWaitersOfRunAll() -> Bool {
    let waitersOfRunAll = state.withLock { state in
      defer { state.waitersOfRunAll = [] }
      return state.waitersOfRunAll
    }
    withMainWaiting {
      for waiter in waitersOfRunAll { resume(waiter) }
    }
    return !waitersOfRunAll.isEmpty
  }

  /// Waits for another thread, for a limited time.
  ///
  /// The time in which other work keeps the main queue busy does not count: the body's next job can be behind it.
  /// - Parameter patience: How many waits of 10 ms are left.
  /// - Returns: Whether to look for moves again.
  func waitForOthers(_ patience: inout Int) -> Bool {
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

  private var threadOfGraph: UnsafeMutableRawPointer? { usesMain ? nil : .ofCurrentThread }

  private var pendingFutures: [String] {
    guard listsPendingFutures else { return [] }
    return PendingFutures.shared.awaited(since: start, ofThisThread: !usesMain)
  }
}
