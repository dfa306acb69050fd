extension WaitForGraph {
  /// The nodes that can end although a node that they wait for never does.
  struct Ends {
    /// With their timeout or their token.
    var byThemselves: Set<Node.ID> = []
    /// With any of the nodes that they wait for: races.
    var withOneInput: Set<Node.ID> = []
  }

  /// Finds a circle in each group of nodes that wait for each other and cannot end in another way.
  /// - Parameter ends: The nodes that do not need all the nodes that they wait for.
  mutating func findCycles(_ ends: Ends) {
    let stuck = stuckNodes(ends)
    let edges = edges.filter { stuck.contains($0.waiter) && stuck.contains($0.awaited) }
    let awaited = Dictionary(grouping: edges, by: \.waiter).mapValues { $0.map(\.awaited) }
    let waiters = Dictionary(grouping: edges, by: \.awaited).mapValues { $0.map(\.waiter) }
    // A chain that leads to a circle or to a broken promise, or away from one, can be long, and has no circle.
    var rest = Self.peel(Self.peel(stuck, awaited, waiters), waiters, awaited)
    cycles = []
    // Each node of a circle is awaited by another one; the edges are sorted by the awaited node, so the oldest comes first.
    for id in edges.map(\.awaited) where rest.contains(id) {
      let group = Self.reached(from: id, awaited).intersection(Self.reached(from: id, waiters))
      rest.subtract(group)
      rest.remove(id)
      if group.contains(id) { cycles.append(cycle(in: group, awaited)) }
    }
  }

  /// Returns the nodes without those that have no next node, and, again and again, those whose next nodes are all removed.
  private static func peel(_ nodes: Set<Int>, _ next: [Int: [Int]], _ previous: [Int: [Int]]) -> Set<Int> {
    var (rest, count) = (nodes, next.mapValues(\.count))
    var ends = nodes.filter { count[$0] == nil }.map { $0 }
    while let id = ends.popLast() {
      rest.remove(id)
      for node in previous[id] ?? [] {
        count[node]! -= 1
        if count[node] == 0 { ends.append(node) }
      }
    }
    return rest
  }

  /// Returns the nodes that the paths from a node reach; `start` itself only if it is in a circle.
  private static func reached(from start: Int, _ next: [Int: [Int]]) -> Set<Int> {
    var (found, rest): (Set<Int>, [Int]) = ([], [start])
    while let id = rest.popLast() { rest += (next[id] ?? []).filter { found.insert($0).inserted } }
    return found
  }

  /// The nodes that never end, whatever the producers outside do: they wait for a circle or for a broken promise.
  ///
  /// Begins with all nodes, and removes the nodes that can end, then the nodes that wait only for removed ones. O(nodes + edges).
  private func stuckNodes(_ ends: Ends) -> Set<Node.ID> {
    let waiters = Dictionary(grouping: edges, by: \.awaited)
    var missing = Dictionary(grouping: edges, by: \.waiter).mapValues(\.count)
    var stuck = Set(nodes.map(\.id))
    var ending = nodes.map(\.id).filter(ends.byThemselves.contains)
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

  /// A circle in a group of nodes that all reach each other, beginning with the oldest node that is in one.
  private func cycle(in group: Set<Int>, _ awaited: [Int: [Int]]) -> [Node.ID] {
    // Every node of the group is in a circle. A breadth-first search finds the shortest one through the oldest node.
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
    return [start]
  }
}
