/// How the statements of a callback divide into success and failure.
///
/// Accepts code that the compiler's refactoring translates without a change of behaviour, such as an `if let error`
/// with an `else`. Refuses other code that looks at the failure.
struct CallbackBranches {
  /// The reason why the refactoring cannot translate the callback; `nil` if it can.
  let refusal: String?

  /// Whether the callback does nothing when the call has failed.
  let ignoresFailure: Bool

  /// Reads the statements of a callback; `nil` if no `if`, `guard` or `switch` looks at a parameter.
  init?(_ tokens: SourceTokens, _ body: Range<Int>, _ parameters: [String]) {
    let top = Self.statements(tokens, body)
    let branches = top.indices.filter { index in
      let start = top[index]
      guard ["if", "switch", "guard"].contains(tokens[start]) else { return false }
      let head = Self.head(tokens, start, body)
      return head.contains { Self.isParameter(tokens[$0], parameters) && tokens.parent($0) != nil }
    }
    guard let position = branches.first else { return nil }
    let start = top[position]
    let head = Self.head(tokens, start, body)
    let text = head.map { tokens[$0] }
    guard let open = head.last.map({ $0 + 1 }), tokens[open] == "{", let close = tokens.partner(open) else {
      return nil
    }
    func has(_ word: String) -> Bool { text.contains(word) }
    if position > 0 {
      refusal = "its callback has a statement before it looks at its result"
      ignoresFailure = false
      return
    }
    let later = top.dropFirst(position + 1)
    switch tokens[start] {
    case "guard":
      let isSilent = tokens[open + 1] == "return" && tokens[open + 2] == "}"
      refusal = branches.count > 1 ? "its callback looks at its result more than once" : nil
      ignoresFailure = isSilent
    case "switch":
      refusal = later.isEmpty ? nil : "its callback has statements after it has looked at its result"
      ignoresFailure = Self.failureCaseIsEmpty(tokens, open...close)
    default:
      // `if let error { …; return }` leaves success to the statements after it.
      let leaves = tokens[close - 1] == "return" && tokens[close + 1] != "else"
      let isAboutError = Self.isFailureCondition(text, parameters)
      if later.isEmpty {
        refusal = nil
        ignoresFailure = tokens[close + 1] != "else" && !isAboutError
      } else if branches.count == 1, leaves, isAboutError {
        refusal = nil
        ignoresFailure = false
      } else {
        refusal = "its callback has statements after it has looked at its result"
        ignoresFailure = false
      }
    }
  }

  /// Whether a condition holds after a failure: `if let error`, `if case .failure`.
  private static func isFailureCondition(_ condition: [String], _ parameters: [String]) -> Bool {
    if condition.contains("case") { return condition.contains("failure") }
    return parameters.last.map { condition.contains($0) } == true && condition.contains("let")
  }

  private static func failureCaseIsEmpty(_ tokens: SourceTokens, _ braces: ClosedRange<Int>) -> Bool {
    guard
      let failure = braces.first(where: {
        tokens[$0] == "failure" && tokens[$0 - 1] == "." && tokens.parent($0) == braces.lowerBound
      })
    else { return false }
    var index = failure + 1
    if tokens[index] == "(", let end = tokens.partner(index) { index = end + 1 }
    return tokens[index] == ":" && ["break", "return"].contains(tokens[index + 1])
      && ["case", "default", "}"].contains(tokens[index + 2])
  }

  private static func isParameter(_ word: String, _ parameters: [String]) -> Bool {
    parameters.contains(word) || parameters.isEmpty && word.hasPrefix("$")
  }

  /// The tokens of `if`, `guard` or `switch` up to its brace.
  private static func head(_ tokens: SourceTokens, _ start: Int, _ body: Range<Int>) -> Range<Int> {
    var end = start + 1
    while end < body.upperBound, tokens[end] != "{" { end = (tokens.partner(end).map { max($0, end) } ?? end) + 1 }
    return start..<end
  }

  /// The first tokens of the statements of a body.
  static func statements(_ tokens: SourceTokens, _ body: Range<Int>) -> [Int] {
    guard let first = body.first else { return [] }
    var starts: [Int] = [first]
    var index = first
    while index < body.upperBound {
      if index > first, tokens[index] != "else", tokens[index] != "catch",
        tokens.statementStart(before: index + 1) == index
      {
        starts.append(index)
      }
      index = (tokens.partner(index).map { max($0, index) } ?? index) + 1
    }
    return starts
  }
}
