extension WaitForGraph: CustomStringConvertible {
  /// The graph as a tree, the oldest producer first.
  ///
  /// An indented line waits for the line above it. The text begins with the circles, because nothing in a circle ever ends.
  public var description: String {
    var text = TreeText(self)
    return text.render()
  }
}

extension WaitForGraph: CustomReflectable {
  /// Has no children, so that `po` in LLDB writes the text alone.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension WaitForGraph.Node: CustomStringConvertible {
  /// The node in one line, for example `promise "login" at App/Session.swift:42, pending for 12.3 s`.
  public var description: String { ([title] + facts).joined(separator: ", ") }

  /// The node without its age and state, in one line.
  var title: String { unescapedTitle.oneLine }

  private var unescapedTitle: String {
    let name = label.map { " \"\($0)\"" } ?? ""
    let place = fileID.map { " at \($0):\(line ?? 0)" } ?? ""
    let whereItRuns = context.map { " on \($0)" } ?? ""
    let types = types.map { " (\($0))" } ?? ""
    switch kind {
    case .stage where count > 1: return "\(count.grouped) stages of \(operation ?? "a future")\(types)"
    case .stage: return "\(operation ?? "derived future")\(types)\(name)\(place)\(whereItRuns)"
    case .callback where hasMore: return "at least \(count.grouped) callbacks\(whereItRuns)"
    case .callback where count > 1: return "\(count.grouped) callbacks\(whereItRuns)"
    case .callback: return "callback\(whereItRuns)"
    case .await: return label == nil ? "await" : "await in the task\(name)"
    case .blockedThread: return context == nil ? "thread blocked in wait()" : "main thread, blocked in wait()"
    case .work: return "\(operation ?? "callback")\(types) submitted to \(context ?? "a context")\(origin(name, place))"
    case .timer: return "\(label ?? "delay")\(place)\(whereItRuns)"
    case .wrappedCallback: return "withCallback\(name)\(place)"
    case .callbackStream: return "callbackStream\(name)\(place)"
    case .task: return "task\(context.map { " of \($0)" } ?? "")\(name)\(place)"
    case .promise: return "promise\(name)\(place)"
    case .request: return "request\(name)\(place)"
    case .join: return "join of futures"
    case .future: return "future\(name)\(place), whose producer is not tracked"
    }
  }

  /// Returns the end of a line for submitted work: the promise whose result it gets, or nothing if none is known.
  private func origin(_ name: String, _ place: String) -> String {
    name.isEmpty && place.isEmpty ? "" : ", with the result of the promise\(name)\(place)"
  }

  /// The age, the state and the progress, each as a part of a line.
  private var facts: [String] {
    var facts: [String] = []
    let time = age?.seconds
    switch state {
    case .pending where dueIn != nil: break  // the time until a timer fires follows
    case .pending: if let time { facts.append(kind == .await ? "for \(time)" : "pending for \(time)") }
    case .notStarted: facts.append("not started, because it has no consumer")
    case .following: facts.append("follows another future" + (time.map { ", pending for \($0)" } ?? ""))
    case .broken where kind == .stage: facts.append("broken, because its promise was dropped")
    case .broken: facts.append("broken: it was dropped unresolved, so its future never resolves")
    case .delivering: facts.append("resolved, and a callback or transform of its future has not returned")
    case .enqueued: facts.append("not started" + (time.map { " for \($0)" } ?? ""))
    case .running: facts.append("has not returned" + (time.map { ", submitted \($0) ago" } ?? ""))
    case .busy: facts.append("in use by another thread at this moment")
    }
    if let dueIn { facts.append(dueIn < 0 ? "late by \((-dueIn).seconds)" : "due in \(dueIn.seconds)") }
    if let progress, progress > 0 { facts.append("\(Int(progress * 100)) % done") }
    if hasMore, kind != .callback { facts.append("with more consumers than the first 2,000") }  // else in the title
    if isCancelled { facts.append("cancelled, but has not ended since") }
    return facts
  }
}

private struct TreeText {
  private let graph: WaitForGraph
  private let nodes: [Int: WaitForGraph.Node]
  private let waiters: [Int: [Int]]
  private let inCycle: Set<Int>
  private var written: Set<Int> = []
  private var lines: [String] = []

