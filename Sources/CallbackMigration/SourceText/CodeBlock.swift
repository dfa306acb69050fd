/// The kind of a pair of braces, from the words before it.
enum CodeBlock: Equatable {
  /// `if`, `else`, `guard`, `do`, `catch`: its content runs at most once.
  case branch

  /// The body of a `switch`.
  case cases

  /// `for`, `while`, `repeat`.
  case loop

  case deferred

  /// A function, an initializer, a type or an extension.
  case declaration

  /// A computed property or a subscript, or one of their getters, setters and observers.
  case accessor

  /// A closure; `callee` is the word before the brace or its argument list, such as `Task`, or the label of the closure.
  case closure(callee: Int?)

  /// Whether the braces are part of the function or closure around them.
  var isInFunction: Bool {
    switch self {
    case .branch, .cases, .loop, .deferred: true
    case .declaration, .accessor, .closure: false
    }
  }
}

extension SourceTokens {
  /// Returns the kind of the braces that begin at `brace`.
  func block(at brace: Int) -> CodeBlock {
    var index = statementStart(before: brace)
    while index < brace, isModifier(index) { index = after(modifier: index) }
    switch self[behindLabel(index)] {
    case "if", "guard", "do", "else", "catch": return .branch
    case "switch": return .cases
    case "for", "while", "repeat": return .loop
    case "defer": return .deferred
    case "func", "init", "deinit", "class", "struct", "enum", "extension", "actor", "protocol": return .declaration
    // Outside a property, `get` and `set` are names of functions.
    case "get" where !isInProperty(index), "set" where !isInProperty(index):
      return .closure(callee: callee(before: brace))
    case "subscript", "get", "set", "willSet", "didSet", "_modify", "_read", "unsafeAddress": return .accessor
    case "var", "let":
      // `var x: Int {` has an accessor; `let x = f {` has a closure.
      let isComputed = !(index..<brace).contains { self[$0] == "=" && parent($0) == parent(brace) }
      return isComputed ? .accessor : .closure(callee: callee(before: brace))
    default: return .closure(callee: callee(before: brace))
    }
  }

  /// Whether a token stands directly between the braces of a computed property or a subscript.
  private func isInProperty(_ index: Int) -> Bool {
    guard let brace = parent(index), self[brace] == "{" else { return false }
    return block(at: brace) == .accessor
  }

  /// Whether a token is a modifier, or the name of an attribute.
  func isModifier(_ index: Int) -> Bool {
    self[index].hasPrefix("@") || Self.modifiers.contains(self[index])
      // `class func`, and not `class Store`.
      || self[index] == "class" && ["func", "var", "let", "subscript"].contains(self[index + 1])
  }

  /// The index after a modifier, an attribute or `throws`, and after its arguments, which follow without a space.
  private func after(modifier index: Int) -> Int {
    if self[index + 1] == "(", !items[index + 1].hasSpaceBefore, let end = partner(index + 1) { return end + 1 }
    return index + 1
  }

  private static let modifiers: Set<String> = [
    "public", "private", "fileprivate", "internal", "package", "open", "static", "final", "override", "nonisolated",
    "mutating", "nonmutating", "required", "convenience", "indirect", "lazy", "dynamic", "isolated", "distributed",
    "consuming", "borrowing", "weak", "unowned",
  ]

  /// The word before a closure: the function in `name {` and `name(…) {`, or the label in `label: {`; `nil` if no word is there.
  private func callee(before brace: Int) -> Int? {
    var index = brace - 1
    if self[index] == ")", let open = partner(index) { index = open - 1 }
    if self[index] == ":" { index -= 1 }
    return Self.isWord(self[index]) ? index : nil  // also `nil` before the first token, where the text is empty
  }

  /// The first token of the statement that contains the token before `index`.
  func statementStart(before index: Int) -> Int {
    var current = index
    while current > 0 {
      let previous = current - 1
      if ["{", "(", "[", ";"].contains(self[previous]) { break }
      // The token at `index` is not checked, because it can begin the next statement.
      if current != index, beginsStatement(current) { break }
      let open = ["}", ")", "]"].contains(self[previous]) ? partner(previous) : nil
      current = open ?? previous
      if self[current] == "in", endsClosureHead(current) { return current + 1 }
    }
    return current
  }

