extension WaitForGraph {
  /// Finds a circle in each group of nodes that wait for each other.
  ///
  /// Tarjan's algorithm, as a loop: a chain can be long. O(nodes + edges).
  mutating func findCycles() {
    let awaited = Dictionary(grouping: edges, by: \.waiter).mapValues { $0.map(\.awaited) }
    var (order, low): ([Int: Int], [Int: Int]) = ([:], [:])
    var (stack, onStack): ([Int], Set<Int>) = ([], [])
    cycles = []
    for start in nodes.map(\.id) where order[start] == nil {
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
