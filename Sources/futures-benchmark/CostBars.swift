import Foundation

/// One group of bars for each row: ours, its floors, and a mark at the budget.
struct CostBars {
  let rows: [Row]

  private let ours = "#2563eb"
  private let floor = "#9ca3af"
  private let otherFloor = "#d1d5db"
  private let budget = "#dc2626"
  private let bar = 13.0
  private let scale = LogScale(numbers: 0.05...1_000, places: (from: 165, to: 515))
  private var left: Double { scale.places.from }

  func draw(on drawing: inout Drawing, top: Double) {
    drawLegend(on: &drawing, y: top)
    let first = top + 52
    let height = rows.map { heightOfGroup($0) }.reduce(0, +)
    for number in scale.powers {
      let x = scale.place(number)
      drawing.gridLine(x1: x, y1: first - 8, x2: x, y2: first + height)
      drawing.text("×\(number.formatted(.number.grouping(.never)))", x: x, y: first - 14, anchor: .middle, size: 11)
    }
    var y = first
    for row in rows {
      draw(row, on: &drawing, top: y)
      y += heightOfGroup(row)
    }
  }

  private func drawLegend(on drawing: inout Drawing, y: Double) {
    var x = 24.0
    for (color, text) in [(ours, "ours"), (floor, "floor"), (otherFloor, "another floor")] {
      drawing.rectangle(x: x, y: y, width: 14, height: 11, color: color)
      drawing.text(text, x: x + 20, y: y + 10)
      x += 50 + 7 * Double(text.count)
    }
    drawing.line(x1: x, y1: y - 2, x2: x, y2: y + 13, color: budget, width: 2.5)
    drawing.text("budget", x: x + 8, y: y + 10)
    let unit = "×A: times the allocation of an object with four words"
    drawing.text(unit, x: drawing.width - 24, y: y + 10, anchor: .end)
  }

  private func heightOfGroup(_ row: Row) -> Double { bar * Double(1 + row.floors.count) + 9 }

  private func draw(_ row: Row, on drawing: inout Drawing, top: Double) {
    drawing.text(row.name, x: left - 10, y: top + 10, anchor: .end, isBold: true)
    let timesFloor = row.budget.compactMap { if case .timesFloor(let limit) = $0 { limit } else { nil } }.first
    let budget = row.floors.first?.timesBaseline.flatMap { floor in timesFloor.map { $0 * floor } }
    for (index, measured) in ([row.ours] + row.floors).enumerated() {
      guard let cost = measured.timesBaseline else { continue }
      let y = top + bar * Double(index)
      let end = scale.place(cost)
      let color = index == 0 ? ours : index == 1 ? floor : otherFloor
      drawing.rectangle(x: left, y: y, width: max(1, end - left), height: bar - 2, color: color)
      let number = String(format: cost < 10 ? "%.2f" : "%.0f", cost)
      var start = end + 6
      if index == 0, let budget {
        let mark = scale.place(budget)
        drawing.line(x1: mark, y1: y - 2, x2: mark, y2: y + bar, color: self.budget, width: 2.5)
        // The number comes after the mark if the two would overlap.
        if (end - 4...end + 14 + 7 * Double(number.count)).contains(mark) { start = mark + 6 }
      }
      drawing.text(index == 0 ? number : "\(number) \(measured.name)", x: start, y: y + 10, size: 11)
    }
  }
}
