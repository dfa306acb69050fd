/// Finds out whether code only passes a result on, so that its queue makes no difference.
///
/// Such code chooses and binds values, and calls the callback of its function. It passes on variables of the function, as
/// in `.failure(error)`, and reads members of its own values only. It reads nothing of `self`, which the queue can
/// protect, and calls nothing else that can have an effect.
struct ForwardingCheck {
  let tokens: SourceTokens

  /// The names of the callbacks of the function around the code.
  let callbacks: [String]

  /// The name of the queue parameter of that function.
  let queue: String?

  /// Whether a closure only passes a result on; a capture of `self` lets it use `self` without saying so.
  func onlyForwards(closureAt brace: Int) -> Bool {
    tokens.closureSignature(at: brace)?.captures == nil && onlyForwards(tokens.content(of: brace))
  }

  func onlyForwards(_ range: Range<Int>) -> Bool { tokens.statements(in: range).allSatisfy(isForwarding) }

  private func isForwarding(_ statement: Range<Int>) -> Bool {
    let start = statement.lowerBound
    switch tokens[start] {
    case "let", "var": return !statement.contains { tokens[$0] == "{" } && computes(statement)
    case "break": return true
    case "return": return statement.count == 1 || passesOn(start + 1..<statement.upperBound)
    case "if", "guard", "do": return forwards(statement, tokens.blocks(of: statement))
    case "switch":
      guard let brace = statement.first(where: { tokens[$0] == "{" && tokens.parent($0) == tokens.parent(start) })
      else { return false }
      return forwards(statement, tokens.cases(brace))
    default: return passesOn(statement)
    }
  }

  /// Whether the blocks of a statement pass a result on, and its conditions and patterns only compute values.
  private func forwards(_ statement: Range<Int>, _ blocks: [Range<Int>]) -> Bool {
    computes(statement.filter { index in !blocks.contains { $0.contains(index) } }) && blocks.allSatisfy(onlyForwards)
  }

  private func passesOn(_ statement: Range<Int>) -> Bool {
    let start = statement.lowerBound
    if let hop = QueueHop(at: start, of: queue, in: tokens) { return onlyForwards(hop.content) }
    if callbacks.contains(tokens[start]), ["(", "?", "!"].contains(tokens[start + 1]) {
      return computes(statement.dropFirst())
    }
    return false
  }

  /// Whether code only computes values: it uses no `self`, assigns nothing, and calls nothing that can have an effect.
  private func computes(_ indices: some Sequence<Int>) -> Bool {
    indices.allSatisfy { index in
      let text = tokens[index]
      if text.contains("\"") { return !hasEffect(inString: text) && !readsState(inString: index) }
      if tokens[index - 1] != ".", Self.receivers.contains(text) { return false }
      return !isInout(index) && !isAssignment(index) && !hasEffect(callAt: index) && !readsState(index)
        && !readsStaticState(index)
    }
  }

  /// Whether the text of a string uses `self` or has a call, as in `"\(next())"`.
  private func hasEffect(inString text: String) -> Bool {
    let hasCall = zip(text, text.dropFirst()).contains { ($0.isLetter || $0.isNumber || $0 == "_") && $1 == "(" }
    return hasCall || !Self.receivers.isDisjoint(with: ConvertedText.words(of: text))
  }

  /// Whether an expression in a string reads a variable that code may not read, as in `"\(model.name)"`.
  private func readsState(inString index: Int) -> Bool {
    let words = Self.expressions(inString: tokens[index])
    return words.items.indices.contains { word in
      let name = words[word]
      if name.contains("\"") { return name.contains("\\") }
      guard words[word - 1] != ".", words[word + 1] != ":", let first = name.first, !Self.harmless.contains(name) else {
        return false
      }
      if first.isUppercase { return words[word + 1] == "." }
      guard first.isLetter || first == "_" || first == "`", name != "error", !isBound(name, at: index) else {
        return false
      }
      return [".", "[", "?", "!"].contains(words[word + 1]) || !isDeclared(name, around: index)
    }
  }

  /// A variable that the function around its use neither gets nor declares.
  struct OuterName {
    let name: String

    /// Whether the text names it as a member of `self`.
    let isOfSelf: Bool

    /// Whether the text also names a member of the variable, as in `text.count`.
    let hasMember: Bool

    init(_ words: SourceTokens, _ index: Int) {
      isOfSelf = words[index - 1] == "." && words[index - 2] == "self"
      name = words[index]
      hasMember = [".", "[", "?", "!"].contains(words[index + 1])
    }
  }

  /// The variables that a token reads, and that the function around it neither gets nor declares.
  ///
  /// A string can read several.
  func outerNames(at index: Int) -> [OuterName] {
    let name = tokens[index]
    if name.contains("\"") { return outerNames(inString: name, at: index) }
    if name == "self" {
      guard tokens[index + 1] == ".", SourceTokens.isWord(tokens[index + 2]), !isCalled(index + 2) else { return [] }
      return [OuterName(tokens, index + 2)]
    }
    let isLabel = tokens[index + 1] == ":" && ["(", ",", "}"].contains(tokens[index - 1])
    guard isLowercase(index), tokens[index - 1] != ".", !isLabel, !isCalled(index), !callbacks.contains(name),
      !Self.harmless.contains(name), !Self.statementWords.contains(name), name != "error",
      !isBinding(index), !isBound(name, at: index), !isDeclared(name, around: index), !isInDeclaration(index)
    else { return [] }
    return [OuterName(tokens, index)]
  }

