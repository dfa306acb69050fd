extension String {
  /// The text with an escape for each control character and each line end, such as `\n` and `\u{1B}`.
  ///
  /// A label or a name can hold any character. In a text of lines it must not begin a line or control a terminal.
  var oneLine: String {
    guard unicodeScalars.contains(where: \.needsEscape) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      // By scalars: "\r\n" is one character.
      if scalar.needsEscape { text += scalar.escaped(asASCII: true) } else { text.unicodeScalars.append(scalar) }
    }
  }
}

extension Unicode.Scalar {
  fileprivate var needsEscape: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
