extension WaitForGraph {
  /// The nodes that can end although a node that they wait for never does.
  struct Ends {
    /// The nodes that their timeout or their token can end.
    var byThemselves: Set<Node.ID> = []
    /// The nodes that end with any of the nodes that they wait for: races.
    var withOneInput: Set<Node.ID> = []
  }

  /// Finds a circle in each group of nodes that wait for each other and cannot end in another way.
  /// - Parameter ends: The nodes that do not need all the nodes that they wait for.
  mutating func findCycles(_ ends: Ends) {
    let stuck = stuckNodes(ends)
    let edges = edges.filter { stuck.contains($0.waiter) && stuck.contains($0.awaited) }
    let awaited = Dictionary(grouping: edges, by: \.waiter).mapValues { $0.map(\.awaited) }
    let waiters = Dictionary(grouping: edges, by: \.awaited).mapValues { $0.map(\.waiter) }
    // Removes the chains before and behind circles first, because the loop below follows all paths from each node that is left.
    var unsearched = Self.peel(Self.peel(stuck, awaited, waiters), waiters, awaited)
    cycles = []
    // The edges are sorted by the awaited node, and each node of a circle is awaited. So older circles come first.
    for id in edges.map(\.awaited) where unsearched.contains(id) {
      // The nodes that `id` reaches and that reach `id`; empty if `id` is in no circle.
      let group = Self.reached(from: id, awaited).intersection(Self.reached(from: id, waiters))
      unsearched.subtract(group)
      unsearched.remove(id)
      if group.contains(id) { cycles.append(cycle(in: group, awaited)) }
    }
  }

  /// Returns the nodes from which a path along `next` reaches a circle.
  ///
  /// Removes the nodes without a next node, until each node that is left has one. `previous` has the edges of `next`, reversed.
  private static func peel(_ nodes: Set<Int>, _ next: [Int: [Int]], _ previous: [Int: [Int]]) -> Set<Int> {
    var (kept, nextCount) = (nodes, next.mapValues(\.count))
    var deadEnds = nodes.filter { nextCount[$0] == nil }.map { $0 }
    while let id = deadEnds.popLast() {
      kept.remove(id)
      for node in previous[id] ?? [] {
        nextCount[node]! -= 1
        if nextCount[node] == 0 { deadEnds.append(node) }
      }
    }
    return kept
  }

  /// Returns the nodes that the paths from a node reach; `start` itself only if it is in a circle.
  private static func reached(from start: Int, _ next: [Int: [Int]]) -> Set<Int> {
    var (found, unvisited): (Set<Int>, [Int]) = ([], [start])
    while let id = unvisited.popLast() {
      for node in next[id] ?? [] where found.insert(node).inserted { unvisited.append(node) }
    }
    return found
  }

  /// Returns the nodes that never end, whatever the producers do: they wait for a circle or for a broken promise.
  ///
  /// Removes the nodes that can end, then nodes that wait only for removed ones, and races that wait for one. O(nodes + edges).
  private func stuckNodes(_ ends: Ends) -> Set<Node.ID> {
    let waiters = Dictionary(grouping: edges, by: \.awaited)
    // How many nodes each waiter still needs before it ends.
    var missing = Dictionary(grouping: edges, by: \.waiter).mapValues(\.count)
    var stuck = Set(nodes.map(\.id))
    var ending = nodes.map(\.id).filter(ends.byThemselves.contains)
    // Nodes that wait for no other node: their producer can resolve them. A broken node has lost its producer.
    ending += nodes.filter { $0.state != .broken && missing[$0.id] == nil }.map(\.id)
    while let id = ending.popLast() {
      guard stuck.remove(id) != nil else { continue }
      for waiter in waiters[id, default: []].map(\.waiter) {
        missing[waiter, default: 0] -= 1
        if missing[waiter] == 0 || ends.withOneInput.contains(waiter) { ending.append(waiter) }
      }
    }
    return stuck
  }

  /// Returns the shortest circle through the oldest node of `group`; all nodes of the group reach each other along `awaited`.
  private func cycle(in group: Set<Int>, _ awaited: [Int: [Int]]) -> [Node.ID] {
    // A breadth-first search from the oldest node finds the shortest path back.
    let start = group.min()!
    var previous: [Int: Int] = [:]
    var queue = [start]
    var next = 0
    while next < queue.count {
      let id = queue[next]
      next += 1
      for target in awaited[id] ?? [] where group.contains(target) {
        if target == start {
          var path = [id]
          while path.last != start, let node = previous[path.last!] { path.append(node) }
          return path.reversed()
        }
        if previous[target] == nil {
          previous[target] = id
          queue.append(target)
        }
      }
    }
    return [start]  // not reached, because `start` is in a circle of the group
  }
}
