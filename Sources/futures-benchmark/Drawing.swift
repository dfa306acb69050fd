import Foundation

/// An SVG picture with the shapes that the plot needs, in the colour scheme of its reader.
struct Drawing {
  enum Anchor: String {
    case start, middle, end
  }

  let width: Double
  private(set) var height = 0.0
  private var elements: [String] = []

  init(width: Double) { self.width = width }

  var svg: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.short(width))" height="\(Self.short(height))" \
    viewBox="0 0 \(Self.short(width)) \(Self.short(height))" role="img" font-family="Helvetica, Arial, sans-serif">
    <style>
    text { fill: #1f2328; } .grid { stroke: #d1d9e0; }
    @media (prefers-color-scheme: dark) { text { fill: #f0f6fc; } .grid { stroke: #3d444d; } }
    </style>
    \(elements.joined(separator: "\n"))
    </svg>

    """
  }

  mutating func rectangle(x: Double, y: Double, width: Double, height: Double, color: String) {
    add(
      "<rect \(Self.attributes(("x", x), ("y", y), ("width", width), ("height", height))) fill=\"\(color)\"/>",
      to: y + height
    )
  }

  mutating func line(x1: Double, y1: Double, x2: Double, y2: Double, color: String, width: Double) {
    let ends = Self.attributes(("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2), ("stroke-width", width))
    add("<line \(ends) stroke=\"\(color)\"/>", to: max(y1, y2))
  }

  mutating func gridLine(x1: Double, y1: Double, x2: Double, y2: Double) {
    let ends = Self.attributes(("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2))
    add("<line \(ends) class=\"grid\"/>", to: max(y1, y2))
  }

  mutating func polyline(_ points: [(x: Double, y: Double)], color: String) {
    let list = points.map { "\(Self.short($0.x)),\(Self.short($0.y))" }.joined(separator: " ")
    add(
      "<polyline points=\"\(list)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\"/>",
      to: points.map(\.y).max() ?? 0
    )
    for point in points {
      let place = Self.attributes(("cx", point.x), ("cy", point.y), ("r", 3))
      add("<circle \(place) fill=\"\(color)\"/>", to: point.y)
    }
  }

  mutating func text(
    _ text: String,
    x: Double,
    y: Double,
    anchor: Anchor = .start,
    size: Double = 12,
    isBold: Bool = false
  ) {
    let place = Self.attributes(("x", x), ("y", y), ("font-size", size))
    let weight = isBold ? " font-weight=\"bold\"" : ""
    add("<text \(place) text-anchor=\"\(anchor)\"\(weight)>\(Self.escaped(text))</text>", to: y)
  }

  private mutating func add(_ element: String, to bottom: Double) {
    elements.append(element)
    height = max(height, bottom + 24)
  }

  private static func attributes(_ values: (String, Double)...) -> String {
    values.map { "\($0)=\"\(short($1))\"" }.joined(separator: " ")
  }

  private static func short(_ number: Double) -> String { String(format: "%.1f", number) }

  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
  }
}

/// A logarithmic axis: maps numbers to places.
struct LogScale {
  let numbers: ClosedRange<Double>
  let places: (from: Double, to: Double)

  /// Returns the place of a number; numbers beyond the axis get the place of its end.
  func place(_ number: Double) -> Double {
    let inside = min(max(number, numbers.lowerBound), numbers.upperBound)
    let share = log(inside / numbers.lowerBound) / log(numbers.upperBound / numbers.lowerBound)
    return places.from + share * (places.to - places.from)
  }

  /// The powers of ten on it.
  var powers: [Double] {
    (-9...12).map { pow(10, Double($0)) }.filter {
      numbers.contains($0 * 1.000_001) || numbers.contains($0 * 0.999_999)
    }
  }
}
