/// Finds evidence in a function's body that its callback comes more than once.
///
/// The evidence is a call after which the body goes on to another call, whatever the values are, or a call in a loop that
/// goes on.
struct CallbackRepetition {
  private let tokens: SourceTokens

  /// The names of the callbacks.
  private let names: [String]

  /// The evidence, which becomes a refusal of the function with a title; `nil` without evidence.
  private var evidence: ((_ title: String) -> Refusal)?

  init(of names: [String], in body: ClosedRange<Int>, _ tokens: SourceTokens) {
    self.tokens = tokens
    self.names = names
    // Of `#if` one branch runs, and `let completion = once(completion)` is another closure.
    let isHidden = body.contains { index in
      tokens[index] == "#if" || names.contains(tokens[index]) && Self.declares(index, tokens)
    }
    guard !isHidden else { return }
    evidence = repetition(in: body.lowerBound + 1..<body.upperBound)
    if evidence == nil, let line = lineOfListener(in: body) { evidence = { .comesForEachEvent(line, $0) } }
  }

  /// The reason why the function with a title gets no counterpart; `nil` if its callback can come once.
  func refusal(_ title: String) -> Refusal? { evidence?(title) }

  /// Whether a word is the name of a new variable or function, also in a pattern such as `case let .waiting(completion)`.
  private static func declares(_ index: Int, _ tokens: SourceTokens) -> Bool {
    if ["let", "var", "func", "for"].contains(tokens[index - 1]) { return true }
    guard let open = tokens.parent(index), tokens[open] == "(" else { return false }
    if ["let", "var", "for"].contains(tokens[open - 1]) { return true }
    return tokens[open - 2] == "." && ["let", "var"].contains(tokens[open - 3])
  }

  // MARK: Two calls

  /// The evidence of statements, or of the statements in their blocks and closures.
  private func repetition(in range: Range<Int>) -> ((String) -> Refusal)? {
    let statements = tokens.statements(in: range)
    for (position, statement) in statements.enumerated() {
      if let first = callThatGoesOn(statement) {
        for later in statements[(position + 1)...] {
          if let second = sureCall(later) {
            let lines = (tokens.line(first), tokens.line(second))
            return { .comesTwice(lines.0, lines.1, $0) }
          }
          if hasExit(later) { break }
        }
      }
      if let call = callInLoop(statement) {
        let line = tokens.line(call)
        return { .comesInLoop(line, $0) }
      }
      for inner in blocks(of: statement) + closures(in: statement).map(tokens.content) {
        if let evidence = repetition(in: inner) { return evidence }
      }
    }
    return nil
  }

  /// A call in a loop, or in the closure of `forEach`, after which the loop goes on.
  private func callInLoop(_ statement: Range<Int>) -> Int? {
    if isLoop(statement) {
      guard let body = blocks(of: statement).first else { return nil }
      let end = LeavingRange(breaks: body.lowerBound, continues: body.lowerBound - 1)
      return callThatGoesOn(in: body, leaving: end) ?? (hasExit(body, leaving: end) ? nil : sureCall(in: body))
    }
    return first(closures(in: statement)) { brace in
      guard let called = tokens.functionCalled(withClosure: brace), tokens[called] == "forEach" else { return nil }
      // A `return` leaves the closure, and not the loop.
      return tokens.content(of: brace).first { isCall($0) && tokens.closureOrFunction(around: $0) == brace }
    }
  }

  /// A call in a statement, on a path that goes on to the next statement.
  private func callThatGoesOn(_ statement: Range<Int>) -> Int? {
    let start = statement.lowerBound
    return callThatGoesOn(statement, leaving: LeavingRange(breaks: start, continues: start))
  }

  private func callThatGoesOn(_ statement: Range<Int>, leaving end: LeavingRange) -> Int? {
    switch tokens[statement.lowerBound] {
    case "if", "guard", "switch", "do", "for", "while", "repeat":
      first(blocks(of: statement)) { callThatGoesOn(in: $0, leaving: end) }
    default: directCall(statement)
    }
  }

  /// The first result; not by `lazy`, which computes it twice, and so 2ⁿ times in n nested blocks.
  private func first<Part>(_ parts: [Part], _ find: (Part) -> Int?) -> Int? {
    for part in parts {
      if let found = find(part) { return found }
    }
    return nil
  }

  private func callThatGoesOn(in range: Range<Int>, leaving end: LeavingRange) -> Int? {
    let statements = tokens.statements(in: range)
    for (position, statement) in statements.enumerated() {
      guard let call = callThatGoesOn(statement, leaving: end) else { continue }
      return statements[position...].contains { hasExit($0, leaving: end) } ? nil : call
    }
    return nil
  }

  // MARK: A call on each path

  /// The first call of a statement that runs on each path through it, also later in a closure; `nil` if there is none.
  private func sureCall(_ statement: Range<Int>) -> Int? {
    let start = statement.lowerBound
    switch tokens[start] {
    case "if", "switch", "do":
      let calls = blocks(of: statement).map(sureCall(in:))
      let hasElse = statement.contains { tokens[$0] == "else" && tokens[$0 + 1] == "{" && isAtLevel($0, of: start) }
      guard tokens[start] != "if" || hasElse, calls.allSatisfy({ $0 != nil }) else { return nil }
      return calls.first ?? nil
    case "return": return start + 1 < statement.upperBound ? sureCall(start + 1..<statement.upperBound) : nil
    case "guard", "for", "while", "repeat", "defer", "func", "class", "struct", "enum": return nil
    default:
      if let call = directCall(statement) ?? passedCallback(statement) { return call }
      return first(closures(in: statement)) { sureCall(in: tokens.content(of: $0)) }
    }
  }

