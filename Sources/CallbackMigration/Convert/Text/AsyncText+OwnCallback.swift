/// The calls of the callback of a function that becomes async: each is a `return` or a `throw`.
extension AsyncText {
  /// A call of the function's own callback.
  struct OwnCall {
    let name: String
    let arguments: [(label: String?, value: Range<Int>)]

    /// The token after the call.
    let end: Int
  }

  /// The call of the own callback that begins at a token, also as `return completion(…)` and `completion?(…)`.
  func ownArguments(_ index: Int) -> OwnCall? {
    guard let own else { return nil }
    if let hop = QueueHop(at: index, of: own.queueName, in: tokens) {
      guard let call = ownArguments(hop.content.lowerBound), afterReturn(call.end) == hop.content.upperBound else {
        return nil
      }
      return OwnCall(name: call.name, arguments: call.arguments, end: hop.site.end + 1)
    }
    var name = tokens[index] == "return" && !tokens.isFirstOnLine(index + 1) ? index + 1 : index
    let word = tokens[name]
    guard word == own.name || word == own.failureName, tokens[name - 1] != "." else { return nil }
    if ["?", "!"].contains(tokens[name + 1]) { name += 1 }
    guard tokens[name + 1] == "(", let close = tokens.partner(name + 1) else { return nil }
    return OwnCall(name: word, arguments: tokens.arguments(in: name + 1...close), end: close + 1)
  }

  /// The error that a call of the own callback passes; `nil` if it passes none, or the text does not show it.
  func failureExpression(_ call: OwnCall, _ own: OwnCallback) -> Range<Int>? {
    let values = call.arguments.map(\.value)
    switch own.form {
    case .result: return values.first.flatMap { caseValue("failure", in: $0) }
    case .valuesOrError, .presentValuesOrError:
      guard let last = values.last, !isNil(last), values.dropLast().allSatisfy(isNil) else { return nil }
      return last
    case .error: return values.first.flatMap { isNil($0) ? nil : $0 }
    case .successOrFailure: return call.name == own.failureName ? values.first : nil
    case .values: return nil
    }
  }

  private func isNil(_ range: Range<Int>) -> Bool { range.count == 1 && tokens[range.lowerBound] == "nil" }

  /// The inner tokens of `.success(…)` or `.failure(…)`.
  private func caseValue(_ name: String, in range: Range<Int>) -> Range<Int>? {
    let start = tokens[range.lowerBound] == "Result" ? range.lowerBound + 1 : range.lowerBound
    guard tokens[start] == ".", tokens[start + 1] == name, tokens[start + 2] == "(",
      let close = tokens.partner(start + 2), close + 1 == range.upperBound
    else { return nil }
    return start + 3..<close
  }

  /// The text for the call of the own callback at a token, and the token after it; `nil` if there is none.
  func ownCall(_ index: Int) throws(Refusal) -> (text: String, end: Int)? {
    guard let own, let call = ownArguments(index) else { return nil }
    let end = afterReturn(call.end)
    let text = try text(of: call, own, at: index)
    guard end > call.end else { return (text, end) }
    // The comments before the `return` that is dropped.
    let gap = tokens.source[tokens.end(call.end - 1)..<tokens.items[end - 1].range.lowerBound]
    let comments = SourceTokens(String(gap)).comments.joined(separator: "\n")
    return (comments.isEmpty ? text : "\(text) \(comments)", end)
  }

