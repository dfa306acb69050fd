internal import Futures

/// Moves of one context or task that come one after the other.
struct OrderGroup: Sendable, CustomStringConvertible {
  /// The heading of the group's column; `nil` for steps, timers and the like, which share a column.
  let column: String?

  /// The group's text in its column, for example `1–3`.
  let cell: String

  /// The group in one line, for example `screen(1–3)`.
  let description: String

  /// Whether the order of submission has another move in the place of the group's first move.
  let isDeviation: Bool

  /// The notes of the test in its moves.
  let notes: [String]
}

extension OrderNames {
  /// Groups neighbouring moves.
  /// - Parameters:
  ///   - moves: The moves of an order.
  ///   - deviations: The places at which the order leaves that of submission.
  ///   - notes: The notes by places; `-1` before the first move.
  ///   - tasks: The names of tasks.
  /// - Returns: The groups, in order.
  func group(
    _ moves: [OrderMove],
    leaving deviations: Set<Int>,
    notes: [Int: [String]],
    _ tasks: [Int32: OrderTask]
  ) -> [OrderGroup] {
    let names = describe(moves, tasks)
    var groups: [OrderGroup] = []
    var start = 0
    while start < moves.count {
      var end = start + 1
      while end < moves.count, continues(moves[end - 1], moves[end]), notes[end - 1] == nil { end += 1 }
      let early = start == 0 ? notes[-1] ?? [] : []
      groups.append(
        group(
          moves[start..<end],
          (names[start], task(moves[start].ordinal, tasks)),
          start,
          deviations,
          early + (start..<end).flatMap { notes[$0] ?? [] }
        )
      )
      start = end
    }
    return groups
  }

  private func continues(_ move: OrderMove, _ next: OrderMove) -> Bool {
    guard move.origin == next.origin else { return false }
    return move.source < 0 && move.source != Self.main ? true : next.ordinal == move.ordinal + 1
  }

  private func group(
    _ moves: ArraySlice<OrderMove>,
    _ names: (move: String, task: String),
    _ start: Int,
    _ deviations: Set<Int>,
    _ notes: [String]
  ) -> OrderGroup {
    let name = names.move
    let first = moves[moves.startIndex]
    let last = moves[moves.endIndex - 1]
    let base = self.name(first.source)
    let isTask = first.source == Self.task || first.source == Self.body || first.source == Self.hop
    let isDeviation = (start..<start + moves.count).contains { deviations.contains($0) }
    let (column, cell, description): (String?, String, String)
    if isTask {
      let count = moves.count > 1 ? " ×\(moves.count)" : ""
      let isHop = first.source == Self.hop
      column = isHop ? self.column(ofHop: first.ordinal, names.task) : name
      (cell, description) = ("\(isHop ? "hop" : "●")\(count)", "\(name)\(count)")
    } else {
      let range = moves.count > 1 ? "\(first.ordinal)–\(last.ordinal)" : nil
      description = range.map { "\(base)(\($0))" } ?? name
      column = isContext(first.source) ? base : nil
      cell = column == nil ? description : range ?? "\(first.ordinal)"
    }
    return OrderGroup(column: column, cell: cell, description: description, isDeviation: isDeviation, notes: notes)
  }

  private func column(ofHop task: Int32, _ name: String) -> String {
    switch task {
    case Self.unknownTask: "actor"
    case 0: "body"
    default: name
    }
  }
}

extension [OrderGroup] {
  private static var maximumWidth: Int { 110 }
  private static var maximumRows: Int { 60 }

  /// The groups as the rows of a table; `nil` if there are none, or the table is too large.
  var timeline: String? {
    guard !isEmpty, count <= Self.maximumRows else { return nil }
    var headings: [String?] = []
    for group in self where group.column != nil && !headings.contains(group.column) { headings.append(group.column) }
    if contains(where: { $0.column == nil }) { headings.append(nil) }
    let widths = headings.map { heading in
      Swift.max(heading?.count ?? 0, filter { $0.column == heading }.map(\.cell.count).max() ?? 0)
    }
    let number = "\(count)".count
    guard widths.reduce(number + 2, { $0 + 2 + $1 }) <= Self.maximumWidth else { return nil }
    func row(_ start: String, _ cells: [String], _ notes: [String]) -> String {
      let columns = zip(cells, widths).map { "  " + $0.padded(to: $1) }.joined()
      let note = notes.isEmpty ? "" : "  — \(notes.joined(separator: "; "))"
      return (start + columns + note).trimmedAtEnd
    }
    var rows = [row(String(repeating: " ", count: number + 2), headings.map { $0 ?? "" }, [])]
    for (index, group) in enumerated() {
      let place = "\(group.isDeviation ? "*" : " ") " + String(repeating: " ", count: number - "\(index + 1)".count)
      rows.append(
        row("\(place)\(index + 1)", headings.map { $0 == group.column ? group.cell : "" }, group.notes)
      )
    }
    return rows.joined(separator: "\n")
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }

  fileprivate var trimmedAtEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
