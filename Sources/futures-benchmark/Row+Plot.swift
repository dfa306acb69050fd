import ProgramSupport

/// Bars for the costs of rows, and lines for how costs grow.
func plot(of rows: [Row]) -> Plot {
  var plot = Plot()
  let costs = rows.filter { $0.size == nil }.flatMap { row in
    ([row.ours] + row.floors).enumerated().compactMap { index, measured -> Plot.Bar? in
      guard let cost = measured.timesBaseline else { return nil }
      let limit = row.budget.compactMap { if case .timesFloor(let limit) = $0 { limit } else { nil } }.first
      let mark = index == 0 ? row.floors.first?.timesBaseline.flatMap { floor in limit.map { $0 * floor } } : nil
      let text = "\((cost * 100).rounded() / 100)" + (index == 0 ? "" : " \(measured.name)")
      return Plot.Bar(row.name, text, value: cost, limit: mark)
    }
  }
  if !costs.isEmpty {
    plot.addBars("Cost, in allocations of an object with four words. Blue: ours, grey: floors, red: the budget.", costs)
  }
  var lines: [(name: String, points: [Plot.Point])] = []
  for row in rows {
    guard let size = row.size, let cost = row.ours.nanoseconds else { continue }
    let name = "\(row.name.prefix { $0 != " " })  \(row.work)"
    if lines.last?.name.prefix(while: { $0 != " " }) != name.prefix(while: { $0 != " " }) { lines.append((name, [])) }
    lines[lines.count - 1].points.append((Double(size), cost))
  }
  if !lines.isEmpty {
    plot.addLines(
      "How costs grow: nanoseconds for each part, by the number of parts or threads.",
      lines,
      isLogarithmic: true
    )
  }
  return plot
}
