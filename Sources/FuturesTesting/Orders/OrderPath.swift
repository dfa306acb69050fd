/// The decisions of the present run, depth first: each run takes the next branch at the last decision that has one.
///
/// The first run takes the order of submission. A run that finds other moves than the run before, after the same decisions, shows
/// that the body is not deterministic.
struct OrderPath {
  private struct Decision {
    let possible: [OrderMove]
    var index: Int

    /// The branches that no run has taken.
    var left: [Int]
  }

  /// An earlier run with the same decisions had other moves here.
  struct Difference: Error {
    let before: [OrderMove]
    let now: [OrderMove]
  }

  private var decisions: [Decision] = []

  /// The number of decisions of the present run.
  private var depth = 0

  /// Whether there is nothing to decide.
  var isEmpty: Bool { decisions.isEmpty }

  /// Begins a run.
  mutating func begin() { depth = 0 }

  /// Returns the index of the next move; `first` is that of the move that was submitted first.
  mutating func choose(_ possible: [OrderMove], _ first: Int) throws(Difference) -> Int {
    defer { depth += 1 }
    if depth == decisions.count {
      let others = possible.indices.filter { $0 != first }
      decisions.append(Decision(possible: possible, index: first, left: others))
    }
    guard decisions[depth].possible == possible else {
      throw Difference(before: decisions[depth].possible, now: possible)
    }
    return decisions[depth].index
  }

  /// Ends a run; returns the difference to the run before, which had more decisions.
  func end() -> Difference? {
    depth < decisions.count ? Difference(before: decisions[depth].possible, now: []) : nil
  }

  /// Goes to the next order.
  /// - Returns: Whether there is one.
  mutating func advance() -> Bool {
    while let last = decisions.last, last.left.isEmpty { decisions.removeLast() }
    guard let last = decisions.indices.last else { return false }
    decisions[last].index = decisions[last].left.removeFirst()
    return true
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderPath.Difference {
  func sentence(_ run: OrderRun) -> String {
    func list(_ moves: [OrderMove]) -> String {
      moves.isEmpty ? "nothing to decide" : run.names.describe(moves).shortList(separator: ", ")
    }
    let order = run.names.describe(run.trace).shortList(separator: " ▸ ")
    return """
      after the same decisions, two runs had different work. \(order.isEmpty ? "At the beginning" : "After \(order)") this run had \
      \(list(now)), and an earlier run \(list(before)). Random numbers, the real time, and state that outlives a run cause this.
      """
  }
}
