internal import Futures

/// Runs the body in one order after another, until one fails.
///
/// The first order is that of submission. Then come random orders, none of which has run, until there are no others or `limit` is
/// reached. The first order that fails is shrunk and run once more, to show it.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class OrderSearch {
  struct Options {
    let limit: Int
    let seed: UInt64
    let maximumDuration: Duration?
    let hasFailed: (@Sendable (() -> Void) -> Bool)?  // runs the body once; whether an expectation failed
    let fileID: String
    let line: UInt
  }

  /// Ends the search if a move, the run of one piece of work, does not return.
  let watch = OrderWatch()

  private let body: OrderBody
  private let isOnMain: Bool
  private let options: Options
  private var random: SplitMix64
  private let start = ContinuousClock.now

  /// The orders that ran, as hashes of their decisions, and whether there are no others.
  private var orders: Set<UInt64> = []
  private var isComplete = false
  private var knownOrders = 1  // a lower bound: at least so many orders exist
  private var tree = OrderTree()
  private var turns = 0
  private var present: OrderRun?  // for the failure of a move that does not return

  /// The unexplored work: at most 20 pieces of work that left the runs, calls of actors, and sentences about other work.
  private var left: [OutsideNotice] = []
  private var callsActors = false
  private var unexplored: Set<String> = []

  init(_ body: @escaping OrderBody, _ options: Options) {
    (self.body, self.options) = (body, options)
    isOnMain = body.isolation === MainActor.shared
    random = SplitMix64(seed: options.seed)
    _ = OrderRun.controlsDispatch  // its first use installs the hooks in Dispatch and in the Swift runtime
  }

  // MARK: - All orders

  func explore() -> OrderWatch.Answer {
    while !watch.isCancelled {
      let isFirst = orders.isEmpty
      let run = run(hasFailed: options.hasFailed) { [self] run, possible, first throws(OrderStray) in
        try tree.choose(run, possible, isFirst ? first : nil, &random)  // `nil` chooses at random
      }
      // A run of a cancelled search does not wait for outside work, so its failure can be a false one.
      if watch.isCancelled { break }
      turns += run.turns
      knownOrders = max(knownOrders, run.knownOrders)
      orders.insert(run.hash)
      do { try tree.end(run) } catch { run.reason = run.reason ?? .notDeterministic(error.sentence) }
      isComplete = tree.isComplete && (run.reason?.dependsOnOrder ?? true)  // other reasons can cut an order short
      if run.reason != nil {
        let failure = show(run)
        return .failure(watch.isCancelled ? CancellationError() : failure)  // as above: `show` runs orders, too
      }
      if isComplete || orders.count >= options.limit || hasReachedBound { return .success(report()) }
    }
    return .failure(CancellationError())
  }

  /// Whether the search has run for the maximum duration, or for so many moves and other turns that more orders take too long.
  private var hasReachedBound: Bool {
    let maximumTurns = max(5_000_000, min(options.limit, 1 << 50) * 1_000)  // 1,000 an order; `min`: no overflow
    let hasUsedDuration = options.maximumDuration.map { ContinuousClock.now - start >= $0 } ?? false
    return turns >= maximumTurns || hasUsedDuration
  }

  /// Runs the body once, and collects the unexplored work for the report, which names at most 20 pieces that left the runs.
  private func run(
    isShown: Bool = false,
    hasFailed: (@Sendable (() -> Void) -> Bool)?,
    choosing choose: @escaping OrderRun.Chooser
  ) -> OrderRun {
    let run = OrderRun(watch, isOnMain: isOnMain, isShown: isShown, choose)
    present = run  // for the failure if a move does not return
    defer { present = nil }
    if let hasFailed {
      let isFailing = hasFailed { run.perform(body) }  // runs its argument, and sees whether an expectation fails
      if isFailing, run.reason == nil { run.reason = .expectation }
    } else {
      run.perform(body)
    }
    callsActors = callsActors || run.callsActors  // for the report
    unexplored.formUnion(run.unexplored)
    for notice in run.state.withLock(\.left) where left.count < 20 && !left.contains(notice) { left.append(notice) }
    return run
  }

  // MARK: - One order

  /// Runs the order of `string` only, for `exploreOrders(repeating:)`.
  func repeatOrder(_ string: String) -> OrderWatch.Answer {
    let run = runShown(string)
    if watch.isCancelled { return .failure(CancellationError()) }  // as in `explore`: a failure can be a false one
    orders.insert(run.hash)
    (knownOrders, isComplete) = (run.knownOrders, run.knownOrders == 1)  // 1: there was no decision, so no other order
    let wouldComeInEveryOrder = run.reason.map { !$0.dependsOnOrder } ?? false  // so the string does not matter
    if run.string != string, !wouldComeInEveryOrder {
      let sentence = "This order no longer exists: its moves have changed, or “\(string)” is not the whole string."
      return .failure(failure(run, .unknownOrder(sentence)))
    }
    return run.reason == nil ? .success(report()) : .failure(failure(run))
  }

  /// Runs an order to show it; if it fails, runs it again without `hasFailed`, so that the test library records its issues.
  private func runShown(_ string: String) -> OrderRun {
    let run = runShownOnce(string, hasFailed: options.hasFailed)
    guard let reason = run.reason, reason.dependsOnOrder else { return run }  // passed, or the order is not the reason
    guard options.hasFailed != nil, run.string == string else { return run }  // issues recorded, or the order differs
    let shown = runShownOnce(string, hasFailed: nil)
    shown.reason = shown.reason ?? reason  // without `hasFailed`, a failed expectation is not seen
    return shown
  }

  /// Runs the order of a string once, and keeps what its failure shows: notes, names of tasks and pending futures.
  ///
  /// Where the string names no possible move, the next one in the order of submission comes. Then the run has another string.
  private func runShownOnce(_ string: String, hasFailed: (@Sendable (() -> Void) -> Bool)?) -> OrderRun {
    var choices = string.split(separator: ".").dropLast()  // the last part is the checksum
    return PendingFutures.shared.track(onlyThisThread: !isOnMain) {  // on main: moves run on two threads
      run(isShown: true, hasFailed: hasFailed) { _, possible, first in
        let choice = choices.popFirst().flatMap { Int($0) } ?? first
        return possible.indices.contains(choice) ? choice : first
      }
    }
  }

  /// Shrinks the order of a failure, and runs it again to show it.
  private func show(_ failed: OrderRun) -> OrderFailure {
    guard let reason = failed.reason, reason.dependsOnOrder else { return failure(failed) }
    // The order is not repeated: without `hasFailed`, `#require` would record its error again. (By name: no import of Testing.)
    if case .thrown(let error) = reason, options.hasFailed == nil, "\(type(of: error))" == "ExpectationFailedError" {
      return failure(failed)
    }
    // A limit of 1 means the order of submission, as it is.
    let shrunk = options.limit > 1 ? shrink(failed) : failed
    let run = runShown(shrunk.string)
    if run.reason != nil { return failure(run) }
    let order = shrunk.trace.names().shortList(separator: " ▸ ")
    let sentence = "the order \(order) failed, and passed when it was repeated. \(reason.sentence)"
    return failure(shrunk, .notDeterministic(sentence))
  }

  /// Returns the simplest order found that fails in the same way as `failed`, or else `failed` itself; see `complexity`.
  private func shrink(_ failed: OrderRun) -> OrderRun {
    var best = failed
    var (tries, triesSinceBest, turnsLeft) = (0, 0, 100_000)  // 200 tries and 100,000 turns bound the time
    while triesSinceBest < best.candidateCount, tries < 200, turnsLeft > 0, !watch.isCancelled {
      var wanted = best.candidate(tries % best.candidateCount)  // the moves of a simpler order
      // Takes the first wanted move that is possible; the others stay wanted.
      let run = run(hasFailed: options.hasFailed) { _, possible, first in
        guard let place = wanted.firstIndex(where: possible.contains) else { return first }
        return possible.firstIndex(of: wanted.remove(at: place)) ?? first
      }
      (tries, triesSinceBest, turnsLeft) = (tries + 1, triesSinceBest + 1, turnsLeft - run.turns)
      let failsAlike = run.reason?.isSame(as: failed.reason) == true
      if failsAlike, run.complexity < best.complexity { (best, triesSinceBest) = (run, 0) }
    }
    return best
  }

  // MARK: - Reports

  private func report() -> OrderReport {
    let orderCount = max(orders.count, 1)  // a first order whose move does not return is not in `orders`
    return OrderReport(
      orders: orderCount,
      knownOrders: isComplete ? orderCount : max(knownOrders, orders.count + 1),  // `+ 1`: one has not run to its end
      isExhaustive: isComplete && left.isEmpty && unexplored.isEmpty,
      callsActors: callsActors,  // only for `description`, because `isExhaustive` is about whole moves
      left: left,
      sentences: (OrderRun.unobserved.map { [$0] } ?? []) + unexplored.sorted()  // first: what this build does not see
    )
  }

  /// Makes the failure for a move that does not return; called by the watch, whose `sentence` gives the possible causes.
  func failureOfMove(_ sentence: String) -> any Error {
    guard let present else { return CancellationError() }  // never: the run of the move has not ended
    guard let reason = present.reason else { return failure(present, .deadlock(waiting: []), sentence) }
    // The run had failed before this move, which belongs to the work after the failure.
    let cause = """
      \(present.sentence ?? "The order has failed.") Then the explorer cancelled the body, and a task that ignores its \
      cancellation goes on without an end. Let its loop end when the task is cancelled: do not hide the error with `try?`.
      """
    return failure(present, reason, cause)
  }

  /// Makes the failure of a run; `reason` and `text` take the place of the run's own reason and sentence.
  private func failure(_ run: OrderRun, _ reason: OrderFailure.Reason? = nil, _ text: String? = nil) -> OrderFailure {
    let reason = reason ?? run.reason ?? .endless  // never `.endless` here: each run that comes here has a reason
    let (notesOfMoves, tasks) = run.state.withLock { ($0.notes, $0.namedTasks) }
    let rows = zip(run.trace.enumerated(), run.trace.names(tasks)).map { move, name in
      let (isDeviation, notes) = (run.deviations.contains(move.offset), notesOfMoves[move.offset] ?? [])
      return OrderRow(column: move.element.column, name: name, isDeviation: isDeviation, notes: notes)
    }
    let movesOfTasks = run.trace.filter { $0.source == .task || $0.source == .onMain }  // `.onMain`: on the main actor
    let shownTasks = Set(movesOfTasks.map(\.ordinal)).sorted().prefix(10)  // the ordinal of such a move names its task
    return OrderFailure(
      reason: reason,
      sentence: text ?? run.sentence ?? reason.sentence,
      graph: run.waitForGraph,
      rows: rows,
      sites: shownTasks.compactMap { number in tasks[number]?.site.map { (tasks.name(of: number), $0) } },
      leftTasks: run.leftTasks.map { tasks.name(of: $0) },
      repeating: run.string,
      report: report(),
      fileID: options.fileID,
      line: options.line
    )
  }
}