  /// Deeper lines have the same indentation, so that the text of a long chain is not as wide as it is long.
  private static let maximumIndentation = 90

  init(_ graph: WaitForGraph) {
    self.graph = graph
    nodes = Dictionary(graph.nodes.map { ($0.id, $0) }, uniquingKeysWith: { $1 })  // a repeated identity must not trap
    waiters = Dictionary(grouping: graph.edges, by: \.awaited).mapValues { $0.map(\.waiter) }
    inCycle = Set(graph.cycles.joined())
  }

  /// Returns the circles, then a tree for each node that waits for no other node, then the limits of the graph.
  mutating func render() -> String {
    guard graph.isTracking else {
      return
        "Nothing is tracked: FuturesDiagnostics.tracksPendingFutures is false. Set it early, for example in `main`.\n"
    }
    // Empty and not complete: another thread has the lock of the table of pending futures.
    guard !graph.nodes.isEmpty else { return graph.isComplete ? "Nothing is pending.\n" : "The table is in use.\n" }
    for cycle in graph.cycles { writeCycle(cycle) }
    let waiting = Set(graph.edges.map(\.waiter))
    // The oldest first; of the same age, the one that was made first.
    let roots = graph.nodes.filter { !waiting.contains($0.id) }.sorted { ($0.age ?? 0, $1.id) > ($1.age ?? 0, $0.id) }
    lines.append("An indented line waits for the line above it:")
    // A circle has no root, so its first node stands for one. The last list is for any other node that no root reaches.
    for root in roots.map(\.id) + graph.cycles.map({ $0[0] }) + graph.nodes.map(\.id) where !written.contains(root) {
      writeTree(root)
    }
    if graph.nodes.count >= GraphBuilder.maximumNodes {
      let count = graph.nodes.count.grouped
      lines.append("… and more, which was not searched for circles: the graph ends at \(count) objects.")
    } else if !graph.isComplete {
      lines.append("… and more than this text shows.")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private mutating func writeCycle(_ cycle: [Int]) {
    lines.append("A circle, in which nothing ever ends:")
    for id in cycle { lines.append("  \(nodes[id]?.title ?? "?") waits for") }
    lines.append("  \(nodes[cycle[0]]?.title ?? "?")")
  }

  /// Writes a node and the nodes that wait for it, in a loop and not by recursion, because a chain can be long.
  private mutating func writeTree(_ root: Int) {
    // `branch` begins the line of a node, and `indentation` begins the branches of its children.
    var stack: [(id: Int, branch: String, indentation: String)] = [(root, "", "")]
    while let (id, branch, indentation) = stack.popLast() {
      guard let node = nodes[id] else { continue }  // never: each edge connects two nodes of the graph
      guard written.insert(id).inserted else {
        // The text has the node and its waiters already. “↺” marks a node of a circle, “↑” any other node.
        lines.append("\(branch)\(inCycle.contains(id) ? "↺" : "↑") \(node.title) (above)")
        continue
      }
      lines.append("\(branch)\(inCycle.contains(id) ? "↺ " : "")\(node)")
      let children = waiters[id] ?? []
      let isTooWide = indentation.count >= Self.maximumIndentation
      for (position, child) in children.enumerated().reversed() {  // the stack then gives the first child first
        let isLast = position == children.count - 1
        let next = isTooWide ? indentation : indentation + (isLast ? "   " : "│  ")
        stack.append((child, indentation + (isLast ? "└─ " : "├─ "), next))
      }
    }
  }
}

extension Double {
  /// A time that is not negative, in seconds, with one digit after the point, three below a second, and none from 100 seconds on.
  fileprivate var seconds: String {
    if self >= 100 { return "\(Int(Int64.nearest(to: self)).grouped) s" }
    let scale: Double = self < 1 ? 1_000 : 10
    return "\(Double(Int64.nearest(to: self * scale)) / scale) s"
  }
}

extension Int {
  /// The number with commas between groups of three digits.
  package var grouped: String {
    var text = ""
    for (index, digit) in String(self).reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}
