/// The parts of one call in a source file.
struct CallSite {
  /// The token with the name of the function.
  let name: Int

  /// The first token of the expression, such as `store` of `store.load(id: 1)`.
  let start: Int

  /// The last token, with trailing closures.
  let end: Int

  /// The brackets of the arguments.
  let arguments: ClosedRange<Int>?

  /// The brace of the callback, where that is a closure written at the call.
  let callback: Int?

  /// The brace of the closure for a failure, where the function has one and it is written at the call.
  let failure: Int?

  /// Whether the call gives the callback, in any form.
  let givesCallback: Bool

  /// The use of the call's value.
  let use: Use

  enum Use: Equatable {
    /// The call is a statement.
    case statement

    /// `_ = call`.
    case discarded

    /// `return call`.
    case returned

    /// The value is kept or used.
    case used

    /// The number of tokens of a `_ =` or `return` before the call; otherwise 0.
    var lead: Int {
      switch self {
      case .discarded: 2
      case .returned: 1
      case .statement, .used: 0
      }
    }
  }

  /// Reads the call whose name is a token; `nil` if the name is not called.
  /// - Parameters:
  ///   - name: The token.
  ///   - tokens: The tokens of the file.
  ///   - label: The label of the callback.
  ///   - failureLabel: The label of the closure for a failure, where the function has one.
  init?(name: Int, in tokens: SourceTokens, label: String, failureLabel: String? = nil) {
    self.name = name
    var end = name
    var callback: Int?
    var failure: Int?
    var arguments: ClosedRange<Int>?
    if tokens[end + 1] == "(", !tokens.isFirstOnLine(end + 1), let close = tokens.partner(end + 1) {
      arguments = (end + 1)...close
      callback = Self.closure(labelled: label, in: (end + 1)...close, tokens)
      failure = failureLabel.flatMap { Self.closure(labelled: $0, in: (end + 1)...close, tokens) }
      end = close
    }
    let open = arguments?.lowerBound
    func isGiven(_ label: String) -> Bool {
      arguments?.contains { tokens[$0] == label && tokens[$0 + 1] == ":" && tokens.parent($0) == open } == true
    }
    var hasTrailing = false
    if tokens[end + 1] == "{", tokens.isTrailingClosure(end + 1), let close = tokens.partner(end + 1) {
      // The first trailing closure is for the first callback that the brackets do not have, in any form.
      if !isGiven(label), failureLabel == nil || callback == nil {
        callback = end + 1
      } else if let failureLabel, !isGiven(failureLabel) {
        failure = end + 1
      }
      end = close
      hasTrailing = true
      while SourceTokens.isWord(tokens[end + 1]), tokens[end + 2] == ":", tokens[end + 3] == "{",
        let close = tokens.partner(end + 3)
      {
        if tokens[end + 1] == label { callback = end + 3 }
        if tokens[end + 1] == failureLabel { failure = end + 3 }
        end = close
      }
    }
    guard arguments != nil || hasTrailing else { return nil }
    self.end = end
    self.arguments = arguments
    self.callback = callback
    self.failure = failure
    givesCallback = callback != nil || label == "_" || isGiven(label)
    start = Self.start(of: name, tokens)
    use = Self.use(start, end, tokens)
  }

  /// The opening brace of the closure that is the argument with a label.
  private static func closure(labelled label: String, in range: ClosedRange<Int>, _ tokens: SourceTokens) -> Int? {
    var index = range.lowerBound + 1
    while index < range.upperBound {
      let isLabelled = SourceTokens.isWord(tokens[index]) && tokens[index + 1] == ":"
      let value = isLabelled ? index + 2 : index
      if tokens[value] == "{", label == "_" ? !isLabelled : isLabelled && tokens[index] == label { return value }
      while index < range.upperBound, tokens[index] != "," {
        if let close = tokens.partner(index), close > index { index = close }
        index += 1
      }
      index += 1
    }
    return nil
  }

  /// The first token of the expression that ends in a name.
  private static func start(of name: Int, _ tokens: SourceTokens) -> Int {
    var start = name
    while start > 0, tokens[start - 1] == "." {
      var base = start - 2
      while base >= 0, tokens[base] == "?" || tokens[base] == "!" { base -= 1 }
      while base >= 0, [")", "]", "}"].contains(tokens[base]), let open = tokens.partner(base) {
        let isCall = open > 0 && tokens.touch(open - 1, open)
        base = isCall && tokens[open] != "{" ? open - 1 : open
        if !isCall { break }
      }
      guard base >= 0 else { break }
      start = base
    }
    return start
  }

  private static func use(_ start: Int, _ end: Int, _ tokens: SourceTokens) -> Use {
    let next = end + 1
    let isEnd = tokens[next] == "" || tokens[next] == "}" || tokens[next] == ";" || tokens.isFirstOnLine(next)
    guard isEnd, ![".", "?", ":", "=", "==", "&", "|", "+"].contains(tokens[next]) else { return .used }
    let before = start - 1
    if tokens[before] == "=", tokens[before - 1] == "_" { return .discarded }
    if tokens[before] == "return", !tokens.isFirstOnLine(start) { return .returned }
    if before < 0 || tokens[before] == ";" || tokens[before] == "{" { return .statement }
    if tokens[before] == "in", let brace = tokens.parent(before), tokens.closureSignature(at: brace)?.end == before {
      return .statement
    }
    let isStatement = tokens.statementStart(before: start + 1) == start
    return isStatement ? .statement : .used
  }
}
