extension StringProtocol {
  /// The width of the text in columns of a terminal, at most.
  ///
  /// It is an upper bound: terminals differ for emoji of several scalars, and this adds their widths.
  var terminalColumns: Int {
    unicodeScalars.reduce(0) { $0 + $1.terminalColumns }
  }

  /// The text with a width of `columns`: padded with spaces, or cut with "…" at its end.
  func fitted(to columns: Int) -> String {
    var width = terminalColumns
    guard width > columns else { return self + String(repeating: " ", count: columns - width) }
    var text = String(self)
    while width >= columns, let last = text.popLast() { width -= String(last).terminalColumns }
    return columns > 0 ? (text + "…").fitted(to: columns) : ""
  }

  /// The text with spaces before it, at least `columns` wide.
  func rightAligned(in columns: Int) -> String {
    String(repeating: " ", count: Swift.max(0, columns - terminalColumns)) + self
  }
}

extension Unicode.Scalar {
  /// The width of the scalar in columns of a terminal.
  fileprivate var terminalColumns: Int {
    if isASCII { return 1 }
    switch properties.generalCategory {
    // It turns the symbol before it into an emoji, which is wider.
    case .nonspacingMark where value == 0xFE0F: return 1
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    // Vowels and finals of decomposed Hangul share the place of their initial.
    if (0x1160...0x11FF).contains(value) { return 0 }
    return properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) } ? 2 : 1
  }

  /// The wide scripts of East Asia, as blocks: Hangul, Han, Kana, Yi, Tangut, and full-width forms.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FF, 0x1F200...0x1F265,
    0x20000...0x3FFFD,
  ]
}