  /// Whether a token begins a statement, and does not continue the line before it; the caller has looked for `{` and `;`.
  func beginsStatement(_ index: Int) -> Bool {
    // These words count, because `block(at:)` takes the kind of the braces after them from the word alone.
    if self[index] == "else" || self[index] == "catch" && self[index - 1] != "." { return true }  // not `p.catch {`
    let previous = self[index - 1]
    if previous == ":", isCaseLabel(endingAt: index - 1) { return true }
    return isFirstOnLine(index) && !Self.continuations.contains(self[index]) && !Self.unfinished.contains(previous)
  }

  /// The tokens that continue the statement of the line before them.
  private static let continuations: Set<String> = [
    ".", "?", ":", "=", "==", "->", "&", "|", "+", "-", "*", "/", "<", ">", ",", ")", "]", "}", "{", "where", "async",
    "throws", "in", "as", "is", "%",
  ]

  /// The tokens after which a statement continues on the next line.
  private static let unfinished: Set<String> = [
    ",", "=", "==", "->", "&", "|", "+", "-", "*", "/", "<", ".", "?", "return", "await", "try", "throw", "where", "&&",
  ]

  /// Whether a colon ends `case …:` or `default:`.
  private func isCaseLabel(endingAt colon: Int) -> Bool {
    if self[colon - 1] == "default", self[colon - 2] != "." { return true }  // not a member in `a ? .default : b`
    // A later colon, as that of the operator in `case .a: x ? y : z`, ends no label: the search stops at the label's own colon.
    var index = colon - 1
    while index >= 0, parent(index) == parent(colon), self[index] != ":" {
      if self[index] == "case" { return !Self.wordsBeforePattern.contains(self[index - 1]) }
      if [")", "]", "}"].contains(self[index]), let open = partner(index) { index = open }
      index -= 1
    }
    return false
  }

  /// Whether an `in` ends the head of a closure, and is not that of a loop.
  private func endsClosureHead(_ index: Int) -> Bool {
    guard let brace = parent(index), self[brace] == "{" else { return false }
    return closureSignature(at: brace)?.end == index
  }
}

/// The head of a closure.
struct ClosureSignature: Equatable {
  /// The names of the parameters; empty where the closure uses `$0`.
  let parameters: [String]

  /// The `in`, which is the last token of the head.
  let end: Int
}

extension SourceTokens {
  /// The head of the closure that begins at `brace`; `nil` if the closure has none.
  func closureSignature(at brace: Int) -> ClosureSignature? {
    guard let close = partner(brace) else { return nil }
    var parameters: [String] = []
    var index = brace + 1
    while self[index].hasPrefix("@") { index = after(modifier: index) }
    if self[index] == "[", let end = partner(index) { index = end + 1 }  // skips the capture list
    if self[index] == "(", let end = partner(index) {
      parameters = parameterNames(in: index...end)
      index = end + 1
    } else {
      while Self.isWord(self[index]), self[index] != "in", self[index] != "async", self[index] != "throws" {
        parameters.append(self[index])
        index += 1
        guard self[index] == "," else { break }
        index += 1
      }
    }
    // Between the parameters and `in` stand effects and a result type; with other tokens there, the closure has no head. A token
    // that begins a line does not count as part of a result type: otherwise the `in` of a later loop could count as the end.
    while index < close, self[index] != "in" {
      let isInResultType = !isFirstOnLine(index) && (brace..<index).contains { self[$0] == "->" && parent($0) == brace }
      guard ["async", "throws", "->"].contains(self[index]) || isInResultType else { return nil }
      // `after(modifier:)` also skips the error type of `throws`.
      index = self[index] == "throws" ? after(modifier: index) : indexAfterTokenOrBrackets(at: index)
    }
    return index < close ? ClosureSignature(parameters: parameters, end: index) : nil
  }

  /// The names in a list such as `(text: String?, _: Int)`.
  private func parameterNames(in range: ClosedRange<Int>) -> [String] {
    range.dropFirst().dropLast().filter { index in
      parent(index) == range.lowerBound && (self[index - 1] == "(" || self[index - 1] == ",")
    }.map { self[$0] }  // also `Int` of `Dictionary<String, Int>`: no harm, because callers only search for a callback
  }
}
