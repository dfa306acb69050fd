/// Finds evidence in a function's body that its callback comes more than once.
///
/// The evidence is two calls on one path, a call in a loop that can run again after it, or a call in the closure of a listener.
struct CallbackRepetition {
  private let tokens: SourceTokens

  private let names: [String]  // of the callbacks
  private let title: String

  /// The reason why the function gets no counterpart; `nil` without evidence.
  private(set) var refusal: Refusal?

  init(of names: [String], in body: ClosedRange<Int>, _ tokens: SourceTokens, title: String) {
    self.tokens = tokens
    self.names = names
    self.title = title
    // The compiler uses one branch of `#if`, and `let done = once(done)` makes another closure. Such bodies prove nothing.
    let isUnclear = body.contains { index in
      tokens[index] == "#if" || names.contains(tokens[index]) && Self.declares(index, tokens)
    }
    guard !isUnclear else { return }
    refusal = repetition(in: body.lowerBound + 1..<body.upperBound)
    if refusal == nil, let line = lineOfListener(in: body) { refusal = .comesForEachEvent(line, title) }
  }

  /// Whether a word names a new variable or function, also in a pattern: `let (id, done)`, `case let .waiting(done)`.
  private static func declares(_ index: Int, _ tokens: SourceTokens) -> Bool {
    if ["let", "var", "func", "for"].contains(tokens[index - 1]) { return true }
    guard let open = tokens.parent(index), tokens[open] == "(" else { return false }
    if ["let", "var", "for"].contains(tokens[open - 1]) { return true }
    return tokens[open - 2] == "." && ["let", "var"].contains(tokens[open - 3])
  }

  // MARK: Two calls

  /// The first evidence in the statements of a range, or in their blocks and closures; `nil` if there is none.
  private func repetition(in range: Range<Int>) -> Refusal? {
    let statements = tokens.statements(in: range)
    for (position, statement) in statements.enumerated() {
      if let first = callOnPathToEnd(of: statement) {
        for later in statements[(position + 1)...] {
          if let second = sureCall(later) { return .comesTwice(tokens.line(first), tokens.line(second), title) }
          // The path with the first call might leave here, and so never reach the later statements.
          if hasExit(later) { break }
        }
      }
      if let call = callInLoop(statement) { return .comesInLoop(tokens.line(call), title) }
      for inner in blocks(of: statement) + closures(in: statement).map(tokens.content) {
        if let evidence = repetition(in: inner) { return evidence }
      }
    }
    return nil
  }

  /// A call in a loop, or in the closure of `forEach`, after which the loop can run again; `nil` if there is none.
  private func callInLoop(_ statement: Range<Int>) -> Int? {
    if ["for", "while", "repeat"].contains(tokens[statement.lowerBound]) {
      guard let body = blocks(of: statement).first else { return nil }
      let exits = Exits.ofLoop(body)
      if let call = callOnPathToEnd(in: body, exits) { return call }  // the loop can run again after it
      // `sureCall` also counts a call in a closure or by another function, but ignores an exit after it: the loop must have none.
      return hasExit(body, exits) ? nil : sureCall(in: body)
    }
    return first(closures(in: statement)) { brace in
      guard let called = tokens.functionCalled(withClosure: brace), tokens[called] == "forEach" else { return nil }
      // Any call counts: `forEach` goes on after a `return` in its closure.
      return tokens.content(of: brace).first { isCall($0) && tokens.closureOrFunction(around: $0) == brace }
    }
  }

  /// A call in a statement, on a path that reaches the end of the statement; `nil` if there is none.
  ///
  /// `exits` are the jumps that leave the path; `nil` for the jumps that leave the statement.
  private func callOnPathToEnd(of statement: Range<Int>, _ exits: Exits? = nil) -> Int? {
    let exits = exits ?? .of(statement)
    switch tokens[statement.lowerBound] {
    case "if", "guard", "switch", "do", "for", "while", "repeat":
      return first(blocks(of: statement)) { callOnPathToEnd(in: $0, exits) }
    case "defer": return sureCall(statement)  // only a sure call: a condition here often asks whether a call has come
    default: return directCall(statement)
    }
  }

