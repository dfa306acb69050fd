/// The orders that runs have taken: a tree of decisions, in which no order is taken twice.
///
/// A branch whose orders have all run is cut off. So a depth-first search keeps one path. A random search keeps its paths up to
/// `maximumNodes`; below these nodes, an order is known by a hash of its decisions, which takes 16 bytes and not four kilobytes.
final class OrderTree {
  private enum Branch {
    /// No run has taken this branch. Becomes `node` or `finished`.
    case open
    /// Some of its orders have run. Becomes `finished`.
    case node(Node)
    /// All of its orders have run. Final.
    case finished
  }

  private final class Node {
    /// The moves since the previous decision.
    let forced: [OrderMove]
    let possible: [OrderMove]
    var branches: [Branch]
    var unfinished: Int

    init(forced: [OrderMove], possible: [OrderMove]) {
      (self.forced, self.possible) = (forced, possible)
      branches = possible.map { _ in .open }
      unfinished = possible.count
    }
  }

  /// An earlier run with the same decisions had other work at this place.
  struct Difference: Error {
    let before: [OrderMove]?
    let now: [OrderMove]?
  }

  /// The greatest number of nodes at one time: about 20 MB.
  static let defaultMaximumNodes = 100_000

  private let maximumNodes: Int
  private var nodes = 0
  private var root = Branch.open
  private var path: [(node: Node, index: Int)] = []

  /// The decisions of this run below the nodes, as a hash; `nil` while the run is within the nodes.
  private var hash: UInt64?

  /// The hashes of the orders below the nodes.
  private var hashes: Set<UInt64> = []

  init(maximumNodes: Int = OrderTree.defaultMaximumNodes) { self.maximumNodes = maximumNodes }

  /// Releases the nodes one by one: a path can have 100,000 of them, and each would release the next on the same stack.
  deinit {
    var left = [root]
    (root, path) = (.finished, [])
    while let branch = left.popLast() {
      guard case .node(let node) = branch else { continue }
      left += node.branches
      node.branches = []
    }
  }

  /// The number of orders that have run.
  private(set) var finishedOrders = 0

  /// The number of orders that exist at least: those that have run, and one for each branch that no run has taken.
  private(set) var knownOrders = 1

  /// Whether random orders can come before depth-first ones.
  ///
  /// An order below the nodes could run once at random and once depth first, so there must be nodes left.
  var hasRoomForPaths: Bool { nodes < maximumNodes / 2 }

  var isFinished: Bool {
    if case .finished = root { true } else { false }
  }

  /// Begins a run.
  func begin() {
    path.removeAll(keepingCapacity: true)
    hash = nil
  }

  /// Returns the next move: of the possible moves with unfinished orders, the first, or the one that `select` selects.
  func choose(
    after forced: [OrderMove],
    among possible: [OrderMove],
    selecting select: ([OrderMove]) -> Int?
  ) throws -> Int {
    if let hash { return chooseBelowNodes(hash, possible, select) }
    let node: Node
    switch branch {
    case .open where nodes >= maximumNodes && !path.isEmpty:
      if let index = select(possible) { return keepBelowNodes(pathHash, index) }
      fallthrough
    case .open:
      node = Node(forced: forced, possible: possible)
      nodes += 1
      setBranch(.node(node))
      knownOrders += node.unfinished - 1
    case .node(let known):
      guard known.possible == possible else { throw Difference(before: known.possible, now: possible) }
      guard known.forced == forced else { throw Difference(before: known.forced, now: forced) }
      node = known
    case .finished: throw Difference(before: nil, now: possible)
    }
    let unfinished = node.branches.indices.filter { index in
      if case .finished = node.branches[index] { false } else { true }
    }
    let index = unfinished[select(unfinished.map { possible[$0] }) ?? 0]
    path.append((node, index))
    return index
  }

  private func chooseBelowNodes(_ hash: UInt64, _ possible: [OrderMove], _ select: ([OrderMove]) -> Int?) -> Int {
    keepBelowNodes(hash, select(possible) ?? 0)
  }

  private func keepBelowNodes(_ before: UInt64, _ index: Int) -> Int {
    var mixer = SplitMix64(seed: before ^ UInt64(index + 1))
    hash = mixer.next()
    return index
  }

  private var pathHash: UInt64 {
    path.reduce(0) { hash, step in
      var mixer = SplitMix64(seed: hash ^ UInt64(step.index + 1))
      return mixer.next()
    }
  }

  /// Ends a run.
  ///
  /// Where the tree keeps no nodes, it knows orders by their hashes, and counts an order once.
  func end() throws(Difference) {
    if let hash {
      if hashes.insert(hash).inserted { finishedOrders += 1 }
      knownOrders = max(knownOrders, finishedOrders + 1)
      return
    }
    switch branch {
    case .open: break
    case .node(let known): throw Difference(before: known.possible, now: nil)
    case .finished: throw Difference(before: nil, now: nil)
    }
    finishedOrders += 1
    finishBranch()
  }

  private func finishBranch() {
    setBranch(.finished)
    while let (node, _) = path.last {
      node.unfinished -= 1
      guard node.unfinished == 0 else { return }
      path.removeLast()
      nodes -= 1
      setBranch(.finished)
    }
  }

  /// The branch at the end of the path.
  private var branch: Branch { path.last.map { $0.node.branches[$0.index] } ?? root }

  private func setBranch(_ branch: Branch) {
    if let (node, index) = path.last { node.branches[index] = branch } else { root = branch }
  }
}
