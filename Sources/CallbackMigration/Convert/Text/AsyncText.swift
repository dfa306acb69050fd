/// Writes code in which each callback is the code after an await.
///
/// Copies the text of the callback, so that no part of it is lost. If the text divides into success and failure, the
/// success comes after the await, and the failure into a `catch`. Otherwise the new code makes the callback's arguments
/// from the await.
struct AsyncText {
  let tokens: SourceTokens

  /// The calls, by the first token of their statement.
  let calls: [Int: AwaitedCall]

  /// The callback of the function that becomes async; `nil` in code that is async already.
  let own: OwnCallback?

  /// Whether each callback keeps its arguments and its statements, so that no comment is lost.
  let isWhole: Bool

  /// Texts that replace tokens, by the first replaced token.
  var replacements: [Int: (text: String, end: Int)] = [:]

  /// The names that replace `$0`, `$1` …, by the token of the callback's opening brace.
  let shortNames: [Int: [String]]

  /// The opening braces of callbacks that have a weak or unowned capture.
  let weakBraces: Set<Int>

  typealias Refusal = ConvertedText.Refusal

  init(_ tokens: SourceTokens, _ calls: [AwaitedCall], own: OwnCallback? = nil, isWhole: Bool = false) {
    self.tokens = tokens
    self.isWhole = isWhole
    self.own = own
    self.calls = Dictionary(
      calls.map { (Self.statementStart(of: $0.site), $0) },
      uniquingKeysWith: { first, _ in first }
    )
    var names: [Int: [String]] = [:]
    var weak: Set<Int> = []
    for call in calls {
      for (brace, isFailure) in [(call.site.callback, false), (call.site.failure, true)] {
        guard let brace else { continue }
        let signature = tokens.closureSignature(at: brace)
        if signature?.parameters.isEmpty != false {
          names[brace] = Self.names(of: call.form, isFailure).map { tokens.unused($0, in: tokens.content(of: brace)) }
        }
        if let captures = signature?.captures, captures.contains(where: { ["weak", "unowned"].contains(tokens[$0]) }) {
          weak.insert(brace)
        }
      }
    }
    shortNames = names
    weakBraces = weak
  }

  static func statementStart(of site: CallSite) -> Int { site.start - site.use.lead }

  static func names(of form: ResultForm, _ isFailure: Bool) -> [String] {
    if isFailure { return ["error"] }
    switch form {
    case .result: return ["result"]
    case .error: return ["error"]
    case .values(let count): return valueNames(count)
    case .successOrFailure(let values): return valueNames(values.count)
    case .valuesOrError(let values), .presentValuesOrError(let values): return valueNames(values.count) + ["error"]
    }
  }

  static func valueNames(_ count: Int) -> [String] {
    count == 1 ? ["value"] : (0..<count).map { "value\($0 + 1)" }
  }

  // MARK: Copying

  /// The new text of statements, with the comments around them.
  func text(_ range: Range<Int>) throws(Refusal) -> String {
    let start = tokens.items[range.lowerBound - 1].range.upperBound
    let first = tokens.items[range.lowerBound].range.lowerBound
    guard !range.isEmpty else { return tokens.source[start..<first].trimmed }
    let last = tokens.items[range.upperBound - 1].range.upperBound
    let end = tokens.items.indices.contains(range.upperBound) ? tokens.items[range.upperBound].range.lowerBound : last
    return (tokens.source[start..<first] + (try copy(range)) + tokens.source[last..<end]).trimmed
  }

