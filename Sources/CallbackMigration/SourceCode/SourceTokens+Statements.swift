/// Statements and the names in them.
extension SourceTokens {
  /// The statements between braces, each with its tokens.
  func statements(in body: Range<Int>) -> [Range<Int>] {
    guard !body.isEmpty else { return [] }
    let starts = CallbackBranches.statements(self, body)
    return starts.indices.map { starts[$0]..<($0 + 1 < starts.count ? starts[$0 + 1] : body.upperBound) }
  }

  /// The contents of the blocks of a statement, without closures in its conditions.
  func blocks(of statement: Range<Int>) -> [Range<Int>] {
    statement.filter { index in
      guard self[index] == "{", parent(index) == parent(statement.lowerBound) else { return false }
      if case .branch = block(at: index) { return true }
      return [.loop, .cases].contains(block(at: index))
    }.map { $0 + 1..<(partner($0) ?? $0 + 1) }
  }

  /// The statements of each case of a `switch`, by its brace.
  func cases(_ brace: Int) -> [Range<Int>] {
    guard let close = partner(brace) else { return [] }
    let labels = (brace + 1..<close).filter { index in
      parent(index) == brace && ["case", "default"].contains(self[index])
        && !["if", "guard", "while", "for", ","].contains(self[index - 1])
    }
    return labels.indices.map { index in
      var end = index + 1 < labels.count ? labels[index + 1] : close
      if self[end - 1] == "@unknown" { end -= 1 }
      let colon = (labels[index]..<end).first { self[$0] == ":" && parent($0) == brace } ?? end - 1
      return colon + 1..<end
    }
  }

  /// The tokens between a pair of braces, after the head of a closure.
  func content(of brace: Int) -> Range<Int> {
    let start = (closureSignature(at: brace)?.end ?? brace) + 1
    return start..<max(start, partner(brace) ?? start)
  }

  /// Whether a name is used in a range, also inside strings, and not in closures that have a parameter of that name.
  func uses(_ name: String, in range: Range<Int>) -> Bool {
    var index = range.lowerBound
    while index < range.upperBound {
      if let close = partner(index), hides(name, closureAt: index) { index = close }
      if self[index].contains("\"") {
        if ConvertedText.words(of: self[index]).contains(name) { return true }
      } else {
        let isLabel = self[index + 1] == ":" && ["(", ","].contains(self[index - 1])
        if self[index] == name, self[index - 1] != ".", !isLabel { return true }
      }
      index += 1
    }
    return false
  }

  /// Whether a closure has a parameter of this name, and does not use the outer name in its capture list.
  func hides(_ name: String, closureAt brace: Int) -> Bool {
    guard self[brace] == "{", let signature = closureSignature(at: brace), signature.parameters.contains(name) else {
      return false
    }
    return signature.captures?.contains { self[$0] == name } != true
  }

  /// The innermost brace around a token that is no branch, loop or case.
  func closureOrFunction(around index: Int) -> Int? {
    var bracket = parent(index)
    while let current = bracket {
      if self[current] == "{" {
        switch block(at: current) {
        case .branch, .cases, .loop, .deferred: break
        case .function, .accessor, .type, .closure: return current
        }
      }
      bracket = parent(current)
    }
    return nil
  }

  /// The braces of the `catch` clauses after a `do` block; empty if the braces are of another block.
  func catchClauses(ofDo brace: Int) -> [Int] {
    guard self[brace] == "{", block(at: brace) == .branch("do") || isThrowingDo(brace), var end = partner(brace) else {
      return []
    }
    var clauses: [Int] = []
    while self[end + 1] == "catch" {
      var index = end + 2
      while index < items.count, self[index] != "{" { index = (partner(index).map { max($0, index) } ?? index) + 1 }
      guard let close = partner(index) else { break }
      clauses.append(index)
      end = close
    }
    return clauses
  }

  private func isThrowingDo(_ brace: Int) -> Bool {
    self[brace - 1] == ")" && self[statementStart(before: brace)] == "do"
  }

  /// The arguments between brackets, each with its label.
  func arguments(in brackets: ClosedRange<Int>) -> [(label: String?, value: Range<Int>)] {
    var found: [(label: String?, value: Range<Int>)] = []
    var start = brackets.lowerBound + 1
    var index = start
    while index <= brackets.upperBound {
      if index == brackets.upperBound || self[index] == "," {
        if start < index {
          let isLabelled = Self.isWord(self[start]) && self[start + 1] == ":"
          found.append((isLabelled ? self[start] : nil, (isLabelled ? start + 2 : start)..<index))
        }
        start = index + 1
      }
      index = (partner(index).map { max($0, index) } ?? index) + 1
    }
    return found
  }
}
