/// The orders that runs have taken: a tree of decisions, in which no order is taken twice.
///
/// A branch whose orders have all run is cut off. So a depth-first search keeps one path, and a random one keeps its paths.
final class OrderTree {
  private enum Branch {
    /// No run has taken it. Next is `node` or `finished`.
    case open
    /// Some of its orders have run. Next is `finished`.
    case node(Node)
    /// All of its orders have run. Final.
    case finished
  }

  private final class Node {
    /// The moves since the decision before.
    let forced: [OrderMove]
    let possible: [OrderMove]
    var branches: [Branch]
    var unfinished: Int

    init(forced: [OrderMove], possible: [OrderMove]) {
      (self.forced, self.possible) = (forced, possible)
      branches = Array(repeating: .open, count: possible.count)
      unfinished = possible.count
    }
  }

  /// An earlier run with the same decisions had other work at this place.
  struct Difference: Error {
    let before: [OrderMove]?
    let now: [OrderMove]?
  }

  private var root = Branch.open
  private var path: [(node: Node, index: Int)] = []

  /// The number of orders that have run.
  private(set) var finishedOrders = 0

  /// The number of orders that exist at least: those that have run, and one for each branch that no run has taken.
  private(set) var knownOrders = 1

  var isFinished: Bool {
    if case .finished = root { true } else { false }
  }

  /// Begins a run.
  func begin() { path.removeAll(keepingCapacity: true) }

  /// Decides between the possible moves: the first that has unfinished orders, or a random one.
  func choose(
    after forced: [OrderMove],
    among possible: [OrderMove],
    randomly random: (Int) -> Int?
  ) throws(Difference) -> Int {
    let node: Node
    switch branch {
    case .open:
      node = Node(forced: forced, possible: possible)
      setBranch(.node(node))
      knownOrders += possible.count - 1
    case .node(let known):
      guard known.possible == possible else { throw Difference(before: known.possible, now: possible) }
      guard known.forced == forced else { throw Difference(before: known.forced, now: forced) }
      node = known
    case .finished: throw Difference(before: nil, now: possible)
    }
    let unfinished = node.branches.indices.filter { index in
      if case .finished = node.branches[index] { false } else { true }
    }
    let index = unfinished[random(unfinished.count) ?? 0]
    path.append((node, index))
    return index
  }

  /// Ends a run.
  func end() throws(Difference) {
    switch branch {
    case .open: break
    case .node(let known): throw Difference(before: known.possible, now: nil)
    case .finished: throw Difference(before: nil, now: nil)
    }
    setBranch(.finished)
    finishedOrders += 1
    while let (node, _) = path.last {
      node.unfinished -= 1
      guard node.unfinished == 0 else { return }
      path.removeLast()
      setBranch(.finished)
    }
  }

  /// The branch at the end of the path.
  private var branch: Branch { path.last.map { $0.node.branches[$0.index] } ?? root }

  private func setBranch(_ branch: Branch) {
    if let (node, index) = path.last { node.branches[index] = branch } else { root = branch }
  }
}