  /// The new text of tokens, without the comments around them.
  /// - Parameters:
  ///   - range: The tokens.
  ///   - isCallee: Whether the tokens are the expression before a called name, such as `store` in `store.load`.
  /// - Returns: The text.
  /// - Throws: A refusal.
  func copy(_ range: Range<Int>, isCallee: Bool = false) throws(Refusal) -> String {
    var result = ""
    var index = range.lowerBound
    var isGapSkipped = true
    while index < range.upperBound {
      if isGapSkipped {
        isGapSkipped = false
      } else {
        result += tokens.source[tokens.items[index - 1].range.upperBound..<tokens.items[index].range.lowerBound]
      }
      if let replacement = replacements[index] {
        result += replacement.text
        index = replacement.end
      } else if let call = calls[index], !isCallee || index > range.lowerBound {
        result += try awaited(call)
        index = afterReturn(call.site.end + 1)
        if needsReturn(call), SourceTokens(result).items.last?.text != "return" { result += "\nreturn" }
        if call.site.use == .returned { try requireEnd(index, before: range.upperBound) }
      } else if let found = try ownCall(index) {
        result += found.text
        if tokens[index] == "return" { try requireEnd(found.end, before: range.upperBound) }
        index = found.end
      } else if let hop = QueueHop(at: index, of: own?.queueName, in: tokens) {
        let content = try text(hop.content)
        result += introducedNames(in: content).isEmpty ? content : "do {\n\(content)\n}"
        index = afterReturn(hop.site.end + 1)
      } else if let found = guardOfSelf(index) {
        result += found.text
        index = found.end
      } else if let end = conditionOfSelf(index) {
        index = end
        isGapSkipped = true
      } else if let head = weakHead(index) {
        result += head.text
        index = head.end
      } else if let block = passingDo(index, before: range.upperBound) {
        let content = try text(block.content)
        result += hides(content, at: index) ? "do {\n\(content)\n}" : content
        index = block.end
      } else {
        result += token(index)
        index += try isWeakUse(index) ? 2 : 1
      }
    }
    return result
  }

  /// The token after a `return` without a value that follows a call of the own callback; `index` if there is none.
  func afterReturn(_ index: Int) -> Int {
    let word = tokens[index] == ";" ? index + 1 : index
    guard own != nil, tokens[word] == "return" else { return index }
    return tokens[word + 1] == "}" || tokens.isFirstOnLine(word + 1) ? word + 1 : index
  }

  /// Throws if a statement follows a `return` without a value: Swift would read the statement as that value.
  private func requireEnd(_ index: Int, before end: Int) throws(Refusal) {
    let ends = ["}", ";", "case", "default", "@unknown", "#endif", "#else", "#elseif"]
    guard index < end, !ends.contains(tokens[index]) else { return }
    throw Refusal("line \(tokens.line(index)) is after a `return`, and never runs; delete it")
  }

  /// Whether a returned call needs a `return` after its new text, because other code follows.
  private func needsReturn(_ call: AwaitedCall) -> Bool {
    guard own == nil, call.site.use == .returned else { return false }
    return tokens[call.site.end + 1] != "}" || tokens.parent(call.site.start) != enclosing(call)
  }

  // MARK: `weak self`

  /// Whether `self` is weak or unowned at a token, because an awaited callback captures it so.
  func isWeak(_ index: Int) -> Bool {
    guard !weakBraces.isEmpty else { return false }
    var bracket = tokens.parent(index)
    while let current = bracket {
      if weakBraces.contains(current) { return true }
      // This closure stays, and captures `self` itself.
      if tokens[current] == "{", capturesSelf(current) || staysWeak(current) { return false }
      bracket = tokens.parent(current)
    }
    return false
  }

  /// Whether a token begins `self?`, for which the new text has `self`.
  private func isWeakUse(_ index: Int) throws(Refusal) -> Bool {
    guard tokens[index] == "self", tokens[index + 1] == "?", isWeak(index) else { return false }
    let start = tokens.statementStart(before: index + 1)
    let isStatement = start == index && !tokens.givesType(index)
    guard isStatement || ["if", "guard", "return"].contains(tokens[start]) || ownArguments(start) != nil else {
      throw Refusal("line \(tokens.line(index)) has an optional value of `self?`, and `self` gives another type")
    }
    return true
  }

  /// The token after `let self` or `let self = self`.
  private func bindingOfSelf(_ index: Int) -> Int? {
    guard tokens[index] == "let", ["self", "`self`"].contains(tokens[index + 1]), isWeak(index) else { return nil }
    return tokens[index + 2] == "=" && tokens[index + 3] == "self" ? index + 4 : index + 2
  }

