import Foundation

/// A picture of bars and lines as SVG, for light and dark mode.
public struct Plot {
  /// A horizontal bar, with text before it and behind it.
  public struct Bar {
    let group, text: String
    let value: Double
    let limit: Double?

    /// Makes a bar of a group.
    ///
    /// The name and the strongest colour are at the first bar of the group. `limit` is the place of a red mark.
    public init(_ group: String, _ text: String, value: Double, limit: Double? = nil) {
      (self.group, self.text, self.value, self.limit) = (group, text, value, limit)
    }
  }

  /// A point of a line.
  public typealias Point = (x: Double, y: Double)

  private static let (left, width, panel) = (90.0, 640.0, 240.0)
  private static let colors = ["#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2", "#be185d"]
  private var elements: [String] = []
  private var height = 20.0

  /// An empty picture.
  public init() {}

  /// Adds bars on a logarithmic axis.
  public mutating func addBars(_ title: String, _ bars: [Bar]) {
    addTitle(title)
    let axis = Axis(
      of: bars.map(\.value) + bars.compactMap(\.limit) + [0.1],
      isLogarithmic: true,
      length: Self.width - 260
    )
    var group = ""
    for bar in bars {
      let isFirst = bar.group != group
      group = bar.group
      if isFirst {
        height += 8
        add(bar.group, x: Self.left - 8, y: height + 10, anchor: "end")
      }
      let end = Self.left + max(1, axis.place(bar.value))
      elements.append(
        #"<rect x="\#(Self.left)" y="\#(height)" width="\#(end - Self.left)" height="11" "#
          + #"fill="\#(isFirst ? Self.colors[0] : "#9ca3af")"/>"#
      )
      if let limit = bar.limit {
        let x = Self.left + axis.place(limit)
        elements.append(##"<path d="M\##(x) \##(height - 2) v15" stroke="#dc2626" stroke-width="2.5"/>"##)
      }
      // The text comes after the mark if the two would overlap.
      let mark = bar.limit.map { Self.left + axis.place($0) } ?? 0
      add(bar.text, x: (end...end + 60).contains(mark) ? mark + 6 : end + 6, y: height + 10)
      height += 13
    }
  }

  /// Adds lines, whose axes begin at zero if they are not logarithmic.
  public mutating func addLines(
    _ title: String,
    _ lines: [(name: String, points: [Point])],
    isLogarithmic: Bool = false
  ) {
    addTitle(title)
    let points = lines.flatMap(\.points)
    let across = Axis(of: points.map(\.x), isLogarithmic: isLogarithmic, length: Self.width)
    let up = Axis(of: points.map(\.y), isLogarithmic: isLogarithmic, length: Self.panel)
    let bottom = height + Self.panel
    for number in across.numbers {
      add(Self.text(number), x: Self.left + across.place(number), y: bottom + 16, anchor: "middle")
    }
    for number in up.numbers {
      let y = bottom - up.place(number)
      elements.append(#"<path d="M\#(Self.left) \#(y) h\#(Self.width)" class="grid"/>"#)
      add(Self.text(number), x: Self.left - 8, y: y + 4, anchor: "end")
    }
    for (index, line) in lines.enumerated() {
      let color = Self.colors[index % Self.colors.count]
      let path = line.points.map { "\(Self.left + across.place($0.x)) \(bottom - up.place($0.y))" }.joined(
        separator: " L"
      )
      elements.append(#"<path d="M\#(path)" fill="none" stroke="\#(color)" stroke-width="2"/>"#)
      add(line.name, x: Self.left + Self.width + 12, y: bottom - Self.panel + 12 + 18 * Double(index), color: color)
    }
    height = bottom + 32
  }

  /// Writes the picture to a file.
  public func write(to file: String) throws {
    let size = #"width="1100" height="\#(height + 16)""#
    let svg = """
      <svg xmlns="http://www.w3.org/2000/svg" \(size) viewBox="0 0 1100 \(height + 16)" role="img">
      <style>text { font: 12px sans-serif; fill: #1f2328; } .grid { stroke: #d1d9e0; }
      @media (prefers-color-scheme: dark) { text { fill: #f0f6fc; } .grid { stroke: #3d444d; } }</style>
      \(elements.joined(separator: "\n"))
      </svg>

      """
    try svg.write(toFile: file, atomically: true, encoding: .utf8)
  }

  private mutating func addTitle(_ title: String) {
    height += 24
    add(title, x: 16, y: height - 10)
    height += 8
  }

  private mutating func add(_ text: String, x: Double, y: Double, anchor: String = "start", color: String? = nil) {
    let style = color.map { #" style="fill: \#($0)""# } ?? ""
    let escaped = text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    elements.append(#"<text x="\#(x)" y="\#(y)" text-anchor="\#(anchor)"\#(style)>\#(escaped)</text>"#)
  }

  private static func text(_ number: Double) -> String { String(format: "%.6g", number) }
}

/// Maps numbers to places.
private struct Axis {
  private let range: ClosedRange<Double>
  private let isLogarithmic: Bool
  private let length: Double

  init(of numbers: [Double], isLogarithmic: Bool, length: Double) {
    let (least, most) = (numbers.min() ?? 0, max(numbers.max() ?? 1, 1e-3))
    let lowest = isLogarithmic ? log10(max(least, 1e-3)).rounded(.down) : 0
    range = lowest...max(lowest + 1, isLogarithmic ? log10(most).rounded(.up) : most)
    (self.isLogarithmic, self.length) = (isLogarithmic, length)
  }

  /// The numbers to label: the powers of ten, or the two ends of the axis.
  var numbers: [Double] {
    isLogarithmic
      ? stride(from: range.lowerBound, through: range.upperBound, by: 1).map { pow(10, $0) }
      : [range.lowerBound, range.upperBound]
  }

  func place(_ number: Double) -> Double {
    let number = isLogarithmic ? log10(max(number, 1e-3)) : number
    let share = (number - range.lowerBound) / (range.upperBound - range.lowerBound)
    return (min(max(share, 0), 1) * length).rounded()
  }
}
