/// The decisions of the orders that have run: a tree without the branches below which all orders have run.
///
/// A run that finds other moves than an earlier one, after the same decisions, shows that the body is not deterministic.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class OrderTree {
  private final class Node {
    let possible: [OrderMove]

    /// The branches below which orders are left, and the decision that follows there if a run has been there.
    var left: [(index: Int, next: Node?)]

    init(_ possible: [OrderMove]) {
      self.possible = possible
      left = possible.indices.map { ($0, nil) }
    }
  }

  /// Bounds the memory: below that number, the orders of a run are random, and can repeat earlier ones.
  private static let maximumNodes = 200_000

  private var root: Node?
  private var nodes = 0

  /// The decisions of the present run, and whether the tree has all of them.
  private var path: [(node: Node, place: Int)] = []
  private var hasAll = true

  /// Whether all orders have run.
  private(set) var isComplete = false

  /// Returns the index of the next move: `first`, or a random one below which orders are left.
  func choose(_ possible: [OrderMove], _ first: Int?, _ random: inout SplitMix64) throws -> Int {
    hasAll = hasAll && nodes < Self.maximumNodes
    guard hasAll else { return first ?? random.next(below: possible.count) }
    let next = path.last.map { $0.node.left[$0.place].next } ?? root
    let node = next ?? Node(possible)
    guard node.possible == possible else { throw OrderStray.differs(before: node.possible, now: possible) }
    if next == nil {
      nodes += 1
      if let (last, place) = path.last { last.left[place].next = node } else { root = node }
    }
    let place = first.flatMap { first in node.left.firstIndex { $0.index == first } }
    path.append((node, place ?? random.next(below: node.left.count)))
    return node.left[path[path.count - 1].place].index
  }

  /// Ends a run.
  /// - Returns: The difference to an earlier run, which had more decisions.
  func end() -> OrderStray? {
    defer { (path, hasAll) = ([], true) }
    guard hasAll else { return nil }
    let next = path.last.map { $0.node.left[$0.place].next } ?? root
    if let next { return .differs(before: next.possible, now: []) }
    while let (node, place) = path.popLast() {
      node.left.remove(at: place)
      if !node.left.isEmpty { return nil }
    }
    isComplete = true
    return nil
  }
}

/// Why a run cannot take the order that it should take.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
enum OrderStray: Error {
  /// The string to repeat does not fit the body; with the failure's sentence.
  case unfit(String)
  /// An earlier run with the same decisions had other moves.
  case differs(before: [OrderMove], now: [OrderMove])

  func reason(_ run: OrderRun) -> OrderFailure.Reason {
    func list(_ moves: [OrderMove]) -> String {
      moves.isEmpty ? "nothing to decide" : moves.names().shortList(separator: ", ")
    }
    switch self {
    case .unfit(let sentence): return .unknownOrder(sentence)
    case .differs(let before, let now):
      let order = run.trace.names().shortList(separator: " ▸ ")
      return .notDeterministic(
        """
        after the same decisions, two runs had different work. \(order.isEmpty ? "At the beginning" : "After \(order)") this run \
        had \(list(now)), and an earlier run \(list(before)). Random numbers, the real time, and state that outlives a run cause \
        this.
        """
      )
    }
  }
}
