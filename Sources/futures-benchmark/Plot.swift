/// The rows as a picture: bars for costs, and lines for how costs grow.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct Plot {
  let rows: [Row]

  var svg: String {
    let costs = rows.filter { $0.size == nil && $0.ours.timesBaseline != nil }
    let growing = rows.filter { $0.size != nil && $0.ours.nanoseconds != nil }
    var drawing = Drawing(width: growing.isEmpty ? 780 : 1_200)
    drawing.text("Costs of swift-futures", x: 24, y: 36, size: 20, isBold: true)
    if !costs.isEmpty { CostBars(rows: costs).draw(on: &drawing, top: 56) }
    if !growing.isEmpty { GrowthLines(rows: growing).draw(on: &drawing, top: costs.isEmpty ? 56 : drawing.height + 24) }
    return drawing.svg
  }
}