  private func text(of call: OwnCall, _ own: OwnCallback, at index: Int) throws(Refusal) -> String {
    let values = call.arguments.map(\.value)
    if case .error = own.form, let name = values.first, name.count == 1, isOptionalError(name.lowerBound) {
      try requireLeaving(index)
      let error = token(name.lowerBound)
      return "if let \(error) { throw \(error) }\nreturn"
    }
    if let error = failureExpression(call, own) { return try throwing(error, own, index) }
    switch own.form {
    case .result:
      guard let value = values.first else { throw unknown(index) }
      if let inner = caseValue("success", in: value) { return try returning([inner], own) }
      guard tokens[value.lowerBound] != "." else { throw unknown(index) }
      try requireLeaving(index)
      let text = parenthesized(try copy(value), value)
      let result: String
      if case .result(let type, let failure) = own.form, value.contains(where: isImplicitMember) {
        // `.get()` does not tell the compiler the type of `ok ? .success(x) : .failure(y)`.
        result = "try (\(text) as Result<\(type), \(failure)>).get()"
      } else {
        result = "try \(text).get()"
      }
      return own.form.valueCount == 0 ? "\(result)\nreturn" : "return \(result)"
    case .valuesOrError, .presentValuesOrError:
      guard let last = values.last, values.count == own.form.valueCount + 1 else { throw unknown(index) }
      if isNil(last) {
        guard !values.dropLast().contains(where: isNil) || !own.form.hasOptionalValues else {
          throw Refusal("line \(tokens.line(index)) calls its callback with neither a value nor an error")
        }
        return try returning(Array(values.dropLast()), own)
      }
      if case .presentValuesOrError = own.form, values.dropLast().allSatisfy({ $0.count == 1 }) {
        return try throwing(last, own, index)
      }
      throw Refusal("line \(tokens.line(index)) passes a value and an error, of which one can be `nil`")
    case .error:
      guard values.count == 1 else { throw unknown(index) }
      return "return"
    case .values, .successOrFailure: return try returning(values, own)
    }
  }

  /// Whether a token is the optional error of the callback around it, and no variable of the same name.
  private func isOptionalError(_ index: Int) -> Bool {
    guard let callback = tokens.closureOrFunction(around: index),
      let form = calls.values.first(where: { $0.site.callback == callback })?.form,
      let name = form.errorIndex.flatMap({ parameters(callback)[safe: $0] }), name == tokens[index]
    else { return false }
    func isBinding(_ place: Int) -> Bool { tokens[place] == name && ["let", "var"].contains(tokens[place - 1]) }
    var bracket = tokens.parent(index)
    while let brace = bracket, brace != callback {
      let head = tokens.statementStart(before: brace)..<brace
      if head.contains(where: { isBinding($0) || tokens[$0] == "catch" }) { return false }
      bracket = tokens.parent(brace)
    }
    return !(callback..<index).contains { place in
      isBinding(place) && ["let", "var", "guard"].contains(tokens[tokens.statementStart(before: place)])
    }
  }

  private func unknown(_ index: Int) -> Refusal {
    Refusal("line \(tokens.line(index)) calls its callback in a form that is not known")
  }

  private func throwing(_ error: Range<Int>, _ own: OwnCallback, _ index: Int) throws(Refusal) -> String {
    try requireLeaving(index)
    let text = try copy(error)
    guard text.hasPrefix(".") else { return "throw \(text)" }
    guard case .result(_, let failure) = own.form, !failure.contains("any "), failure != "Error" else {
      throw unknown(index)
    }
    return "throw \(failure)\(text)"
  }

  private func returning(_ values: [Range<Int>], _ own: OwnCallback) throws(Refusal) -> String {
    var texts: [String] = []
    for value in values where !value.isEmpty { texts.append(try copy(value)) }
    if own.form.valueCount == 0 {
      // The argument of `completion(.success(()))`.
      guard texts.isEmpty || texts == ["()"] || texts == ["Void()"] else { return "\(texts[0])\nreturn" }
      return "return"
    }
    return texts.count == 1 ? "return \(texts[0])" : "return (\(texts.joined(separator: ", ")))"
  }

  /// Whether a token is the dot of `.success` without a type.
  private func isImplicitMember(_ index: Int) -> Bool {
    let before = tokens[index - 1]
    guard tokens[index] == ".", ["success", "failure"].contains(tokens[index + 1]) else { return false }
    if before == "?" { return !tokens.touch(index - 1, index) }
    return !SourceTokens.isWord(before) && ![")", "]", "}", "!", ">"].contains(before)
  }

