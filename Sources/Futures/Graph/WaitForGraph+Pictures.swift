extension WaitForGraph {
  /// The graph in the DOT language of Graphviz: `dot -Tsvg`.
  ///
  /// An arrow leads from a node that waits to the node that it waits for. Circles are red.
  public var dot: String {
    var lines = ["digraph pending {", "  rankdir=RL;", "  node [shape=box, fontname=\"Helvetica\"];"]
    let (inCycle, cycleEdges) = circles
    for node in nodes {
      let color = inCycle.contains(node.id) ? ", color=red" : ""
      let style = node.isCancelled ? ", style=dashed" : ""
      lines.append("  n\(node.id) [label=\"\(Self.escaped(node.description))\"\(color)\(style)];")
    }
    for edge in edges {
      lines.append("  n\(edge.waiter) -> n\(edge.awaited)\(cycleEdges.contains(edge) ? " [color=red]" : "");")
    }
    return (lines + ["}"]).joined(separator: "\n") + "\n"
  }

  /// The graph as a Mermaid flowchart, which many sites draw in Markdown.
  public var mermaid: String {
    var lines = ["flowchart RL"]
    let (inCycle, _) = circles
    for node in nodes {
      lines.append("  n\(node.id)[\"\(Self.escapedForMermaid(node.description))\"]")
      if inCycle.contains(node.id) { lines.append("  style n\(node.id) stroke:red") }
    }
    for edge in edges { lines.append("  n\(edge.waiter) --> n\(edge.awaited)") }
    return lines.joined(separator: "\n") + "\n"
  }

  private var circles: (nodes: Set<Node.ID>, edges: Set<Edge>) {
    var edges: Set<Edge> = []
    for cycle in cycles {
      for (position, id) in cycle.enumerated() {
        edges.insert(Edge(waiter: id, awaited: cycle[(position + 1) % cycle.count]))
      }
    }
    return (Set(cycles.joined()), edges)
  }

  // By scalars: a quotation mark with a combining mark is one character.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case "\"", "\\": text += "\\\(scalar)"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }

  private static func escapedForMermaid(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case "\"": text += "#quot;"
      case "<": text += "#lt;"
      case ">": text += "#gt;"
      case "#": text += "#35;"
      case "\\": text += "#92;"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}