  /// The variables of the expressions in a string, such as `base` in `"\(base)/\(id)"`.
  private func outerNames(inString text: String, at index: Int) -> [OuterName] {
    let words = Self.expressions(inString: text)
    return words.items.indices.flatMap { word -> [OuterName] in
      let name = words[word]
      if name.contains("\"") { return outerNames(inString: name, at: index) }
      guard Self.isLowercase(name), words[word - 1] != ".", words[word + 1] != ":", words[word + 1] != "(",
        !Self.harmless.contains(name), name != "error", !isBound(name, at: index), !isDeclared(name, around: index)
      else { return [] }
      let isMember = name == "self" && words[word + 1] == "." && words[word + 3] != "("
      return [OuterName(words, isMember ? word + 2 : word)]
    }
  }

  /// Whether a token belongs to a declaration or a condition of a version, and reads no variable.
  ///
  /// Examples are the parameters of a local function, `iOS` in `#available(iOS 15, *)`, and `final` in `final class`.
  private func isInDeclaration(_ index: Int) -> Bool {
    let next = tokens[index + 1]
    if tokens[index - 1] == "func" { return true }
    if ["actor", "final", "indirect"].contains(tokens[index]), SourceTokens.isWord(next), next != "as", next != "is" {
      return !tokens.isFirstOnLine(index + 1)
    }
    var bracket = tokens.parent(index)
    while let open = bracket, tokens[open] != "{" {
      let word = tokens[open - 1]
      if word == "#available" || word == "#unavailable" || word.hasPrefix("@") { return true }
      let isHead = (tokens.statementStart(before: open)..<open).contains {
        tokens[$0] == "func" && tokens.parent($0) == tokens.parent(open)
      }
      if isHead { return true }
      bracket = tokens.parent(open)
    }
    return false
  }

  private static let statementWords: Set<String> = [
    "for", "repeat", "defer", "break", "continue", "fallthrough", "throw", "throws", "async", "await", "func", "inout",
    "super", "static", "lazy", "weak", "unowned", "typealias", "each", "consume", "copy", "borrowing", "consuming",
    "sending", "nonisolated", "isolated", "import", "get", "set",
    "unsafe", "struct", "class", "enum", "protocol", "rethrows",
  ]

  /// The tokens of the expressions in a string.
  private static func expressions(inString text: String) -> SourceTokens {
    var found = ""
    var depth = 0
    for (before, character) in zip(" " + text, text) {
      if depth > 0 || character == "(" && ["\\", "#"].contains(before) {
        depth += character == "(" ? 1 : character == ")" ? -1 : 0
        found.append(depth > 0 ? character : ")")
        if depth == 0 { found.append(";") }
      }
    }
    return SourceTokens(found)
  }

  /// Whether a token begins the name of a static variable or function, as in `Cache.shared.text`.
  ///
  /// An error such as `APIError.offline` is no variable.
  private func readsStaticState(_ index: Int) -> Bool {
    guard tokens[index].first?.isUppercase == true, tokens[index - 1] != "." else { return false }
    var type = index
    while tokens[type + 1] == ".", tokens[type + 2].first?.isUppercase == true { type += 2 }
    guard tokens[type + 1] == ".", isLowercase(type + 2), !["self", "init"].contains(tokens[type + 2]) else {
      return false
    }
    let failures = ["failure"] + callbacks.dropFirst()
    let isOfFailure = tokens[index - 1] == "(" && failures.contains(tokens[index - 2])
    return !isOfFailure && !["Result", "Int", "Double"].contains(tokens[index]) && !tokens[type].hasSuffix("Error")
  }

  private static let receivers: Set<String> = ["self", "`self`", "Self", "super"]

  private func isInout(_ index: Int) -> Bool {
    tokens[index] == "&" && ["(", ",", ":"].contains(tokens[index - 1])
  }

  private func isAssignment(_ index: Int) -> Bool {
    guard tokens[index] == "=" else { return false }
    let isComparison = ["!", "<", ">", "~", "=="].contains(tokens[index - 1]) && tokens.touch(index - 1, index)
    let start = tokens.statementStart(before: index)
    return !isComparison && !(start..<index).contains { ["let", "var"].contains(tokens[$0]) }
  }

  /// Whether a token names a variable from outside the function, or a variable of the function whose member is read.
  private func readsState(_ index: Int) -> Bool {
    let name = tokens[index]
    let isLabel = tokens[index + 1] == ":" && ["(", ","].contains(tokens[index - 1])
    guard isLowercase(index), tokens[index - 1] != ".", !isLabel, !isCalled(index), !callbacks.contains(name),
      !Self.harmless.contains(name), !isBinding(index), name != "error", !isBound(name, at: index)
    else { return false }
    var next = index + 1
    while ["?", "!"].contains(tokens[next]), tokens.touch(next - 1, next) { next += 1 }
    return [".", "["].contains(tokens[next]) && tokens.touch(next - 1, next) || !isDeclared(name, around: index)
  }

