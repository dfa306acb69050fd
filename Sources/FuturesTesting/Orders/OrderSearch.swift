internal import Futures

/// Runs the body in one order after another, and reports the shortest that fails.
///
/// In the first half of the orders, every second one comes depth first: the first such order is the order of
/// submission, and the next ones change late decisions first. All other orders are random, so that
/// early decisions change as well. The tree takes no order twice.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class OrderSearch {
  struct Options {
    let limit: Int
    let seed: UInt64
    var maximumDuration: Duration?
    var stopsAtFirstFailure = false
    var hasFailed: (@Sendable (() -> Void) -> Bool)?
    let fileID: String
    let line: UInt
  }

  /// A run that failed.
  struct Failed {
    let reason: OrderFailure.Reason

    /// Replaces the sentence of the reason.
    var sentence: String?

    let trace: [OrderMove]
    let choices: [OrderChoice]

    /// The moves that left the default order, by their places in `trace`.
    private(set) var deviations: Set<Int> = []
    private(set) var notes: [Int: [String]] = [:]
    private(set) var tasks: [Int32: OrderTask] = [:]

    /// The dependencies in a deadlock.
    var graph: WaitForGraph?

    init(_ reason: OrderFailure.Reason, _ verdict: OrderRun.Verdict, _ run: OrderRun) {
      self.reason = reason
      graph = run.waitForGraph
      if case .endless(let sentence) = verdict { self.sentence = sentence }
      trace = run.trace
      deviations = run.deviations
      (notes, tasks) = run.state.withLock { ($0.notes, $0.namedTasks) }
      // After the string, a run takes the first move each time.
      choices = run.choices.withoutLastDefaults
    }

    init(_ reason: OrderFailure.Reason, like other: Failed) {
      self.reason = reason
      (trace, choices, deviations) = (other.trace, other.choices, other.deviations)
      (notes, tasks) = (other.notes, other.tasks)
    }

    /// The failure in sentences.
    var text: String { sentence ?? reason.sentence }

    /// A failure without a run: the string to repeat fits no order.
    init(_ reason: OrderFailure.Reason) {
      self.reason = reason
      (trace, choices) = ([], [])
    }
  }

  /// The number of failures that print a line, or leave a suspended task behind, after which the search stops.
  ///
  /// On the main thread each deadlock lasts a second.
  private var maximumCostlyFailures: Int { isOnMain ? 10 : 100 }

  /// Ends the search if a move does not return.
  let watch = OrderWatch()

  private let body: OrderBody
  let isOnMain: Bool
  let options: Options
  let names = OrderNames()
  private let tree = OrderTree()
  private var random: SplitMix64
  private let start = ContinuousClock.now

  /// The failures by their sentences, in the order in which they were found.
  private(set) var kinds: [(failed: Failed, count: Int)] = []
  private(set) var shortest: Failed?
  private var failures = 0
  var costlyFailures = 0
  private var turns = 0
  private var runs = 0

  /// The work that left the runs, by its description.
  private var unexplored: [String] = []
  private var callsActors = false
  private var hasLeftWork = false
  private let outsidePatience = OutsidePatience()

  /// The number of turns after which the search stops.
  ///
  /// This number bounds the time of bodies with long orders.
  private var maximumTurns: Int { max(1_000_000, min(options.limit, 1 << 50) * 1_000) }

  init(_ body: @escaping OrderBody, _ options: Options) {
    self.body = body
    isOnMain = body.isolation === MainActor.shared
    self.options = options
    random = SplitMix64(seed: options.seed)
    _ = (OrderRun.controlsUnstructuredTasks, OrderRun.controlsMain, OrderRun.observesOutside)
  }

  // MARK: - All orders

  /// Explores the orders.
  nonisolated(nonsending) func explore() async -> Result<OrderReport, any Error> {
    while !tree.isFinished, tree.finishedOrders < options.limit, costlyFailures < maximumCostlyFailures,
      turns < maximumTurns, !isOutOfTime, !(options.stopsAtFirstFailure && failures > 0)
    {
      if watch.isCancelled { return .failure(CancellationError()) }
      if tree.finishedOrders % 256 == 255 { await Task.yield() }
      do { try runNextOrder() } catch { return .failure(error) }
    }
    // A run of a cancelled search does not wait for outside work, so its failure can be a false one.
    if watch.isCancelled { return .failure(CancellationError()) }
    guard let shortest else { return .success(report()) }
    if case .endless = shortest.reason { return .failure(failure(shortest)) }
    // After all orders, `shortest` is the best one, so it needs no shrinking.
    let best = tree.isFinished ? shortest : shrink(shortest)
    return .failure(watch.isCancelled ? CancellationError() : confirm(best))
  }

  /// Whether `maximumDuration` has passed; `false` before the first order.
  private var isOutOfTime: Bool {
    guard let maximumDuration = options.maximumDuration, tree.finishedOrders > 0 else { return false }
    return ContinuousClock.now - start >= maximumDuration
  }

  /// Whether the next order is random: every second order, and every order after half of the limit or half of the time.
  private var isRandom: Bool {
    if tree.finishedOrders >= options.limit / 2 { return true }
    if let maximumDuration = options.maximumDuration, ContinuousClock.now - start >= maximumDuration / 2 { return true }
    return runs.isMultiple(of: 2) && tree.hasRoomForPaths
  }

  private func runNextOrder() throws(OrderFailure) {
    runs += 1
    let isRandom = isRandom
    tree.begin()
    let (run, verdict, isFailing) = performRun(hasFailed: options.hasFailed) { forced, possible in
      try self.tree.choose(after: forced, among: possible) { moves in
        isRandom ? self.random.next(below: moves.count) : nil
      }
    }
    turns += run.turns
    let reason = verdict.reason ?? (isFailing ? .expectation : nil)
    if case .strayed(let error) = verdict { throw notDeterministic(run, error) }
    if let reason, case .uncontrolled = reason {
      failures += 1
      throw failure(Failed(reason, verdict, run))
    }
    do {
      try tree.end()
    } catch {
      throw notDeterministic(run, error)
    }
    guard let reason else { return }
    failures += 1
    switch reason {
    case .endless: costlyFailures = maximumCostlyFailures
    case .thrown where run.hasSettled: break
    default: costlyFailures += 1
    }
    let failed = Failed(reason, verdict, run)
    keepKind(of: failed)
    if shortest.map({ failed.cost < $0.cost }) ?? true { shortest = failed }
  }

  /// Counts a failure, and keeps the shortest order of the failures with the same sentence.
  private func keepKind(of failed: Failed) {
    let text = failed.text
    if let index = kinds.firstIndex(where: { $0.failed.text == text }) {
      kinds[index].count += 1
      if failed.cost < kinds[index].failed.cost { kinds[index].failed = failed }
    } else if kinds.count < 20 {
      kinds.append((failed, 1))
    }
  }

  /// Runs the body once.
  func performRun(
    listsPendingFutures: Bool = false,
    hasFailed: (@Sendable (() -> Void) -> Bool)?,
    choosing choose: OrderRun.Chooser
  ) -> (run: OrderRun, verdict: OrderRun.Verdict, isFailing: Bool) {
    let run = OrderRun(
      names: names,
      isOnMain: isOnMain,
      listsPendingFutures: listsPendingFutures,
      // After the first failure, a deadlock needs no wait that tells it from outside work.
      waitsForOthers: shortest == nil,
      outsidePatience: outsidePatience
    )
    // Safe: the closure reads the search only while its thread is in a move, which changes nothing of the search.
    nonisolated(unsafe) let search = self
    run.watch = (watch, { [unowned run] stall in search.blocked(run, stall) })
    defer { keepUnexplored(run) }
    var verdict = OrderRun.Verdict.returned
    guard let hasFailed else {
      verdict = run.perform(body, choosing: choose)
      return (run, verdict, false)
    }
    let isFailing = hasFailed { verdict = run.perform(self.body, choosing: choose) }
    return (run, verdict, isFailing)
  }

  /// Keeps the names of the work that left a run; mostly for the first ten orders, because finding a name takes long.
  private func keepUnexplored(_ run: OrderRun) {
    if run.callsActors { callsActors = true }
    if run.hasLeftChoices { hasLeftWork = true }
    guard tree.finishedOrders < 10 || unexplored.isEmpty else { return }
    for work in run.state.withLock(\.left) {
      let description = work.description
      if unexplored.count < 20, !unexplored.contains(description) { unexplored.append(description) }
    }
  }

  // MARK: - One order

  /// Runs one order alone.
  func repeatOrder(_ string: String) -> Result<OrderReport, any Error> {
    guard let choices = OrderChoice.parse(string) else {
      return .failure(unknownOrder("“\(string)” is not the string of an order. Copy the one that OrderFailure prints."))
    }
    let (run, verdict, isFailing) = performOrder(choices, hasFailed: options.hasFailed)
    if case .strayed(let error) = verdict { return .failure(unknownOrder("\(error)")) }
    let report = report(orders: 1)
    guard let reason = verdict.reason ?? (isFailing ? .expectation : nil) else {
      guard run.choices.count >= choices.count else { return .failure(unknownOrder("\(Unfit(run, choices.count))")) }
      return .success(report)
    }
    failures = 1
    return .failure(failure(Failed(reason, verdict, run)))
  }

  private struct Unfit: Error, CustomStringConvertible {
    let description: String

    init(_ run: OrderRun, _ count: Int) {
      description =
        "The order does not fit the test body: it has \(count) decisions, but the body has \(run.choices.count)."
    }

    init(_ place: Int, _ expected: OrderChoice, _ possible: [String]) {
      description = """
        The order does not fit the test body: decision \(place) is “\(expected.letter)\(expected.index)”, but the body \
        offers \(possible.shortList(separator: ", ")). The body has changed since the failure, or it is not deterministic.
        """
    }
  }

  /// Runs the order of the decisions; after them it takes the first move each time.
  func performOrder(
    _ choices: [OrderChoice],
    hasFailed: (@Sendable (() -> Void) -> Bool)?
  ) -> (run: OrderRun, verdict: OrderRun.Verdict, isFailing: Bool) {
    var place = 0
    return PendingFutures.shared.track(onlyThisThread: !isOnMain) {
      performRun(listsPendingFutures: true, hasFailed: hasFailed) { [names] _, possible in
        defer { place += 1 }
        guard place < choices.count else { return 0 }
        let choice = choices[place]
        guard possible.indices.contains(choice.index), names.letter(possible[choice.index]) == choice.letter else {
          throw Unfit(place + 1, choice, names.describe(possible))
        }
        return choice.index
      }
    }
  }

  /// Runs the shortest failed order again, without `hasFailed`: so the test library records the expectation at its line.
  private func confirm(_ failed: Failed) -> OrderFailure {
    let (run, verdict, _) = performOrder(failed.choices, hasFailed: nil)
    switch (failed.reason, verdict.reason) {
    case (.expectation, _):
      return failure(run.trace == failed.trace ? Failed(.expectation, verdict, run) : failed)
    case (_, let reason?):
      return failure(Failed(reason, verdict, run))
    case (_, nil):
      let order = names.describe(failed.trace).shortList(separator: " ▸ ")
      let sentence = """
        the order \(order) failed, and passed when it was repeated. \(failed.sentence ?? failed.reason.sentence)
        """
      return failure(Failed(.notDeterministic(sentence), like: failed))
    }
  }

  // MARK: - Reports

  /// The report, with the number of orders if the tree does not know it.
  private func report(orders: Int? = nil) -> OrderReport {
    let late = (hasLeftWork ? [OrderRun.leftWork] : []) + (watch.hasLateWork ? [OutsideWork.late] : [])
    return OrderReport(
      orders: orders ?? tree.finishedOrders,
      knownOrders: max(tree.knownOrders, orders ?? 0),
      isExhaustive: tree.isFinished && unexplored.isEmpty && late.isEmpty && orders == nil,
      callsActors: callsActors,
      unexplored: (OrderRun.unobserved.map { [$0] } ?? unexplored) + late
    )
  }

  private func failure(_ failed: Failed, failedOrders: Int? = nil) -> OrderFailure {
    let report = tree.finishedOrders == 0 ? report(orders: 1) : report()
    return OrderFailure(
      reason: failed.reason,
      sentence: failed.text,
      graph: failed.graph,
      order: names.describe(failed.trace, failed.tasks),
      groups: names.group(failed.trace, leaving: failed.deviations, notes: failed.notes, failed.tasks),
      taskPlaces: names.places(of: failed.tasks, in: failed.trace),
      repeating: OrderChoice.string(failed.choices),
      failedOrders: failedOrders ?? max(failures, 1),
      otherFailures: kinds.filter { $0.failed.text != failed.text }.map { kind in
        OrderFailure.Kind(
          sentence: kind.failed.text,
          failedOrders: kind.count,
          repeating: OrderChoice.string(kind.failed.choices)
        )
      },
      report: report,
      fileID: options.fileID,
      line: options.line
    )
  }

  /// The failure of a run whose present move does not return.
  private func blocked(_ run: OrderRun, _ stall: MoveSeconds.Stall) -> OrderFailure {
    var failed = Failed(.deadlock(waiting: []), .deadlock(waiting: []), run)
    failed.sentence = stall.sentence
    return failure(failed, failedOrders: failures + 1)
  }

  private func unknownOrder(_ sentence: String) -> OrderFailure {
    failure(Failed(.unknownOrder(sentence)))
  }

  private func notDeterministic(_ run: OrderRun, _ error: any Error) -> OrderFailure {
    func list(_ moves: [OrderMove]?) -> String {
      moves.map { names.describe($0).shortList(separator: ", ") } ?? "nothing to decide"
    }
    let order = names.describe(run.trace).shortList(separator: " ▸ ")
    let moves = run.trace.isEmpty ? "At the beginning" : "After \(order)"
    var sentence = "\(error)"
    if let difference = error as? OrderTree.Difference {
      sentence = """
        after the same decisions, two runs had different work. \(moves) this run had \(list(difference.now)), and an \
        earlier run \(list(difference.before)). Random numbers, the real time, the order of a Set, and state that outlives a \
        run cause this.
        """
    }
    return failure(Failed(.notDeterministic(sentence), .strayed(error), run))
  }
}
