/// A function in the text of a file.
struct FunctionText {
  /// The token that is the function's name.
  let name: Int

  /// The function's name in documentation, such as `load(id:)`.
  let title: String
  let isAsync: Bool

  /// The braces of the function's body; `nil` for a protocol requirement.
  let body: ClosedRange<Int>?

  /// Reads the function whose name is a token; `nil` if there is none.
  init?(name: Int, in tokens: SourceTokens) {
    self.name = name
    var open = name + 1
    if tokens[open] == "<" {
      while open < tokens.items.count, tokens[open] != "(" { open += 1 }
    }
    guard tokens[open] == "(", let close = tokens.partner(open) else { return nil }
    let labels = (open..<close).filter { index in
      tokens.parent(index) == open && (index == open + 1 || tokens[index - 1] == ",") && tokens[index] != ")"
    }.map { index in
      var label = index
      while tokens[label].hasPrefix("@") { label += 1 }
      return tokens[label] + ":"
    }
    title = "\(tokens[name].filter { $0 != "`" })(\(labels.joined()))"
    var index = close + 1
    while index < tokens.items.count, tokens[index] != "{" {
      guard tokens.parent(index) == tokens.parent(name) else { break }
      if tokens.isFirstOnLine(index), Self.declarations.contains(tokens[index]) { break }
      index = (tokens.partner(index).map { max($0, index) } ?? index) + 1
    }
    if tokens[index] == "{", tokens.parent(index) == tokens.parent(name), let end = tokens.partner(index) {
      body = index...end
    } else {
      body = nil
    }
    isAsync = tokens.isAsync(from: name, to: min(index, tokens.items.count - 1))
  }

  /// Whether an attribute of the function has an argument with this label.
  ///
  /// The compiler's graph does not show `@available(*, renamed:)`.
  func hasAttribute(with label: String, in tokens: SourceTokens) -> Bool {
    var index = name - 1
    while index > 0 {
      let open = tokens[index - 1] == ")" ? tokens.partner(index - 1) : nil
      let modifier = (open ?? index) - 1
      guard tokens.isModifier(modifier) else { return false }
      let hasLabel = (modifier..<index).contains { tokens[$0] == label && tokens[$0 + 1] == ":" }
      if hasLabel { return true }
      index = modifier
    }
    return false
  }

  /// The words that begin the next declaration after a requirement.
  private static let declarations: Set<String> = [
    "func", "var", "let", "init", "static", "public", "internal", "private", "@available", "associatedtype",
    "subscript", "mutating", "@MainActor", "@discardableResult", "nonisolated", "fileprivate", "package", "struct",
    "class", "enum", "protocol", "extension",
  ]

  /// The functions of a file with this title.
  static func all(titled title: String, in tokens: SourceTokens) -> [FunctionText] {
    let base = title.prefix { $0 != "(" }
    return tokens.items.indices.compactMap { index in
      guard tokens[index].filter({ $0 != "`" }) == base, tokens[index - 1] == "func" else { return nil }
      return FunctionText(name: index, in: tokens)
    }.filter { $0.title == title }
  }
}
