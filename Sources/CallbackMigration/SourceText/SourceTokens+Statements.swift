/// Statements and the names in them.
extension SourceTokens {
  /// The statements between braces, each with its tokens.
  func statements(in body: Range<Int>) -> [Range<Int>] {
    guard let first = body.first else { return [] }
    var starts = [first]
    var index = first
    while index < body.upperBound {
      // `beginsStatement` is also true for `else` and `catch`, but here these continue the statement of `if`, `guard` or `do`.
      let continues = self[index] == "else" || self[index] == "catch"
      if index > first, !continues, self[index - 1] == ";" || beginsStatement(index) { starts.append(index) }
      index = indexAfterTokenOrBrackets(at: index)
    }
    return starts.indices.map { behindLabel(starts[$0])..<($0 + 1 < starts.count ? starts[$0 + 1] : body.upperBound) }
  }

  /// The token behind the label of a statement, as in `rows: for row in rows {`; `index` itself without a label.
  func behindLabel(_ index: Int) -> Int {
    let canHaveLabel = ["for", "while", "repeat", "if", "switch", "do"].contains(self[index + 2])
    return Self.isWord(self[index]) && self[index + 1] == ":" && canHaveLabel ? index + 2 : index
  }

  /// The contents of the braces of a branching statement, a loop or a `switch`, without closures in its condition.
  func blocks(of statement: Range<Int>) -> [Range<Int>] {
    statement.filter { index in
      guard self[index] == "{", parent(index) == parent(statement.lowerBound) else { return false }
      return [.branch, .loop, .cases].contains(block(at: index))
    }.map { $0 + 1..<(partner($0) ?? $0 + 1) }
  }

  /// The tokens after the label of each case, in the `switch` whose body begins at `brace`.
  func cases(_ brace: Int) -> [Range<Int>] {
    guard let close = partner(brace) else { return [] }
    let labels = (brace + 1..<close).filter { index in
      parent(index) == brace && ["case", "default"].contains(self[index])
        && !Self.wordsBeforePattern.contains(self[index - 1]) && self[index - 1] != "."  // a member such as `.default`
    }
    return labels.indices.map { index in
      var end = index + 1 < labels.count ? labels[index + 1] : close
      if self[end - 1] == "@unknown" { end -= 1 }  // of the next label
      let colon = (labels[index]..<end).first { self[$0] == ":" && parent($0) == brace } ?? end - 1  // no colon: empty
      return colon + 1..<end
    }
  }

  /// The tokens after which `case`, as in `if case`, begins a pattern and no label.
  static let wordsBeforePattern: Set<String> = ["if", "guard", "while", "for", ","]

  /// The tokens between a pair of braces, after the head of a closure; empty if no pair begins at `brace`.
  func content(of brace: Int) -> Range<Int> {
    let start = (closureSignature(at: brace)?.end ?? brace) + 1
    return start..<max(start, partner(brace) ?? start)  // `max`, because the partner of a closing brace comes earlier
  }

  /// Whether a parameter of a closure hides an outer `name`.
  func hides(_ name: String, closureAt brace: Int) -> Bool {
    closureSignature(at: brace)?.parameters.contains(name) == true
  }

  /// The brace of the innermost closure, function or accessor around a token.
  func closureOrFunction(around index: Int) -> Int? { braces(around: index).first { !block(at: $0).isInFunction } }

  /// The brace of the innermost loop around a token in its function; with `orSwitch`, a `switch` counts, as for `break`.
  func brace(ofLoopAround index: Int, orSwitch: Bool) -> Int? {
    braces(around: index).prefix { block(at: $0).isInFunction }.first {
      block(at: $0) == .loop || orSwitch && block(at: $0) == .cases
    }
  }

  /// The opening braces around a token, the innermost first.
  private func braces(around index: Int) -> some Sequence<Int> {
    sequence(state: index) { bracket in
      while let outer = parent(bracket) {
        bracket = outer
        if self[outer] == "{" { return outer }
      }
      return nil
    }
  }

  /// The braces of the body of the function whose name is at `name`; `nil` for a requirement, which has no body.
  func body(ofFunction name: Int) -> ClosedRange<Int>? {
    var open = name + 1
    if self[open] == "<" {  // generic parameters
      while open < items.count, self[open] != "(" { open += 1 }
    }
    guard self[open] == "(", let close = partner(open) else { return nil }
    var index = close + 1
    while index < items.count, self[index] != "{" {
      // The protocol around a requirement ends, or the next declaration begins.
      guard parent(index) == parent(name) else { return nil }
      if isFirstOnLine(index), Self.declarations.contains(self[index]) { return nil }
      index = indexAfterTokenOrBrackets(at: index)
    }
    guard self[index] == "{", let end = partner(index) else { return nil }
    return index...end
  }

  /// The words that begin the next declaration after a requirement.
  private static let declarations: Set<String> = [
    "func", "var", "let", "init", "static", "public", "internal", "private", "@available", "associatedtype",
    "subscript", "mutating", "@MainActor", "@discardableResult", "nonisolated", "fileprivate", "package", "struct",
    "class", "enum", "protocol", "extension",
  ]

  /// The name of the function that gets a closure; `nil` for other braces, or if no name or label precedes: `load({ … })`.
  func functionCalled(withClosure brace: Int) -> Int? {
    guard self[brace] == "{", case .closure(let word?) = block(at: brace) else { return nil }
    guard self[word + 1] == ":" else { return word }  // as in `load {`, `load(…) {`; otherwise `word` is a label
    // In `load { … } onEnd: { … }` the function is that of the closure before the label.
    if self[word - 1] == "}" { return partner(word - 1).flatMap(functionCalled) }
    return parent(word).map { $0 - 1 }  // the name before the parentheses around the label
  }
}