  /// The text for `guard let self else { return }`, which is not needed after an await, and the token after it.
  func guardOfSelf(_ index: Int) -> (text: String, end: Int)? {
    guard tokens[index] == "guard", isWeak(index) else { return nil }
    if let end = bindingOfSelf(index + 1), tokens[end] == "else", let close = tokens.partner(end + 1) {
      return ("", tokens[close + 1] == ";" ? close + 2 : close + 1)
    }
    guard tokens[index + 1] == "let", tokens[index + 3] == "=", tokens[index + 4] == "self",
      tokens[index + 5] == "else",
      let close = tokens.partner(index + 6)
    else { return nil }
    return ("let \(tokens[index + 2]) = self", close + 1)
  }

  /// The token after `let self,` in a list of conditions.
  private func conditionOfSelf(_ index: Int) -> Int? {
    guard ["guard", "if", ","].contains(tokens[index - 1]), let end = bindingOfSelf(index), tokens[end] == "," else {
      return nil
    }
    return end + 1
  }

  /// The statements of a callback, without a guard of `self` at their start.
  func code(of brace: Int) -> Range<Int> {
    let body = tokens.content(of: brace)
    guard let found = guardOfSelf(body.lowerBound), found.text.isEmpty, found.end < body.upperBound,
      tokens.items[body.lowerBound - 1].range.upperBound < tokens.items[found.end].range.lowerBound
    else { return body }
    let start = tokens.items[body.lowerBound - 1].range.upperBound
    let skipped = tokens.source[start..<tokens.items[found.end].range.lowerBound]
    return SourceTokens(String(skipped)).comments.isEmpty ? found.end..<body.upperBound : body
  }

  // MARK: Parts of the text

  func usesName(_ name: String, _ range: Range<Int>) -> Bool {
    if name == "_" { return false }
    var index = range.lowerBound
    while index < range.upperBound {
      if let close = tokens.partner(index), tokens.hides(name, closureAt: index) { index = close }
      let text = token(index)
      if text.contains("\"") {
        if ConvertedText.words(of: text).contains(name) { return true }
      } else if text == name, tokens[index - 1] != "." {
        return true
      }
      index += 1
    }
    return false
  }

  func binding(_ names: [String?], _ callee: String, _ call: AwaitedCall, isOptional: Bool = false) -> String {
    guard call.form.valueCount > 0 else { return callee }
    let used = names.map { $0 ?? "_" }
    if used.allSatisfy({ $0 == "_" }) { return "_ = \(callee)" }
    if used.count == 1 { return "let \(used[0])\(isOptional ? ": Optional" : "") = \(callee)" }
    return "let (\(used.joined(separator: ", "))) = \(callee)"
  }

  /// Two texts; the second gets a block of its own if it declares a name of the first.
  func lines(_ first: String, _ second: String) -> String {
    if second.isEmpty { return first }
    let isAgain = !introducedNames(in: first).isDisjoint(with: introducedNames(in: second))
    return isAgain ? "\(first)\ndo {\n\(second)\n}" : "\(first)\n\(second)"
  }

  /// The text without a `return` at its end, after which no code follows.
  func withoutReturn(_ text: String, _ range: Range<Int>) -> String {
    guard own == nil, tokens[range.upperBound - 1] == "return", text.hasSuffix("return") else { return text }
    return String(text.dropLast("return".count)).trimmed
  }
}

extension String {
  func replacing(prefix: String, with new: String) -> String {
    hasPrefix(prefix) ? new + dropFirst(prefix.count) : self
  }
}

extension Array {
  subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

extension SourceTokens {
  /// The name, with a number if a range uses the name already.
  func unused(_ name: String, in range: Range<Int>) -> String {
    if !uses(name, in: range) { return name }
    return (1...).lazy.map { "\(name)\($0)" }.first { !uses($0, in: range) } ?? name
  }
}
