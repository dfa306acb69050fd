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

  private struct Failed: Error {
    let run: OrderRun
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
  private let tree = OrderTree()
  private var turns = 0
  private var present: OrderRun?

  /// The work that was not explored.
  private var left: [OutsideNotice] = []
  private var callsActors = false, hasLeftWork = false, isCut = false
  /// The decisions of the first order in which a task did not end.
  private var choicesOfLeftTask: [OrderChoice]?

  init(_ body: @escaping OrderBody, _ options: Options) {
    (self.body, self.options) = (body, options)
    isOnMain = body.isolation === MainActor.shared
    random = SplitMix64(seed: options.seed)
    _ = OrderRun.controlsDispatch  // installs the hooks
  }

  // MARK: - All orders

  func explore() -> OrderWatch.Answer {
    do {
      try runOrder(isFirst: true)
      while !tree.isComplete, orders.count < options.limit, canGoOn { try runOrder() }
      isComplete = tree.isComplete
      if let choicesOfLeftTask { keepLeftTasks(runShown(choicesOfLeftTask, hasFailed: options.hasFailed)) }
      return .success(report())
    } catch let failed as Failed {
      return .failure(watch.isCancelled ? CancellationError() : show(failed.run))
    } catch {
      return .failure(error)
    }
  }

  private var canGoOn: Bool {
    // Bounds the time of bodies with long orders.
    if turns >= max(5_000_000, min(options.limit, 1 << 50) * 1_000) { return false }
    return options.maximumDuration.map { ContinuousClock.now - start < $0 } ?? true
  }

  /// Runs the order of submission, or a random order.
  private func runOrder(isFirst: Bool = false) throws {
    // A run of a cancelled search does not wait for outside work, so its failure can be a false one.
    if watch.isCancelled { throw CancellationError() }
    let run = run(hasFailed: options.hasFailed) { [self] possible, first in
      try tree.choose(possible, isFirst ? first : nil, &random)
    }
    if watch.isCancelled { throw CancellationError() }
    turns += run.turns
    knownOrders = max(knownOrders, run.knownOrders)
    orders.insert(run.hash)
    if run.reason == nil { run.reason = tree.end()?.reason(run) }
    if run.reason != nil { throw Failed(run: run) }
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
    (callsActors, hasLeftWork) = (callsActors || run.callsActors, hasLeftWork || run.hasLeftChoices)
    isCut = isCut || run.isCut
    if run.reason == nil, choicesOfLeftTask == nil, !run.leftTasks.isEmpty { choicesOfLeftTask = run.neededChoices }
    for notice in run.state.withLock(\.left) where left.count < 20 && !left.contains(notice) { left.append(notice) }
    return run
  }

  // MARK: - One order

  func repeatOrder(_ string: String) -> OrderWatch.Answer {
    guard let choices = OrderChoice.parse(string) else {
      let sentence = "“\(string)” is not the string of an order. Copy the one that OrderFailure prints."
      return .failure(failure(nil, .unknownOrder(sentence)))
    }
    let run = runShown(choices, hasFailed: options.hasFailed)
    orders.insert(run.hash)
    (knownOrders, isComplete) = (run.knownOrders, run.knownOrders == 1)
    if case .expectation? = run.reason {
      // Without `hasFailed`, so that the test library records the expectation at its line.
      let shown = runShown(choices, hasFailed: nil)
      shown.reason = shown.reason ?? run.reason
      return .failure(failure(shown))
    }
    if run.reason != nil { return .failure(failure(run)) }
    guard run.choices.count >= choices.count else {
      let count = "it has \(choices.count) decisions, but the body has \(run.choices.count)."
      return .failure(failure(nil, .unknownOrder("The order does not fit the test body: \(count)")))
    }
    keepLeftTasks(run)
    return .success(report())
  }

  /// Keeps the tasks of a run that did not end, for the report.
  private func keepLeftTasks(_ run: OrderRun) {
    let tasks = run.state.withLock(\.namedTasks)
    left += run.leftTasks.prefix(10).map { number in
      OutsideNotice(kind: .task, label: tasks.name(of: number), site: tasks[number]?.site ?? CallSite(addresses: []))
    }
  }

  /// Runs the order of the decisions, and after them that of submission, and keeps what the failure shows.
  private func runShown(_ choices: [OrderChoice], hasFailed: (@Sendable (() -> Void) -> Bool)?) -> OrderRun {
    var rest = choices[...]
    return PendingFutures.shared.track(onlyThisThread: !isOnMain) {
      run(isShown: true, hasFailed: hasFailed) { possible, first in
        guard let choice = rest.popFirst() else { return first }
        if possible.indices.contains(choice.index), possible[choice.index].letter == choice.letter {
          return choice.index
        }
        let offer = possible.names().shortList(separator: ", ")
        throw OrderStray.unfit(
          """
          The order does not fit the test body: decision \(choices.count - rest.count) is “\(choice)”, but the body offers \(offer). \
          The body has changed since the failure, or it is not deterministic.
          """
        )
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
    // Without `hasFailed`, so that the test library records the expectation at its line.
    let run = runShown(shrunk.neededChoices, hasFailed: nil)
    if case .expectation = reason, run.trace == shrunk.trace { run.reason = reason }
    if let repeated = run.reason, repeated.isOfOrder { return failure(run) }
    let order = shrunk.trace.names().shortList(separator: " ▸ ")
    let sentence = "the order \(order) failed, and passed when it was repeated. \(reason.sentence)"
    return failure(shrunk, .notDeterministic(sentence))
  }

  /// Returns an order that fails in the same way, nearer to the order of submission.
  ///
  /// Tries the order without each of its moves out of the order of submission: that work then comes as late as the others allow.
  private func shrink(_ failed: OrderRun) -> OrderRun {
    var best = failed
    var place = 0
    var (triesLeft, turnsLeft) = (200, 100_000)
    while let next = best.deviations.filter({ $0 >= place }).min(), triesLeft > 0, turnsLeft > 0, !watch.isCancelled {
      var rest = best.trace
      rest.remove(at: next)
      let run = run(hasFailed: options.hasFailed) { possible, first in
        guard let place = rest.firstIndex(where: possible.contains) else { return first }
        return possible.firstIndex(of: rest.remove(at: place)) ?? first
      }
      (triesLeft, turnsLeft) = (triesLeft - 1, turnsLeft - run.turns)
      if run.reason?.isSame(as: failed.reason) == true, run.cost < best.cost { best = run } else { place = next + 1 }
    }
    return best
  }

  // MARK: - Reports

  private func report() -> OrderReport {
    var sentences: [String] = []
    if hasLeftWork {
      let advice = "release what the body holds, and then end the work by `try await orders.runAll()`"
      sentences.append("the work that the body left behind (\(advice))")
    }
    if isCut {
      sentences.append("what comes after the first \(OrderRun.maximumDecisions.grouped) decisions of an order")
    }
    let isAll = isComplete && left.isEmpty && sentences.isEmpty
    return OrderReport(
      orders: max(orders.count, 1),
      knownOrders: isComplete ? max(orders.count, 1) : max(knownOrders, orders.count + 1),
      isExhaustive: isAll,
      callsActors: callsActors,
      left: left,
      sentences: (OrderRun.unobserved.map { [$0] } ?? []) + sentences
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
    let rows = zip(trace, order).enumerated().map { place, move in
      let (column, cell) = move.0.cell(tasks, named: move.1)
      let notes = (place == 0 ? notes[-1] ?? [] : []) + (notes[place] ?? [])
      return OrderRow(column: column, cell: cell, isDeviation: run?.deviations.contains(place) == true, notes: notes)
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
      repeating: run?.neededChoices.map(\.description).joined() ?? "",
      report: report(),
      fileID: options.fileID,
      line: options.line
    )
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  /// The decisions up to the last that left the order of submission, which a run takes without a string.
  fileprivate var neededChoices: [OrderChoice] { Array(choices.prefix(lastDeviation)) }

  /// The size that the search minimises: the moves, and those out of the order of submission.
  fileprivate var cost: (Int, Int) { (trace.count, deviations.count) }
}
