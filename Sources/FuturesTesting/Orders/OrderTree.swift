/// The decisions of the orders that have run: a tree in which all orders below some branches have run.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct OrderTree {
  private struct Decision {
    let possible: [OrderMove]

    /// The branches below which orders are left.
    var left: [Int]
  }

  /// Bounds the memory: below that number, the orders of a run are random, and can repeat earlier ones.
  private static let maximumDecisions = 200_000

  /// By the hashes of the decisions before them.
  private var decisions: [UInt64: Decision] = [:]

  /// The decisions of the present run.
  private var path: [(hash: UInt64, index: Int)] = []

  /// Whether all orders have run.
  private(set) var isComplete = false

  /// Returns the index of the next move: `first`, or a random one below which orders are left.
  mutating func choose(
    _ run: OrderRun,
    _ possible: [OrderMove],
    _ first: Int?,
    _ random: inout SplitMix64
  ) throws(OrderStray) -> Int {
    let known = decisions[run.hash]
    guard path.count == run.choices.count, known != nil || decisions.count < Self.maximumDecisions else {
      return first ?? random.next(below: possible.count)
    }
    let decision = known ?? Decision(possible: possible, left: Array(possible.indices))
    guard decision.possible == possible else { throw .differs(run, before: decision.possible, now: possible) }
    if known == nil { decisions[run.hash] = decision }
    path.append((run.hash, first ?? decision.left[random.next(below: decision.left.count)]))
    return path[path.count - 1].index
  }

  /// Ends a run; throws if an earlier run had more decisions.
  mutating func end(_ run: OrderRun) throws(OrderStray) {
    defer { path = [] }
    guard path.count == run.choices.count else { return }
    if let next = decisions[run.hash] { throw .differs(run, before: next.possible, now: []) }
    while let (hash, index) = path.popLast() {
      decisions[hash]?.left.removeAll { $0 == index }
      if decisions[hash]?.left.isEmpty == false { return }
    }
    isComplete = true
  }
}

/// Why a run cannot take the order that it should take.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct OrderStray: Error {
  let reason: OrderFailure.Reason

  /// An earlier run with the same decisions had other moves: the body is not deterministic.
  static func differs(_ run: OrderRun, before: [OrderMove], now: [OrderMove]) -> OrderStray {
    func list(_ moves: [OrderMove]) -> String {
      moves.isEmpty ? "nothing to decide" : moves.names().shortList(separator: ", ")
    }
    let order = run.trace.names().shortList(separator: " ▸ ")
    let sentence = """
      after the same decisions, two runs had different work. \(order.isEmpty ? "At the beginning" : "After \(order)") this run \
      had \(list(now)), and an earlier run \(list(before)). Random numbers, the real time, and state that outlives a run cause \
      this.
      """
    return OrderStray(reason: .notDeterministic(sentence))
  }
}
