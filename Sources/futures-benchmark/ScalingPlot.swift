import Foundation

/// A picture of how costs grow, as SVG for light and dark mode: a line for each row, on logarithmic axes.
struct ScalingPlot {
  private static let (left, width, top, height) = (90.0, 640.0, 52.0, 240.0)
  private static let colors = ["#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2", "#be185d"]
  private var elements: [String] = []

  /// Draws the rows that have a size and a time.
  init(of rows: [Row]) {
    var lines: [(name: String, points: [(x: Double, y: Double)])] = []
    for row in rows {
      guard let size = row.size, let cost = row.ours.nanoseconds else { continue }
      let name = "\(row.name.prefix { $0 != " " })  \(row.work)"  // "S1" of "S1 1,000": the sizes share a line
      // The rows of one line come one after another.
      if lines.last?.name != name { lines.append((name, [])) }
      lines[lines.count - 1].points.append((Double(size), cost))
    }
    add("How costs grow: nanoseconds for each part, by the number of parts or threads.", x: 16, y: 24)
    let across = Axis(of: lines.flatMap { $0.points.map(\.x) }, length: Self.width)
    let up = Axis(of: lines.flatMap { $0.points.map(\.y) }, length: Self.height)
    let bottom = Self.top + Self.height  // `y` grows downwards
    for number in across.powersOfTen {
      add(Self.text(number), x: Self.left + across.place(number), y: bottom + 16, anchor: "middle")
    }
    for number in up.powersOfTen {
      let y = bottom - up.place(number)
      elements.append(#"<path d="M\#(Self.left) \#(y) h\#(Self.width)" class="grid"/>"#)
      add(Self.text(number), x: Self.left - 8, y: y + 4, anchor: "end")
    }
    for (index, line) in lines.enumerated() {
      let color = Self.colors[index % Self.colors.count]
      let places = line.points.map { "\(Self.left + across.place($0.x)) \(bottom - up.place($0.y))" }
      let path = places.joined(separator: " L")
      elements.append(#"<path d="M\#(path)" fill="none" stroke="\#(color)" stroke-width="2"/>"#)
      add(line.name, x: Self.left + Self.width + 12, y: Self.top + 12 + 18 * Double(index), color: color)
    }
  }

  func write(to file: String) throws {
    let svg = """
      <svg xmlns="http://www.w3.org/2000/svg" width="1100" height="340" viewBox="0 0 1100 340" role="img">
      <style>text { font: 12px sans-serif; fill: #1f2328; } .grid { stroke: #d1d9e0; }
      @media (prefers-color-scheme: dark) { text { fill: #f0f6fc; } .grid { stroke: #3d444d; } }</style>
      \(elements.joined(separator: "\n"))
      </svg>

      """
    try svg.write(toFile: file, atomically: true, encoding: .utf8)
  }

  private mutating func add(_ text: String, x: Double, y: Double, anchor: String = "start", color: String? = nil) {
    let style = color.map { #" style="fill: \#($0)""# } ?? ""
    elements.append(#"<text x="\#(x)" y="\#(y)" text-anchor="\#(anchor)"\#(style)>\#(text)</text>"#)
  }

  private static func text(_ number: Double) -> String { String(format: "%.6g", number) }
}

/// A logarithmic axis, which begins and ends at a power of ten.
private struct Axis {
  /// Smaller numbers, such as 0, are drawn at this one: 0 has no logarithm.
  private static let smallest = 1e-3
  private let range: ClosedRange<Double>
  private let length: Double

  init(of numbers: [Double], length: Double) {
    let lowest = log10(max(numbers.min() ?? 1, Self.smallest)).rounded(.down)
    let highest = log10(max(numbers.max() ?? 1, Self.smallest)).rounded(.up)
    range = lowest...max(lowest + 1, highest)  // not empty: `place` divides by its length
    self.length = length
  }

  var powersOfTen: [Double] {
    stride(from: range.lowerBound, through: range.upperBound, by: 1).map { pow(10, $0) }
  }

  /// Returns the distance of a number from the start of the axis.
  func place(_ number: Double) -> Double {
    let share = (log10(max(number, Self.smallest)) - range.lowerBound) / (range.upperBound - range.lowerBound)
    return (share * length).rounded()
  }
}