  /// Whether a name is that of a parameter or a variable of the function around a token.
  private func isDeclared(_ name: String, around index: Int) -> Bool {
    var bracket = tokens.parent(index)
    while let current = bracket {
      if tokens[current] == "{", case .function(let function) = tokens.block(at: current) {
        let isParameter = (function..<current).contains { place in
          tokens[place] == name && tokens[place + 1] == ":" && tokens.parent(place) == parameters(of: function)
        }
        return isParameter
          || (current..<index).contains { tokens[$0] == name && isBinding($0) && isVisible($0, at: index) }
      }
      bracket = tokens.parent(current)
    }
    return false
  }

  /// The opening bracket of a function's parameters.
  private func parameters(of function: Int) -> Int? {
    (function + 1..<tokens.items.count).first { tokens[$0] == "(" && tokens.parent($0) == tokens.parent(function) }
  }

  /// Whether the scope of a variable contains a token after it.
  private func isVisible(_ variable: Int, at index: Int) -> Bool {
    var start = variable
    while let bracket = tokens.parent(start), tokens[bracket] != "{" { start = bracket }
    guard let brace = tokens.parent(start), let close = tokens.partner(brace), close > index else { return false }
    let between = (variable..<index).filter { tokens.parent($0) == brace }
    switch tokens[tokens.statementStart(before: start)] {
    case "if", "else", "while", "for", "catch":
      let block = between.first { place in
        guard tokens[place] == "{" else { return false }
        if case .closure = tokens.block(at: place) { return false } else { return true }
      }
      return block.flatMap(tokens.partner).map { $0 > index } != false
    case "case":
      return !between.contains {
        ["case", "default"].contains(tokens[$0]) && !["if", "guard", "while", "for", ","].contains(tokens[$0 - 1])
      }
    default: return true
    }
  }

  /// Whether a token names a function whose call can have an effect.
  ///
  /// No call of an initializer has one, nor that of a method of a value in the callback.
  private func hasEffect(callAt index: Int) -> Bool {
    guard SourceTokens.isWord(tokens[index]), isCalled(index) else { return false }
    let dot = index - 1
    guard tokens[dot] == "." else { return isLowercase(index) && !Self.harmless.contains(tokens[index]) }
    // The dot of an implicit member, such as `.success(text)`, touches no value.
    let isMember = tokens.isFirstOnLine(dot) || tokens.touch(dot - 1, dot)
    guard isMember, !["(", "[", ",", ":"].contains(tokens[dot - 1]),
      let start = CallSite(name: index, in: tokens, label: "")?.start
    else { return false }
    if isLowercase(start) { return tokens[start] != "error" && !isBound(tokens[start], at: start) }
    // `Store.shared.add(x)`, and not `Store.make(x)` or `Store().add(x)`.
    return start + 2 < index && tokens[start + 1] == "." && isLowercase(start + 2)
  }

  /// Keywords, and functions of the standard library without an effect.
  private static let harmless: Set<String> = [
    "if", "guard", "switch", "while", "return", "in", "let", "var", "case", "where", "try", "as", "is", "catch", "type",
    "min", "max", "abs", "zip", "else", "default", "do", "nil", "true", "false", "any", "some", "_",
  ]

  private func isCalled(_ index: Int) -> Bool {
    if tokens[index + 1] == "(" { return tokens.touch(index, index + 1) }
    guard tokens[index + 1] == "{", case .closure(let callee) = tokens.block(at: index + 1) else { return false }
    return callee == index
  }

  private func isLowercase(_ index: Int) -> Bool { Self.isLowercase(tokens[index]) }

  private static func isLowercase(_ text: String) -> Bool {
    text.first.map { $0.isLowercase || $0 == "_" || $0 == "`" } == true
  }

  /// Whether a name is that of a parameter or a variable of a closure around a token.
  private func isBound(_ name: String, at index: Int) -> Bool {
    var bracket = tokens.parent(index)
    var outermost: Int?
    while let current = bracket {
      if tokens[current] == "{" {
        switch tokens.block(at: current) {
        case .closure:
          if tokens.closureSignature(at: current)?.parameters.contains(name) == true { return true }
          outermost = current
        case .function: bracket = nil
        default: break
        }
      }
      if bracket != nil { bracket = tokens.parent(current) }
    }
    guard let outermost else { return false }
    return (outermost..<index).contains { tokens[$0] == name && isBinding($0) && isVisible($0, at: index) }
  }

  /// Whether a token is the name in `let text` or `case let .success(text)`.
  private func isBinding(_ index: Int) -> Bool {
    if ["let", "var"].contains(tokens[index - 1]) { return true }
    guard let open = tokens.parent(index), tokens[open] == "(" else { return false }
    let start = tokens[open - 2] == "." ? open - 3 : open - 1
    return ["let", "var"].contains(tokens[start])
  }
}
