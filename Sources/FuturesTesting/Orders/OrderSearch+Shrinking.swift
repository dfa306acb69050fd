internal import CFuturesTesting
internal import Futures

// Fewer changes between contexts and tasks make an order easier to read.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderSearch {
  /// The greatest number of moves of an order that is shrunk: a longer order takes too long.
  private static let maximumMoves = 500

  /// The greatest number of turns of all tries together.
  private static let maximumTurns = 200_000

  /// Returns an order that fails in the same way, with fewer changes between contexts and tasks if a try finds one.
  ///
  /// A try joins two parts of one context or task, or exchanges two neighbours. The order can only become better:
  /// shorter, or with fewer changes, or nearer to the default order. The number of tries is limited.
  func shrink(_ failed: Failed) -> Failed {
    var best = failed
    var triesLeft = maximumTries(failed.reason)
    var turnsLeft = Self.maximumTurns
    guard failed.trace.count <= Self.maximumMoves else { return failed }
    while triesLeft > 0, !watch.isCancelled {
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

  /// The number of tries; fewer where each failure prints a line, or leaves a suspended task behind.
  private func maximumTries(_ reason: OrderFailure.Reason) -> Int {
    switch reason {
    case .thrown: 1_000
    case .expectation: 100
    case .deadlock: isOnMain && !OrderRun.controlsMain ? 0 : 100
    default: 0
    }
  }

  /// Whether two orders fail in the same way: with the same sentence, or with errors of one type and a new sentence.
  private func isSame(_ failed: Failed, as other: Failed) -> Bool {
    if failed.text == other.text { return true }
    guard case (.thrown(let left), .thrown(let right)) = (failed.reason, other.reason) else { return false }
    return type(of: left) == type(of: right) && !kinds.contains { $0.failed.text == failed.text }
  }

  /// Orders that have fewer changes, if the body allows them: first those that join parts, then those that exchange neighbours.
  private func candidates(_ trace: [OrderMove]) -> [[OrderMove]] {
    var blocks: [ArraySlice<OrderMove>] = []
    var start = 0
    for place in trace.indices.dropFirst() where OrderSource(trace[place]) != OrderSource(trace[place - 1]) {
      blocks.append(trace[start..<place])
      start = place
    }
    blocks.append(trace[start...])
    var found: [[OrderMove]] = []
    func add(moving index: Int, to place: Int) {
      var moved = blocks
      moved.insert(moved.remove(at: index), at: place)
      found.append(moved.flatMap(\.self))
    }
    for (index, block) in blocks.enumerated() {
      guard let source = block.first.map(OrderSource.init) else { continue }
      let next = blocks.indices.dropFirst(index + 2).first { blocks[$0].first.map(OrderSource.init) == source }
      guard let next else { continue }
      add(moving: next, to: index + 1)
      add(moving: index, to: next - 1)
    }
    for index in blocks.indices.dropLast() { add(moving: index, to: index + 1) }
    return found
  }

  /// Runs the order that is nearest to `target`.
  /// - Returns: The run; and the failure, if it failed.
  private func tryOrder(_ target: [OrderMove]) -> (run: OrderRun, failed: Failed?) {
    var rest = target
    let (run, verdict, isFailing) = performRun(hasFailed: options.hasFailed) { forced, possible in
      for move in forced {
        if let place = rest.firstIndex(of: move) { rest.remove(at: place) }
      }
      for move in rest {
        if let index = possible.firstIndex(of: move) { return index }
      }
      return 0
    }
    switch verdict {
    case .strayed, .uncontrolled, .endless: return (run, nil)
    default: break
    }
    let reason = verdict.reason ?? (isFailing ? .expectation : nil)
    return (run, reason.map { Failed($0, verdict, run) })
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderSearch.Failed {
  /// The cost that the search minimises.
  var cost: (Int, Int, Int) {
    let changes = zip(trace, trace.dropFirst()).count { OrderSource($0) != OrderSource($1) }
    return (trace.count, changes, deviations.count)
  }
}