// The orders that the shrinker tries.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  /// The places in `trace` whose move is of another context or task than the move before.
  private var changes: [Int] { trace.indices.dropFirst().filter { trace[$0].column != trace[$0 - 1].column } }

  /// How hard the order is to read: of two orders, the one with the smaller value is simpler.
  fileprivate var complexity: (Int, Int, Int) { (trace.count, changes.count, deviations.count) }

  fileprivate var candidateCount: Int { deviations.count + changes.count }

  /// Returns the moves of a simpler order to try: it lacks one deviation from the order of submission, or else one change.
  fileprivate func candidate(_ number: Int) -> ArraySlice<OrderMove> {
    let deviations = deviations.sorted()
    if number < deviations.count {
      // The list ends with the last deviation, because a run whose list is used up follows the order of submission anyway.
      var moves = trace.prefix(1 + deviations[deviations.count - 1])
      moves.remove(at: deviations[number])
      return moves
    }
    // `column` is that of the move before the change. The next block of moves in this column, if any, is moved before the change.
    let place = changes[number - deviations.count]
    let column = trace[place - 1].column
    let block = trace[place...].drop { $0.column != column }.prefix { $0.column == column }
    return trace[..<place] + block + trace[place..<block.startIndex] + trace[block.endIndex...]
  }
}
