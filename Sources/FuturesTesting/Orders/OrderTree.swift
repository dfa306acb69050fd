/// The decisions of the orders that have run: a tree in which all orders below some branches have run.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct OrderTree {
  private struct Decision {
    let possible: [OrderMove]

    /// The branches below which orders are left.
    var left: [Int]
  }

  /// Bounds the memory: with that many, later decisions are not kept but random, so orders can repeat.
  private static let maximumDecisions = 200_000

  /// By the hashes of the decisions before them.
  private var decisions: [UInt64: Decision] = [:]

  /// Whether all orders have run.
  private(set) var isComplete = false

  /// Returns the index of the next move: `first`, or else a random branch with orders left; throws if an earlier run differed.
  mutating func choose(
    _ run: OrderRun,
    _ possible: [OrderMove],
    _ first: Int?,  // in the first run, the move that was submitted first; later `nil`
    _ random: inout SplitMix64
  ) throws(OrderStray) -> Int {
    let known = decisions[run.hash]
    guard known != nil || decisions.count < Self.maximumDecisions else {
      return first ?? random.next(below: possible.count)  // this decision is not kept
    }
    let decision = known ?? Decision(possible: possible, left: Array(possible.indices))
    guard decision.possible == possible else { throw OrderStray(run, before: decision.possible, now: possible) }
    if known == nil { decisions[run.hash] = decision }
    return first ?? decision.left[random.next(below: decision.left.count)]
  }

  /// Removes the branch of a run, and each branch above that has no orders left; throws if an earlier run had more decisions.
  mutating func end(_ run: OrderRun) throws(OrderStray) {
    if let next = decisions[run.hash] { throw OrderStray(run, before: next.possible, now: []) }
    for (hash, _, index) in run.decisions.reversed() {
      decisions[hash]?.left.removeAll { $0 == index }
      guard decisions[hash]?.left.isEmpty == true else { return }  // orders are left, or the decision was not kept
    }
    isComplete = true
  }
}

/// An earlier run with the same decisions had other moves: the body is not deterministic.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct OrderStray: Error {
  let sentence: String

  init(_ run: OrderRun, before: [OrderMove], now: [OrderMove]) {
    func list(_ moves: [OrderMove]) -> String {
      moves.isEmpty ? "nothing to decide" : moves.names().shortList(separator: ", ")
    }
    let order = run.trace.names().shortList(separator: " ▸ ")
    sentence = """
      after the same decisions, two runs had different work. \(order.isEmpty ? "At the beginning" : "After \(order)") this run \
      had \(list(now)), and an earlier run \(list(before)). Random numbers, the real time, and state that outlives a run cause \
      this.
      """
  }
}
