/// Draws the samples of a soak: bytes, threads and descriptors over time.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct SoakPlot {
  let samples: [SoakSample]

  private static let width = 720.0
  private static let panel = 120.0
  private static let margin = 60.0

  /// An SVG picture that reads in light and in dark.
  var svg: String {
    let panels: [(String, (SoakSample) -> Double)] = [
      ("live bytes, KiB", { Double($0.bytes) / 1_024 }), ("threads", { Double($0.threads) }),
      ("descriptors", { Double($0.descriptors) }),
    ]
    let height = Self.margin + Double(panels.count) * (Self.panel + Self.margin)
    let body = panels.enumerated().map { index, panel in
      draw(panel.0, panel.1, top: Self.margin + Double(index) * (Self.panel + Self.margin))
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(height))" role="img">
      <title>Live bytes, threads and descriptors of the process over time</title>
      <style>
      text { font: 12px sans-serif; fill: #1f2328; } path { fill: none; stroke: #0969da; } line { stroke: #d1d9e0; }
      @media (prefers-color-scheme: dark) { text { fill: #f0f6fc; } path { stroke: #4493f8; } line { stroke: #3d444d; } }
      </style>
      \(body.joined(separator: "\n"))
      </svg>

      """
  }

  /// Draws one panel.
  ///
  /// Its vertical axis begins at zero.
  private func draw(_ title: String, _ value: (SoakSample) -> Double, top: Double) -> String {
    let (left, right) = (Self.margin, Self.width - 10)
    let (seconds, highest) = (max(samples.last?.seconds ?? 1, 1), max(samples.map(value).max() ?? 1, 1))
    // A screen does not show more.
    let shown = stride(from: 0, to: samples.count, by: max(1, samples.count / 300)).map { samples[$0] }
    let points = shown.map { sample in
      let x = left + sample.seconds / seconds * (right - left)
      return "\(Self.short(x)) \(Self.short(top + Self.panel * (1 - value(sample) / highest)))"
    }
    return """
      <text x="\(left)" y="\(top - 8)">\(title)</text>
      <line x1="\(left)" x2="\(right)" y1="\(top)" y2="\(top)"/>
      <line x1="\(left)" x2="\(right)" y1="\(top + Self.panel)" y2="\(top + Self.panel)"/>
      <text x="\(left - 6)" y="\(top + 4)" text-anchor="end">\(Int(highest))</text>
      <text x="\(left - 6)" y="\(top + Self.panel + 4)" text-anchor="end">0</text>
      <text x="\(right)" y="\(top + Self.panel + 18)" text-anchor="end">\(Int(seconds)) s</text>
      <path d="M \(points.joined(separator: " L "))"/>
      """
  }

  private static func short(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
}