  /// The first result that is not `nil`; `lazy` would compute it twice, and so 2ⁿ times in n nested blocks.
  private func first<Part>(_ parts: [Part], _ find: (Part) -> Int?) -> Int? {
    for part in parts {
      if let found = find(part) { return found }
    }
    return nil
  }

  /// A call in a block, on a path that reaches the end of the block without a jump in `exits`; `nil` if there is none.
  private func callOnPathToEnd(in block: Range<Int>, _ exits: Exits) -> Int? {
    let statements = tokens.statements(in: block)
    // Calls up to the last statement with an exit do not count, because their paths might end at that exit.
    let start = statements.lastIndex { hasExit($0, exits) }.map { $0 + 1 } ?? 0
    for statement in statements[start...] {
      if let call = callOnPathToEnd(of: statement, exits) { return call }
    }
    return nil
  }

  // MARK: A call on each path

  /// The first call in a statement if each of its paths makes a call, now or later in a closure; otherwise `nil`.
  ///
  /// Passing the callback to a function counts, because the function should call it. `repeat` is not examined.
  private func sureCall(_ statement: Range<Int>) -> Int? {
    let start = statement.lowerBound
    switch tokens[start] {
    case "if", "switch", "do":
      let blocks = blocks(of: statement)
      let calls = blocks.compactMap(sureCall(in:))
      let hasElse = statement.contains { tokens[$0] == "else" && tokens[$0 + 1] == "{" && isAtLevel($0, of: start) }
      // An `if` without `else` has a path without a block.
      let isOnEachPath = calls.count == blocks.count && (tokens[start] != "if" || hasElse)
      return isOnEachPath ? calls.first : nil
    case "return": return start + 1 < statement.upperBound ? sureCall(start + 1..<statement.upperBound) : nil
    case "defer": return sureCall(in: tokens.content(of: start + 1))
    case "guard", "for", "while", "repeat", "func", "class", "struct", "enum": return nil
    default:
      if let call = directCall(statement) ?? passedCallback(statement) { return call }
      return first(closures(in: statement)) { sureCall(in: tokens.content(of: $0)) }
    }
  }

  /// The first call in a range if each path through its statements makes a call; otherwise `nil`.
  private func sureCall(in range: Range<Int>) -> Int? {
    for statement in tokens.statements(in: range) {
      if let call = sureCall(statement) { return call }
      // `guard let self` counts as no exit, because it leaves only if the object is gone.
      guard hasExit(statement), !isGuardOfSelf(statement) else { continue }
      // Each block that leaves must make a call. A statement that leaves without a block, such as `return`, has made none.
      let leaving = blocks(of: statement).filter { hasExit($0) }
      guard !leaving.isEmpty, leaving.allSatisfy({ sureCall(in: $0) != nil }) else { return nil }
    }
    return nil
  }

  private func isGuardOfSelf(_ statement: Range<Int>) -> Bool {
    let words = statement.prefix { tokens[$0] != "else" }.map { tokens[$0] }.joined(separator: " ")
    return ["guard let self", "guard let self = self", "guard let `self` = self"].contains(words)
  }

  // MARK: Parts of a statement

  /// The call of a callback, if a statement is only that call, such as `_ = try? done(value)`; otherwise `nil`.
  private func directCall(_ statement: Range<Int>) -> Int? {
    statement.first { !Self.prefixes.contains(tokens[$0]) }.flatMap { isCall($0) ? $0 : nil }
  }

  private func isCall(_ index: Int) -> Bool {
    names.contains(tokens[index]) && tokens.argumentList(ofCallAt: index) != nil
  }

  private static let prefixes: Set<String> = ["try", "await", "?", "!", "_", "="]

  /// The callback that a statement passes to a function, as in `load(done)`, and not to an initializer such as `Job(done)`.
  private func passedCallback(_ statement: Range<Int>) -> Int? {
    statement.first { index in
      guard names.contains(tokens[index]), [",", ")"].contains(tokens[index + 1]),  // not `done.isSet` or `done()`
        let open = tokens.parent(index), tokens[open] == "(", isAtLevel(open, of: statement.lowerBound)
      else { return false }
      return isFunctionName(open - 1)
    }
  }

