import Foundation

/// One line for each scaling row: the cost of a part by the number of parts, or of threads.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct GrowthLines {
  let rows: [Row]

  private let colors = ["#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2", "#be185d"]
  private let height = 360.0

  func draw(on drawing: inout Drawing, top: Double) {
    let heading = "How costs grow: nanoseconds for each part (across: how many parts, or threads; both logarithmic)"
    drawing.text(heading, x: 24, y: top + 14, size: 14, isBold: true)
    let across = LogScale(numbers: 1...1_000_000, places: (from: 80, to: 700))
    let up = LogScale(numbers: costs, places: (from: top + 40 + height, to: top + 40))
    for power in across.powers {
      let x = across.place(power)
      drawing.gridLine(x1: x, y1: up.places.to, x2: x, y2: up.places.from)
      drawing.text(power.formatted(), x: x, y: up.places.from + 18, anchor: .middle, size: 11)
    }
    for power in up.powers {
      let y = up.place(power)
      drawing.gridLine(x1: across.places.from, y1: y, x2: across.places.to, y2: y)
      drawing.text("\(power.formatted()) ns", x: across.places.from - 8, y: y + 4, anchor: .end, size: 11)
    }
    for (index, kind) in kinds.enumerated() {
      let color = colors[index % colors.count]
      let points = kind.rows.map { row in
        (x: across.place(Double(row.size ?? 1)), y: up.place(row.ours.nanoseconds ?? 1))
      }
      drawing.polyline(points, color: color)
      let y = top + 52 + 24 * Double(index)
      drawing.polyline([(x: 730, y: y - 4), (x: 760, y: y - 4)], color: color)
      drawing.text("\(kind.name)  \(kind.rows[0].work)", x: 770, y: y)
    }
  }

  /// The powers of ten around all costs.
  private var costs: ClosedRange<Double> {
    let exponents = rows.compactMap(\.ours.nanoseconds).map { log10($0) }
    let lowest = (exponents.min() ?? 0).rounded(.down)
    return pow(10, lowest)...pow(10, max(lowest + 1, (exponents.max() ?? 0).rounded(.up)))
  }

  /// Groups rows that differ only in their size, by the first word of their names.
  private var kinds: [(name: Substring, rows: [Row])] {
    var kinds: [(name: Substring, rows: [Row])] = []
    for row in rows {
      let name = row.name.prefix { $0 != " " }
      if kinds.last?.name == name { kinds[kinds.count - 1].rows.append(row) } else { kinds.append((name, [row])) }
    }
    return kinds
  }
}
