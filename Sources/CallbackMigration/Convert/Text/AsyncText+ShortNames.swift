/// The names in place of `$0`, `$1` …
extension AsyncText {
  /// The text of a token, with the names of a callback's parameters that the callback itself does not name.
  func token(_ index: Int) -> String {
    let text = tokens[index]
    guard text.contains("$"), let brace = tokens.closureOrFunction(around: index), let names = shortNames[brace] else {
      return text
    }
    return Self.naming(names, in: text)
  }

  /// Replaces `$0`, `$1` … in code and in the interpolations of its strings, and not in its closures.
  private static func naming(_ names: [String], in code: String) -> String {
    let tokens = SourceTokens(code)
    var result = ""
    var end = 0
    for index in tokens.items.indices {
      result += tokens.source[end..<tokens.items[index].range.lowerBound]
      end = tokens.end(index)
      let text = tokens[index]
      if tokens.isInBraces(index) {
        result += text
      } else if text.contains("\"") {
        result += naming(names, inString: text)
      } else {
        result += text.hasPrefix("$") ? Int(text.dropFirst()).flatMap { names[safe: $0] } ?? text : text
      }
    }
    return result + tokens.source[end..<code.utf8.count]
  }

  private static func naming(_ names: [String], inString text: String) -> String {
    let escape = "\\" + text.prefix { $0 == "#" }
    var rest = text[...]
    var result = ""
    while !rest.isEmpty {
      let isInterpolation = rest.hasPrefix(escape + "(")
      let length = isInterpolation ? escape.count : rest.hasPrefix(escape) ? escape.count + 1 : 1
      result += rest.prefix(length)
      rest = rest.dropFirst(length)
      guard isInterpolation else { continue }
      let brackets = Lexer.bracketsLength(rest)
      result += naming(names, in: String(rest.prefix(brackets)))
      rest = rest.dropFirst(brackets)
    }
    return result
  }
}

extension SourceTokens {
  fileprivate func isInBraces(_ index: Int) -> Bool {
    var bracket = parent(index)
    while let current = bracket, self[current] != "{" { bracket = parent(current) }
    return bracket != nil
  }
}
