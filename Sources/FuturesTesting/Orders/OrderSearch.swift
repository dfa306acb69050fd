internal import Futures

/// Runs the body in one order after another, until one fails.
///
/// | part | orders |
/// |---|---|
/// | first | the order of submission |
/// | then | random orders, none of which has run, until there are no others or `limit` is reached |
///
/// The first order that fails is shrunk and run once more, to show it.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class OrderSearch {
  struct Options {
    let limit: Int
    let seed: UInt64
    let maximumDuration: Duration?
    let hasFailed: (@Sendable (() -> Void) -> Bool)?
    let fileID: String
    let line: UInt
  }

  /// Ends the search if a move does not return.
  let watch = OrderWatch()

  private let body: OrderBody
  private let isOnMain: Bool
  private let options: Options
  private var random: SplitMix64
  private let start = ContinuousClock.now

  /// The orders that ran, as hashes of their decisions, and whether there are no others.
  private var orders: Set<UInt64> = []
  private var isComplete = false
  private var knownOrders = 1
  private var tree = OrderTree()
  private var turns = 0
  private var present: OrderRun?

  /// The work that was not explored.
  private var left: [OutsideNotice] = []
  private var callsActors = false
  private var unexplored: Set<String> = []

  init(_ body: @escaping OrderBody, _ options: Options) {
    (self.body, self.options) = (body, options)
    isOnMain = body.isolation === MainActor.shared
    random = SplitMix64(seed: options.seed)
    _ = OrderRun.controlsDispatch  // installs the hooks
  }

  // MARK: - All orders

  func explore() -> OrderWatch.Answer {
    while !watch.isCancelled {
      let isFirst = orders.isEmpty
      let run = run(hasFailed: options.hasFailed) { [self] run, possible, first throws(OrderStray) in
        try tree.choose(run, possible, isFirst ? first : nil, &random)
      }
      // A run of a cancelled search does not wait for outside work, so its failure can be a false one.
      if watch.isCancelled { break }
      turns += run.turns
      knownOrders = max(knownOrders, run.knownOrders)
      orders.insert(run.hash)
      if run.reason == nil {
        do { try tree.end(run) } catch { run.reason = error.reason }
      }
      if run.reason != nil {
        let failure = show(run)
        return .failure(watch.isCancelled ? CancellationError() : failure)
      }
      isComplete = tree.isComplete
      if isComplete || orders.count >= options.limit || !canGoOn { return .success(report()) }
    }
    return .failure(CancellationError())
  }

  private var canGoOn: Bool {
    // Bounds the time of bodies with long orders.
    if turns >= max(5_000_000, min(options.limit, 1 << 50) * 1_000) { return false }
    return options.maximumDuration.map { ContinuousClock.now - start < $0 } ?? true
  }

  /// Runs the body once.
  private func run(
    isShown: Bool = false,
    hasFailed: (@Sendable (() -> Void) -> Bool)?,
    choosing choose: @escaping OrderRun.Chooser
  ) -> OrderRun {
    let run = OrderRun(watch, isOnMain: isOnMain, isShown: isShown, choose)
    present = run
    defer { present = nil }
    if let hasFailed {
      let isFailing = hasFailed { run.perform(body) }
      if isFailing, run.reason == nil { run.reason = .expectation }
    } else {
      run.perform(body)
    }
    callsActors = callsActors || run.callsActors
    unexplored.formUnion(run.unexplored)
    for notice in run.state.withLock(\.left) where left.count < 20 && !left.contains(notice) { left.append(notice) }
    return run
  }

  // MARK: - One order

  func repeatOrder(_ string: String) -> OrderWatch.Answer {
    let choices = string.split(separator: ".").compactMap { Int($0) }
    guard choices.map(\.description).joined(separator: ".") == string else {
      let sentence = "“\(string)” is not the string of an order. Copy the one that OrderFailure prints."
      return .failure(failure(nil, .unknownOrder(sentence)))
    }
    let run = runShown(choices[...])
    orders.insert(run.hash)
    (knownOrders, isComplete) = (run.knownOrders, run.knownOrders == 1)
    if run.reason != nil { return .failure(failure(run)) }
    guard run.choices.count >= choices.count else {
      let count = "it has \(choices.count) decisions, but the body has \(run.choices.count)."
      return .failure(failure(nil, .unknownOrder("The order does not fit the test body: \(count)")))
    }
    return .success(report())
  }

  /// Runs an order to show it, and once more without `hasFailed` if it fails, so that the test library records its issues.
  private func runShown(_ choices: ArraySlice<Int>) -> OrderRun {
    let run = runShown(choices, hasFailed: options.hasFailed)
    guard options.hasFailed != nil, let reason = run.reason, reason.isOfOrder else { return run }
    let shown = runShown(choices, hasFailed: nil)
    shown.reason = shown.reason ?? reason
    return shown
  }

  /// Runs the order of the decisions, and after them that of submission, and keeps what the failure shows.
  private func runShown(_ choices: ArraySlice<Int>, hasFailed: (@Sendable (() -> Void) -> Bool)?) -> OrderRun {
    var rest = choices
    return PendingFutures.shared.track(onlyThisThread: !isOnMain) {
      run(isShown: true, hasFailed: hasFailed) { _, possible, first throws(OrderStray) in
        guard let choice = rest.popFirst() else { return first }
        if possible.indices.contains(choice) { return choice }
        let offer = possible.names().shortList(separator: ", ")
        let sentence = """
          The order does not fit the test body: decision \(choices.count - rest.count) is “\(choice)”, but the body offers \(offer). \
          The body has changed since the failure, or it is not deterministic.
          """
        throw OrderStray(reason: .unknownOrder(sentence))
      }
    }
  }

  /// Shrinks the order of a failure, and runs it again to show it.
  private func show(_ failed: OrderRun) -> OrderFailure {
    guard let reason = failed.reason, reason.isOfOrder else { return failure(failed) }
    // The test library has recorded this error already, and would record it once for each repetition.
    if case .thrown(let error) = reason, options.hasFailed == nil, "\(type(of: error))" == "ExpectationFailedError" {
      return failure(failed)
    }
    let shrunk = shrink(failed)
    let run = runShown(shrunk.neededChoices)
    if run.reason?.isOfOrder == true { return failure(run) }
    let order = shrunk.trace.names().shortList(separator: " ▸ ")
    let sentence = "the order \(order) failed, and passed when it was repeated. \(reason.sentence)"
    return failure(shrunk, .notDeterministic(sentence))
  }

  /// Returns an order that fails in the same way, nearer to the order of submission.
  ///
  /// Tries the order without each of its moves out of the order of submission: that work then comes later.
  private func shrink(_ failed: OrderRun) -> OrderRun {
    var best = failed
    var place = 0
    var (triesLeft, turnsLeft) = (200, 100_000)
    while let next = best.deviations.filter({ $0 >= place }).min(), triesLeft > 0, turnsLeft > 0, !watch.isCancelled {
      var rest = best.trace.prefix(1 + (best.deviations.max() ?? 0))
      rest.remove(at: next)
      let run = run(hasFailed: options.hasFailed) { _, possible, first in
        guard let place = rest.firstIndex(where: possible.contains) else { return first }
        return possible.firstIndex(of: rest.remove(at: place)) ?? first
      }
      (triesLeft, turnsLeft) = (triesLeft - 1, turnsLeft - run.turns)
      let isNearer = (run.trace.count, run.deviations.count) < (best.trace.count, best.deviations.count)
      if isNearer, run.reason?.isSame(as: failed.reason) == true { best = run } else { place = next + 1 }
    }
    return best
  }

  // MARK: - Reports

  private func report() -> OrderReport {
    OrderReport(
      orders: max(orders.count, 1),
      knownOrders: isComplete ? max(orders.count, 1) : max(knownOrders, orders.count + 1),
      isExhaustive: isComplete && left.isEmpty && unexplored.isEmpty,
      callsActors: callsActors,
      left: left,
      sentences: (OrderRun.unobserved.map { [$0] } ?? []) + unexplored.sorted()
    )
  }

  /// Describes a move that does not return.
  func failureOfMove(_ sentence: String) -> OrderFailure { failure(present, .deadlock(waiting: []), sentence) }

  /// Describes the failure of a run, or another one; without a run if the string to repeat fits no order.
  private func failure(
    _ run: OrderRun?,
    _ reason: OrderFailure.Reason? = nil,
    _ sentence: String? = nil
  ) -> OrderFailure {
    let reason = reason ?? run?.reason ?? .endless
    let trace = run?.trace ?? []
    let (notes, tasks) = run?.state.withLock { ($0.notes, $0.namedTasks) } ?? ([:], [:])
    let order = trace.names(tasks)
    let rows = trace.indices.map { place in
      let isDeviation = run?.deviations.contains(place) == true
      let notes = notes[place] ?? []
      return OrderRow(column: trace[place].column, name: order[place], isDeviation: isDeviation, notes: notes)
    }
    let parts = trace.filter { $0.source == .task || $0.source == .onMain }
    let numbers = Set(parts.map(\.ordinal)).sorted().prefix(10)
    return OrderFailure(
      reason: reason,
      sentence: sentence ?? run?.sentence ?? reason.sentence,
      graph: run?.waitForGraph,
      order: order,
      rows: rows,
      sites: numbers.compactMap { number in tasks[number]?.site.map { (tasks.name(of: number), $0) } },
      leftTasks: run?.leftTasks.map { tasks.name(of: $0) } ?? [],
      repeating: run?.neededChoices.map(\.description).joined(separator: ".") ?? "",
      report: report(),
      fileID: options.fileID,
      line: options.line
    )
  }
}
