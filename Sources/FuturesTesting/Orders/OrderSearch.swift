internal import Futures

/// Runs the body in one order after another, until one fails.
///
/// | part | orders |
/// |---|---|
/// | first | the order of submission, twice: a body that does not repeat it is not deterministic |
/// | random | up to a hundred orders, or fewer if they repeat each other; none if there are about twenty |
/// | all | if few orders are left: each order depth first, up to `limit`. Only then the report says “all” |
/// | random again | up to `limit` orders |
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

  /// A run that failed.
  struct Failed: Error {
    let reason: OrderFailure.Reason

    /// The reason in sentences.
    let sentence: String

    /// The run; `nil` if the string to repeat fits no order.
    let run: OrderRun?

    init(_ reason: OrderFailure.Reason, _ run: OrderRun?, sentence: String? = nil) {
      (self.reason, self.run, self.sentence) = (reason, run, sentence ?? reason.sentence)
    }

    var trace: [OrderMove] { run?.trace ?? [] }

    /// The decisions up to the last that left the order of submission, which a run takes without a string.
    var choices: [OrderChoice] { Array(run?.choices.prefix(run?.lastDeviation ?? 0) ?? []) }

    /// The size that the search minimises: the moves, the changes between contexts and tasks, and the moves out of the order of submission.
    var cost: (Int, Int, Int) {
      let changes = zip(trace, trace.dropFirst()).count { $0.origin != $1.origin }
      return (trace.count, changes, run?.deviations.count ?? 0)
    }
  }

  /// Ends the search if a move does not return.
  let watch = OrderWatch()

  private let body: OrderBody
  private let isOnMain: Bool
  private let options: Options
  private let names = OrderNames()
  private var random: SplitMix64
  private let start = ContinuousClock.now

  /// The orders that ran, as hashes of their decisions, and whether there are no others.
  private var orders: Set<UInt64> = []
  private var isComplete = false
  private var knownOrders = 1

  /// The sum of the estimates of all random runs, and how many there were: their mean estimates the number of orders (Knuth, 1975).
  private var estimates = (sum: 0.0, count: 0)
  private var turns = 0
  private var hasFailed = false

  /// The work that was not explored.
  private var left: [OutsideNotice] = []
  private var callsActors = false, hasLeftWork = false, isCut = false
  private let outsidePatience = OutsidePatience()

  /// The number of turns after which the search stops: it bounds the time of bodies with long orders.
  private var maximumTurns: Int { max(5_000_000, min(options.limit, 1 << 50) * 1_000) }

  init(_ body: @escaping OrderBody, _ options: Options) {
    (self.body, self.options) = (body, options)
    isOnMain = body.isolation === MainActor.shared
    random = SplitMix64(seed: options.seed)
    _ = OrderRun.hooks
  }

  // MARK: - All orders

  /// Explores the orders.
  func explore() -> Result<OrderReport, any Error> {
    do {
      var path = OrderPath()
      try runOrder(along: &path)
      if options.limit > 1, !path.isEmpty {
        try runOrder(along: &path)
        let repeats = try isFew(20) || runRandomOrders(upTo: min(options.limit, 100), repeats: 20)
        if !isCut, repeats || isFew(2 * options.limit) { try runAllOrders(&path) }
        if !isComplete { _ = try runRandomOrders(upTo: options.limit, repeats: 200) }
      } else {
        isComplete = path.isEmpty
      }
      return .success(report())
    } catch let failed as Failed {
      return .failure(watch.isCancelled ? CancellationError() : failure(show(failed)))
    } catch {
      return .failure(error)
    }
  }

  /// Whether the body seems to have at most `count` orders.
  private func isFew(_ count: Int) -> Bool { estimates.sum / Double(max(estimates.count, 1)) <= Double(count) }

  /// Runs the orders that follow in `path`, depth first, until there are none or too many.
  private func runAllOrders(_ path: inout OrderPath) throws {
    for _ in 0..<options.limit where canGoOn {
      guard path.advance() else { return isComplete = true }
      // A new order beyond the limit shows that these are not all; it does not count.
      guard try runOrder(along: &path) || orders.count < options.limit else { return }
    }
  }

  /// Runs the next order of a path.
  /// - Returns: Whether the order counts.
  @discardableResult
  private func runOrder(along path: inout OrderPath) throws -> Bool {
    path.begin()
    var present = path
    defer { path = present }
    return try runOrder(endingWith: { present.end() }) { try present.choose($0, $1) }
  }

  /// Runs random orders, each of which counts once.
  /// - Returns: Whether so many runs in a row had orders that had run before.
  private func runRandomOrders(upTo count: Int, repeats maximum: Int) throws -> Bool {
    var repeats = 0
    while orders.count < count, repeats < maximum, canGoOn {
      let isNew = try runOrder { [self] possible, _ in random.next(below: possible.count) }
      repeats = isNew ? 0 : repeats + 1
    }
    return repeats == maximum
  }

  private var canGoOn: Bool {
    if turns >= maximumTurns { return false }
    return options.maximumDuration.map { ContinuousClock.now - start < $0 } ?? true
  }

  /// Runs an order.
  /// - Returns: Whether it is new, and within the limit.
  private func runOrder(
    endingWith end: () -> OrderPath.Difference? = { nil },
    choosing choose: OrderRun.Chooser
  ) throws -> Bool {
    // A run of a cancelled search does not wait for outside work, so its failure can be a false one.
    if watch.isCancelled { throw CancellationError() }
    let (run, failed) = perform(hasFailed: options.hasFailed, choosing: choose)
    if watch.isCancelled { throw CancellationError() }
    turns += run.turns + run.alternatives
    knownOrders = max(knownOrders, run.knownOrders)
    estimates = (estimates.sum + run.estimatedOrders, estimates.count + 1)
    let isNew = orders.count < options.limit && orders.insert(run.hash).inserted
    if let failed { throw failed }
    if let difference = end() { throw Failed(.notDeterministic(difference.sentence(run)), run) }
    return isNew
  }

  /// Runs the body once.
  private func perform(
    isShown: Bool = false,
    hasFailed: (@Sendable (() -> Void) -> Bool)?,
    choosing choose: OrderRun.Chooser
  ) -> (run: OrderRun, failed: Failed?) {
    let run = OrderRun(
      names: names,
      isOnMain: isOnMain,
      isShown: isShown,
      // After the first failure, a deadlock needs no wait that tells it from outside work.
      waitsForOthers: !self.hasFailed,
      outsidePatience: outsidePatience
    )
    // Safe: the closure reads the search only while its thread is in a move, which changes nothing of the search.
    nonisolated(unsafe) let search = self
    run.watch = (
      watch, { [unowned run] sentence in search.failure(Failed(.deadlock(waiting: []), run, sentence: sentence)) }
    )
    var verdict = OrderRun.Verdict.returned
    var isFailing = false
    if let hasFailed {
      isFailing = hasFailed { verdict = run.perform(self.body, choosing: choose) }
    } else {
      verdict = run.perform(body, choosing: choose)
    }
    keepUnexplored(run)
    let failed = Failed(run, verdict) ?? (isFailing ? Failed(.expectation, run) : nil)
    if failed != nil { self.hasFailed = true }
    return (run, failed)
  }

  private func keepUnexplored(_ run: OrderRun) {
    callsActors = callsActors || run.callsActors
    hasLeftWork = hasLeftWork || run.hasLeftChoices
    isCut = isCut || run.isCut
    for notice in run.state.withLock(\.outside.left) where left.count < 20 && !left.contains(notice) {
      left.append(notice)
    }
  }

  // MARK: - One order

  /// Runs one order alone.
  func repeatOrder(_ string: String) -> Result<OrderReport, any Error> {
    guard let choices = OrderChoice.parse(string) else {
      let sentence = "“\(string)” is not the string of an order. Copy the one that OrderFailure prints."
      return .failure(failure(Failed(.unknownOrder(sentence), nil)))
    }
    let (run, failed) = performShown(choices, hasFailed: options.hasFailed)
    orders.insert(run.hash)
    knownOrders = run.knownOrders
    if let failed { return .failure(failure(failed)) }
    guard run.choices.count >= choices.count else {
      let count = "it has \(choices.count) decisions, but the body has \(run.choices.count)."
      return .failure(failure(Failed(.unknownOrder("The order does not fit the test body: \(count)"), nil)))
    }
    return .success(report())
  }

  private struct Unfit: Error {
    let sentence: String
  }

  /// Runs the order of the decisions, and after them that of submission, and keeps what the failure shows.
  private func performShown(
    _ choices: [OrderChoice],
    hasFailed: (@Sendable (() -> Void) -> Bool)?
  ) -> (run: OrderRun, failed: Failed?) {
    var place = 0
    let (run, failed) = PendingFutures.shared.track(onlyThisThread: !isOnMain) {
      perform(isShown: true, hasFailed: hasFailed) { [names] possible, first in
        defer { place += 1 }
        guard place < choices.count else { return first }
        let choice = choices[place]
        guard possible.indices.contains(choice.index), names.letter(possible[choice.index]) == choice.letter else {
          throw Unfit(
            sentence: """
              The order does not fit the test body: decision \(place + 1) is “\(choice.letter)\(choice.index)”, but the body \
              offers \(names.describe(possible).shortList(separator: ", ")). The body has changed since the failure, or it is \
              not deterministic.
              """
          )
        }
        return choice.index
      }
    }
    return (run, failed)
  }

  /// Shrinks the order of a failure, and runs it again to show it.
  private func show(_ failed: Failed) -> Failed {
    switch failed.reason {
    case .endless, .uncontrolled, .notDeterministic, .unknownOrder: return failed
    // The test library has recorded this error already, and would record it once for each repetition.
    case .thrown(let error) where options.hasFailed == nil && "\(type(of: error))" == "ExpectationFailedError":
      return failed
    case .thrown, .expectation, .deadlock: break
    }
    let shrunk = shrink(failed)
    // Without `hasFailed`, so that the test library records the expectation at its line.
    for choices in [shrunk.choices, shrunk.run?.choices ?? []] {
      let (run, repeated) = performShown(choices, hasFailed: nil)
      if case .expectation = failed.reason, run.trace == shrunk.trace { return Failed(.expectation, run) }
      if let repeated, case .unknownOrder = repeated.reason {} else if let repeated { return repeated }
    }
    let order = names.describe(shrunk.trace).shortList(separator: " ▸ ")
    let sentence = "the order \(order) failed, and passed when it was repeated. \(failed.sentence)"
    return Failed(.notDeterministic(sentence), shrunk.run)
  }

  // MARK: - Shrinking

  /// Returns an order that fails in the same way, with fewer changes between contexts and tasks if a try finds one.
  ///
  /// A try joins two parts of one context or task, or exchanges two neighbours. The number of tries is limited.
  private func shrink(_ failed: Failed) -> Failed {
    var best = failed
    var triesLeft = isOnMain && !OrderRun.controlsMain ? 0 : 200
    var turnsLeft = 100_000
    while best.trace.count <= 500, !watch.isCancelled {
      var found: Failed?
      for candidate in candidates(best.trace) {
        guard triesLeft > 0, turnsLeft > 0 else { return best }
        triesLeft -= 1
        let (run, next) = tryOrder(candidate)
        turnsLeft -= run.turns
        guard let next, isSame(next, as: failed), next.cost < best.cost else { continue }
        found = next
        break
      }
      guard let found else { return best }
      best = found
    }
    return best
  }

  /// Whether two orders fail in the same way: for the same reason, and if they throw, with errors of one type.
  private func isSame(_ failed: Failed, as other: Failed) -> Bool {
    switch (failed.reason, other.reason) {
    case (.thrown(let left), .thrown(let right)): type(of: left) == type(of: right)
    case (.expectation, .expectation), (.deadlock, .deadlock): true
    default: false
    }
  }

  /// Orders that have fewer changes, if the body allows them: first those that join parts, then those that exchange neighbours.
  private func candidates(_ trace: [OrderMove]) -> [[OrderMove]] {
    var blocks: [[OrderMove]] = []
    for move in trace {
      if blocks.last?[0].origin == move.origin { blocks[blocks.count - 1].append(move) } else { blocks.append([move]) }
    }
    var found: [[OrderMove]] = []
    func add(moving index: Int, to place: Int) {
      var moved = blocks
      moved.insert(moved.remove(at: index), at: place)
      found.append(moved.flatMap(\.self))
    }
    for (index, block) in blocks.enumerated() {
      guard let next = blocks.indices.dropFirst(index + 2).first(where: { blocks[$0][0].origin == block[0].origin })
      else {
        continue
      }
      add(moving: next, to: index + 1)
      add(moving: index, to: next - 1)
    }
    for index in blocks.indices.dropLast() { add(moving: index, to: index + 1) }
    return found
  }

  /// Runs the order that is nearest to `target`.
  private func tryOrder(_ target: [OrderMove]) -> (run: OrderRun, failed: Failed?) {
    var rest = target
    return perform(hasFailed: options.hasFailed) { possible, first in
      guard let place = rest.firstIndex(where: { possible.contains($0) }) else { return first }
      return possible.firstIndex(of: rest.remove(at: place)) ?? first
    }
  }

  // MARK: - Reports

  private func report() -> OrderReport {
    var sentences: [String] = OrderRun.unobserved.map { [$0] } ?? []
    if hasLeftWork { sentences.append(OrderReport.leftWork) }
    if isCut { sentences.append(OrderReport.cut) }
    if watch.hasLateWork { sentences.append(OutsideNotice.late) }
    return OrderReport(
      orders: max(orders.count, 1),
      knownOrders: isComplete ? max(orders.count, 1) : max(knownOrders, orders.count + (isOne ? 0 : 1)),
      isExhaustive: isComplete && left.isEmpty && sentences.filter { $0 != OrderRun.unobserved }.isEmpty,
      callsActors: callsActors,
      left: left,
      sentences: sentences
    )
  }

  /// Whether one order ran, and the body has no other.
  private var isOne: Bool { orders.count <= 1 && knownOrders == 1 }

  private func failure(_ failed: Failed) -> OrderFailure {
    let run = failed.run
    let (notes, tasks) = run?.state.withLock { ($0.notes, $0.namedTasks) } ?? ([:], [:])
    let numbers = Set(failed.trace.filter { $0.source == OrderNames.task }.map(\.ordinal)).sorted().prefix(10)
    return OrderFailure(
      reason: failed.reason,
      sentence: failed.sentence,
      graph: run?.waitForGraph,
      order: names.describe(failed.trace, tasks),
      groups: names.group(failed.trace, leaving: run?.deviations ?? [], notes: notes, tasks),
      sites: numbers.compactMap { number in tasks[number]?.site.map { (names.task(number, tasks), $0) } },
      leftTasks: run?.leftTasks.map { names.task($0, tasks) } ?? [],
      repeating: OrderChoice.string(failed.choices),
      report: report(),
      fileID: options.fileID,
      line: options.line
    )
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderSearch.Failed {
  /// The failure of a run; `nil` if the body returned.
  init?(_ run: OrderRun, _ verdict: OrderRun.Verdict) {
    switch verdict {
    case .returned: return nil
    case .threw(let error): self.init(.thrown(error), run)
    case .deadlock(let waiting): self.init(.deadlock(waiting: waiting), run)
    case .uncontrolled(let sentence): self.init(.uncontrolled(sentence), run)
    case .endless(let sentence): self.init(.endless, run, sentence: sentence)
    case .strayed(let error as OrderPath.Difference): self.init(.notDeterministic(error.sentence(run)), run)
    case .strayed(let error): self.init(.unknownOrder((error as? OrderSearch.Unfit)?.sentence ?? "\(error)"), run)
    }
  }
}