  /// The opening braces of the closures that a statement passes to calls; closures in its blocks or other closures do not count.
  private func closures(in statement: Range<Int>) -> [Int] {
    let level = tokens.closureOrFunction(around: statement.lowerBound)
    let inner = blocks(of: statement)
    return statement.filter { index in
      guard tokens[index] == "{", !inner.contains(where: { $0.contains(index) }),
        tokens.closureOrFunction(around: index) == level, let called = tokens.functionCalled(withClosure: index)
      else { return false }
      // The closure of a `DispatchWorkItem` or an `addAction` might never run, so initializers and `add…` do not count.
      let isRun = isFunctionName(called) && !tokens[called].hasPrefix("add") || tokens[called] == "Task"
      return isRun && !names.contains { tokens.hides($0, closureAt: index) }  // by a parameter of the same name
    }
  }

  /// The blocks of a statement; each case of a `switch` counts as a block.
  private func blocks(of statement: Range<Int>) -> [Range<Int>] {
    guard tokens[statement.lowerBound] == "switch" else { return tokens.blocks(of: statement) }
    let brace = statement.first { tokens[$0] == "{" && isAtLevel($0, of: statement.lowerBound) }
    return brace.map(tokens.cases) ?? []
  }

  /// Whether a token is directly inside the same brackets as the token at `start`.
  private func isAtLevel(_ index: Int, of start: Int) -> Bool { tokens.parent(index) == tokens.parent(start) }

  private func isFunctionName(_ index: Int) -> Bool { tokens[index].first.map { $0.isLowercase || $0 == "_" } == true }

  /// The jumps that count as exits, by the place of the loop or `switch` to which a jump belongs.
  private struct Exits {
    /// A `break` is an exit if the brace of its loop or `switch` stands before this token.
    let breakLimit: Int

    /// A `continue` is an exit if the brace of its loop stands before this token.
    let continueLimit: Int

    /// The jumps that leave a statement: their loop or `switch` is around the statement, and is not the statement itself.
    static func of(_ statement: Range<Int>) -> Exits {
      Exits(breakLimit: statement.lowerBound, continueLimit: statement.lowerBound)
    }

    /// The jumps that end a loop, whose brace is the token before `body`: its own `break`, but not its own `continue`.
    static func ofLoop(_ body: Range<Int>) -> Exits {
      Exits(breakLimit: body.lowerBound, continueLimit: body.lowerBound - 1)
    }
  }

  /// Whether a path leaves a statement otherwise than at its end, such as by a `return` outside closures.
  ///
  /// Only the jumps in `exits` count; without `exits`, those that leave the statement.
  private func hasExit(_ statement: Range<Int>, _ exits: Exits? = nil) -> Bool {
    let exits = exits ?? .of(statement)
    let level = tokens.closureOrFunction(around: statement.lowerBound)
    return statement.contains { index in
      guard Self.jumps.contains(tokens[index]), tokens[index - 1] != ".",  // a member such as `.exit` is no jump
        tokens.closureOrFunction(around: index) == level
      else { return false }
      // A word after the jump is the value of a `return` or `throw`, or a label, which might name a loop around the statement.
      if SourceTokens.isWord(tokens[index + 1]), !tokens.isFirstOnLine(index + 1) { return true }
      let isBreak = tokens[index] == "break"
      guard isBreak || tokens[index] == "continue",
        let loop = tokens.brace(ofLoopAround: index, orSwitch: isBreak)
      else { return true }  // `return` and the like; also `fallthrough`, because no path is followed beyond it
      return loop < (isBreak ? exits.breakLimit : exits.continueLimit)  // an exit if that brace is before the limit
    }
  }

  private static let jumps: Set<String> = [
    "return", "throw", "break", "continue", "fallthrough", "fatalError", "preconditionFailure", "exit", "abort",
  ]

  // MARK: Listeners

  /// The line of a call in a listener, which runs for each event; `nil` if there is none, or the function seems to remove it.
  private func lineOfListener(in body: ClosedRange<Int>) -> Int? {
    let isRemoved = body.contains { index in
      Self.removals.contains { tokens[index].lowercased().contains($0) }
    }
    guard !isRemoved else { return nil }
    for brace in body {
      guard let called = tokens.functionCalled(withClosure: brace), Self.listeners.contains(tokens[called]),
        tokens[called - 1] == ".",  // as in `center.addObserver`; a bare name can be the package's own function
        !names.contains(where: { tokens.hides($0, closureAt: brace) }),
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
