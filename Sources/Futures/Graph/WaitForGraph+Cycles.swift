extension WaitForGraph {
  /// How a node can end although a node that it waits for never does.
  enum End {
    /// With its timeout or its token.
    case byItself
    /// With any of the nodes that it waits for: a race.
    case withOneInput
  }

  /// Finds a circle in each group of nodes that wait for each other and cannot end in another way.
  ///
  /// Tarjan's algorithm, as a loop: a chain can be long. O(nodes + edges).
  /// - Parameter ends: The nodes that do not need all the nodes that they wait for.
  mutating func findCycles(_ ends: [Node.ID: End]) {
    let stuck = stuckNodes(ends)
    let awaited = Dictionary(
      grouping: edges.filter { stuck.contains($0.waiter) && stuck.contains($0.awaited) },
      by: \.waiter
    )
    .mapValues { $0.map(\.awaited) }
    var (order, low): ([Int: Int], [Int: Int]) = ([:], [:])
    var (stack, onStack): ([Int], Set<Int>) = ([], [])
    cycles = []
    for start in nodes.map(\.id) where stuck.contains(start) && order[start] == nil {
      var path: [(id: Int, next: Int)] = []
      func enter(_ id: Int) {
        (order[id], low[id]) = (order.count, order.count)
        stack.append(id)
        onStack.insert(id)
        path.append((id, 0))
      }
      enter(start)
      while let (id, next) = path.last {
        if let targets = awaited[id], next < targets.count {
          path[path.count - 1].next += 1
          let target = targets[next]
          if order[target] == nil {
            enter(target)
          } else if onStack.contains(target) {
            low[id] = min(low[id]!, order[target]!)
          }
          continue
        }
        path.removeLast()
        if let parent = path.last?.id { low[parent] = min(low[parent]!, low[id]!) }
        guard low[id] == order[id] else { continue }
        var group: Set<Int> = []
        while let member = stack.popLast() {
          onStack.remove(member)
          group.insert(member)
          if member == id { break }
        }
        if group.count > 1 || awaited[id]?.contains(id) == true { cycles.append(cycle(in: group, awaited)) }
      }
    }
    cycles.sort { $0[0] < $1[0] }
  }

  /// The nodes that never end, whatever the producers outside do: they wait for a circle or for a broken promise.
  ///
  /// From the nodes that can end to those that wait only for them. O(nodes + edges).
  private func stuckNodes(_ ends: [Node.ID: End]) -> Set<Node.ID> {
    let waiters = Dictionary(grouping: edges, by: \.awaited)
    var missing = Dictionary(grouping: edges, by: \.waiter).mapValues(\.count)
    var stuck = Set(nodes.map(\.id))
    var ending = nodes.filter { ($0.state != .broken && missing[$0.id] == nil) || ends[$0.id] == .byItself }.map(\.id)
    while let id = ending.popLast() {
      guard stuck.remove(id) != nil else { continue }
      for waiter in waiters[id, default: []].map(\.waiter) {
        missing[waiter, default: 0] -= 1
        if missing[waiter] == 0 || ends[waiter] == .withOneInput { ending.append(waiter) }
      }
    }
    return stuck
  }

  /// A circle in a group of nodes that all reach each other, beginning with the oldest node that is in one.
  private func cycle(in group: Set<Int>, _ awaited: [Int: [Int]]) -> [Node.ID] {
    // Every node of the group is in a circle. The shortest one through the oldest node, by breadth.
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