  private func parenthesized(_ text: String, _ range: Range<Int>) -> String {
    let parent = tokens.parent(range.lowerBound)
    let isSimple = range.allSatisfy { index in
      tokens.parent(index) != parent || SourceTokens.isWord(tokens[index])
        || [".", "(", ")", "[", "]", "{", "}"].contains(tokens[index])
    }
    return isSimple ? text : "(\(text))"
  }

  // MARK: Errors that leave the function

  /// Throws if an error at a token would reach a `catch` of the function first.
  func requireLeaving(_ index: Int) throws(Refusal) {
    guard !isLeaving(index) else { return }
    throw Refusal(
      "the `catch` of a `do` around line \(tokens.line(index)) would get the failure, and the callback gets it now"
    )
  }

  /// Whether an error that is thrown at a token leaves the function, and reaches no `catch` that changes it.
  func isLeaving(_ index: Int) -> Bool {
    var bracket = tokens.parent(index)
    while let current = bracket {
      if tokens[current] == "{", case .function(let name) = tokens.block(at: current), name == own?.function {
        return true
      }
      if !tokens.catchClauses(ofDo: current).allSatisfy(passesOn) { return false }
      bracket = tokens.parent(current)
    }
    return true
  }

  /// Whether a `catch` only passes its error to the own callback.
  private func passesOn(_ brace: Int) -> Bool {
    guard let own, let close = tokens.partner(brace), let call = ownArguments(brace + 1) else { return false }
    let isWhole = afterReturn(call.end) == close
    let name: String
    if tokens[brace - 1] == "catch" {
      name = "error"
    } else if tokens[brace - 2] == "let", tokens[brace - 3] == "catch" {
      name = tokens[brace - 1]
    } else {
      return false
    }
    guard isWhole, let error = failureExpression(call, own) else { return false }
    return error.count == 1 && tokens[error.lowerBound] == name
  }

  /// The statements of a `do` whose `catch` only passes its error on, and the token after the `catch`; else `nil`.
  func passingDo(_ index: Int, before limit: Int) -> (content: Range<Int>, end: Int)? {
    guard own != nil, !isWhole, tokens[index] == "do", tokens[index + 1] == "{" else { return nil }
    let clauses = tokens.catchClauses(ofDo: index + 1)
    guard clauses.count == 1, passesOn(clauses[0]), let close = tokens.partner(index + 1),
      let end = tokens.partner(clauses[0]).map({ $0 + 1 }),
      end == limit || ["}", "case", "default"].contains(tokens[end])
    else { return nil }
    return (index + 2..<close, end)
  }

  // MARK: Early returns

  /// Throws if a callback has an early return or a `defer` that would skip code after the call, or run after it.
  func refuseEarlyReturns(_ call: AwaitedCall, _ brace: Int) throws(Refusal) {
    guard own == nil else { return }
    let words = ["return", "defer"]
    let found = code(of: brace).first { words.contains(tokens[$0]) && tokens.closureOrFunction(around: $0) == brace }
    guard let found else { return }
    var callbacks: [Int: CallSite] = [:]
    for site in calls.values.map(\.site) {
      for brace in [site.callback, site.failure].compactMap(\.self) { callbacks[brace] = site }
    }
    let scope = CallScope(of: call.site, in: tokens, callbacks: callbacks)
    let isLast = tokens.statement(after: scope) == nil
    let repeats = scope.levels.contains { $0.block == .loop || $0.block == .deferred }
    var returnsValue = false
    if case .function(let name, _) = scope.boundary, let body = scope.body {
      returnsValue = (name..<body).contains { tokens[$0] == "->" && tokens.parent($0) == tokens.parent(body) }
    }
    guard isLast, !repeats, !returnsValue else {
      let place = "the `\(tokens[found])` on line \(tokens.line(found))"
      throw Refusal("\(place) is for the callback only, and code after the call runs, too")
    }
  }
}