  private func sureCall(in range: Range<Int>) -> Int? {
    for statement in tokens.statements(in: range) {
      if let call = sureCall(statement) { return call }
      // Each path that leaves must have called the callback, or have no object to work for.
      guard hasExit(statement) else { continue }
      let blocks = blocks(of: statement).filter { hasExit($0) }
      guard isGuardOfSelf(statement) || !blocks.isEmpty && blocks.allSatisfy({ sureCall(in: $0) != nil }) else {
        return nil
      }
    }
    return nil
  }

  private func isGuardOfSelf(_ statement: Range<Int>) -> Bool {
    let words = statement.prefix { tokens[$0] != "else" }.map { tokens[$0] }.joined(separator: " ")
    return ["guard let self", "guard let self = self", "guard let `self` = self"].contains(words)
  }

  // MARK: Parts of a statement

  /// The call of the callback that is the statement.
  private func directCall(_ statement: Range<Int>) -> Int? {
    statement.first { !Self.prefixes.contains(tokens[$0]) }.flatMap { isCall($0) ? $0 : nil }
  }

  private func isCall(_ index: Int) -> Bool {
    guard names.contains(tokens[index]), tokens[index - 1] != "." else { return false }
    return tokens[["?", "!"].contains(tokens[index + 1]) ? index + 2 : index + 1] == "("
  }

  private static let prefixes: Set<String> = ["try", "await", "?", "!", "_", "="]

  /// The callback as an argument of a call that is the statement.
  private func passedCallback(_ statement: Range<Int>) -> Int? {
    statement.first { index in
      guard names.contains(tokens[index]), [",", ")"].contains(tokens[index + 1]),
        let open = tokens.parent(index), tokens[open] == "(", isAtLevel(open, of: statement.lowerBound)
      else { return false }
      return SourceTokens.isWord(tokens[open - 1]) && isLowercase(open - 1)
    }
  }

  /// The closures that a statement passes to calls, without those in other closures.
  private func closures(in statement: Range<Int>) -> [Int] {
    let level = tokens.closureOrFunction(around: statement.lowerBound)
    let inner = blocks(of: statement)
    return statement.filter { index in
      guard tokens[index] == "{", !inner.contains(where: { $0.contains(index) }),
        tokens.closureOrFunction(around: index) == level, let called = tokens.functionCalled(withClosure: index)
      else { return false }
      // A `DispatchWorkItem` can be cancelled before it runs, and the user can choose another action of a menu.
      let isRun = isLowercase(called) && !tokens[called].hasPrefix("add") || tokens[called] == "Task"
      return isRun && !names.contains { tokens.hides($0, closureAt: index) }
    }
  }

  private func blocks(of statement: Range<Int>) -> [Range<Int>] {
    guard tokens[statement.lowerBound] == "switch" else { return tokens.blocks(of: statement) }
    let brace = statement.first { tokens[$0] == "{" && isAtLevel($0, of: statement.lowerBound) }
    return brace.map(tokens.cases) ?? []
  }

  private func isLoop(_ statement: Range<Int>) -> Bool {
    ["for", "while", "repeat"].contains(tokens[statement.lowerBound])
  }

  private func isAtLevel(_ index: Int, of start: Int) -> Bool { tokens.parent(index) == tokens.parent(start) }

  private func isLowercase(_ index: Int) -> Bool { tokens[index].first.map { $0.isLowercase || $0 == "_" } == true }

  /// The code that a path leaves: by `break` or `continue` if the loop or `switch` begins before these tokens.
  private struct LeavingRange {
    let breaks: Int
    let continues: Int
  }

  /// Whether a path leaves the code around a statement in it, such as a `return` outside closures.
  private func hasExit(_ statement: Range<Int>) -> Bool {
    hasExit(statement, leaving: LeavingRange(breaks: statement.lowerBound, continues: statement.lowerBound))
  }

  private func hasExit(_ statement: Range<Int>, leaving end: LeavingRange) -> Bool {
    let level = tokens.closureOrFunction(around: statement.lowerBound)
    return statement.contains { index in
      guard Self.exits.contains(tokens[index]), tokens[index - 1] != ".",
        tokens.closureOrFunction(around: index) == level
      else { return false }
      // A label can name any loop around the statement.
      if SourceTokens.isWord(tokens[index + 1]), !tokens.isFirstOnLine(index + 1) { return true }
      switch tokens[index] {
      case "break": return tokens.brace(ofLoopAround: index, orSwitch: true).map { $0 < end.breaks } != false
      case "continue": return tokens.brace(ofLoopAround: index, orSwitch: false).map { $0 < end.continues } != false
      default: return true
      }
    }
  }

  private static let exits: Set<String> = [
    "return", "throw", "break", "continue", "fallthrough", "fatalError", "preconditionFailure", "exit", "abort",
  ]

  // MARK: Listeners

  /// The line of a call in a closure that runs for each event, in a function that never removes the closure.
  private func lineOfListener(in body: ClosedRange<Int>) -> Int? {
    let isRemoved = body.contains { index in
      Self.removals.contains { tokens[index].lowercased().contains($0) }
    }
    guard !isRemoved else { return nil }
    for brace in body {
      guard let called = tokens.functionCalled(withClosure: brace), Self.listeners.contains(tokens[called]),
        tokens[called - 1] == ".", !names.contains(where: { tokens.hides($0, closureAt: brace) }),
        let call = sureCall(in: tokens.content(of: brace))
      else { continue }
      return tokens.line(call)
    }
    return nil
  }

  private static let listeners: Set<String> = [
    "addSnapshotListener", "addListener", "addObserver", "addPeriodicTimeObserver",
  ]

  private static let removals = ["remove", "cancel", "invalidate", "dispose", "detach", "once"]
}
