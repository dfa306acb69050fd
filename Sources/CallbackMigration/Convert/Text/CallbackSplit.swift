/// A callback's statements, divided into those for a success and those for a failure.
struct CallbackSplit {
  /// The names of the values of a success; `nil` where the code has none.
  var values: [String?] = []

  /// Whether the code for a success uses its value as an optional.
  var isOptional = false
  var success: Range<Int>

  /// The name of the error; `nil` where the code has none.
  var errorName: String?
  var failure: Range<Int>

  /// Reads the statements; `nil` if they do not divide.
  /// - Parameters:
  ///   - tokens: The file.
  ///   - form: The form of the callback.
  ///   - parameters: The names of the callback's parameters; `_` for a parameter without a name.
  ///   - body: The statements of the callback.
  init?(_ tokens: SourceTokens, _ form: ResultForm, _ parameters: [String], _ body: Range<Int>) {
    let reader = SplitReader(tokens: tokens, form: form, parameters: parameters, body: body)
    let found: CallbackSplit?
    switch form {
    case .result: found = reader.result
    case .valuesOrError, .presentValuesOrError, .error: found = reader.pair
    case .values, .successOrFailure: found = nil
    }
    guard let found else { return nil }
    self = found
  }

  init(values: [String?], success: Range<Int>, errorName: String?, failure: Range<Int>) {
    self.values = values
    self.success = success
    self.errorName = errorName
    self.failure = failure
  }
}

private struct SplitReader {
  let tokens: SourceTokens
  let form: ResultForm
  let parameters: [String]
  let body: Range<Int>

  // MARK: A `Result`

  var result: CallbackSplit? {
    let statements = tokens.statements(in: body)
    guard let first = statements.first, let name = parameters.first else { return nil }
    let split: CallbackSplit?
    switch tokens[first.lowerBound] {
    case "switch": split = statements.count == 1 ? switchStatement(first, name) : nil
    case "if": split = statements.count == 1 ? ifCase(first, name) : nil
    case "guard": split = guardCase(first, name)
    default: split = nil
    }
    guard let split, !tokens.uses(name, in: split.success), !tokens.uses(name, in: split.failure) else { return nil }
    return split
  }

  private func switchStatement(_ statement: Range<Int>, _ name: String) -> CallbackSplit? {
    let brace = statement.lowerBound + 2
    guard tokens[brace - 1] == name, tokens[brace] == "{", let close = tokens.partner(brace),
      close + 1 == statement.upperBound
    else { return nil }
    let starts = (brace + 1..<close).filter { index in
      tokens.parent(index) == brace && ["case", "default", "@unknown"].contains(tokens[index])
        && !["if", "guard", "while", "for", ","].contains(tokens[index - 1])
    }
    guard starts.count == 2 else { return nil }
    var success: (name: String?, range: Range<Int>)?
    var failure: (name: String?, range: Range<Int>)?
    for (index, start) in starts.enumerated() {
      guard let pattern = pattern(at: start), tokens[pattern.end] == ":" else { return nil }
      var range = (pattern.end + 1)..<(index == 0 ? starts[1] : close)
      if range.count == 1, tokens[range.lowerBound] == "break" { range = range.upperBound..<range.upperBound }
      // The conversion removes the switch, so no `break` can leave it.
      let leaves = range.contains { tokens[$0] == "break" && isOfSwitch($0, brace) }
      guard !leaves, !range.contains(where: { tokens[$0] == "fallthrough" }) else { return nil }
      if pattern.isSuccess { success = (pattern.name, range) } else { failure = (pattern.name, range) }
    }
    guard let success, let failure else { return nil }
    return CallbackSplit(
      values: [success.name],
      success: success.range,
      errorName: failure.name,
      failure: failure.range
    )
  }

  /// Whether a `break` ends the switch with this brace.
  private func isOfSwitch(_ index: Int, _ brace: Int) -> Bool {
    var bracket = tokens.parent(index)
    while let current = bracket, current != brace {
      if tokens[current] == "{", [.cases, .loop].contains(tokens.block(at: current)) { return false }
      bracket = tokens.parent(current)
    }
    return true
  }

  /// A pattern such as `case .success(let text)`, and the token after it.
  private func pattern(at start: Int) -> (isSuccess: Bool, name: String?, end: Int)? {
    guard tokens[start] == "case" else { return nil }
    var index = start + 1
    let isOutside = tokens[index] == "let"
    if isOutside { index += 1 }
    guard tokens[index] == ".", ["success", "failure"].contains(tokens[index + 1]) else { return nil }
    let isSuccess = tokens[index + 1] == "success"
    index += 2
    guard tokens[index] == "(", let close = tokens.partner(index) else { return (isSuccess, nil, index) }
    let inner = (index + 1..<close).map { tokens[$0] }
    switch inner {
    case ["_"], ["(", ")"], ["let", "_"], []: return (isSuccess, nil, close + 1)
    case let names where names.count == 2 && names[0] == "let" && SourceTokens.isWord(names[1]):
      return (isSuccess, names[1], close + 1)
    case let names where names.count == 1 && isOutside && SourceTokens.isWord(names[0]):
      return (isSuccess, names[0], close + 1)
    default: return nil
    }
  }

  private func ifCase(_ statement: Range<Int>, _ name: String) -> CallbackSplit? {
    guard let pattern = pattern(at: statement.lowerBound + 1), tokens[pattern.end] == "=",
      tokens[pattern.end + 1] == name, let first = block(at: pattern.end + 2)
    else { return nil }
    var other = first.end..<first.end
    if tokens[first.end] == "else" {
      guard let second = block(at: first.end + 1), second.end == statement.upperBound else { return nil }
      other = second.content
    } else if first.end != statement.upperBound {
      return nil
    }
    return pattern.isSuccess
      ? CallbackSplit(values: [pattern.name], success: first.content, errorName: nil, failure: other)
      : CallbackSplit(values: [nil], success: other, errorName: pattern.name, failure: first.content)
  }

  private func guardCase(_ statement: Range<Int>, _ name: String) -> CallbackSplit? {
    guard let pattern = pattern(at: statement.lowerBound + 1), pattern.isSuccess, tokens[pattern.end] == "=",
      tokens[pattern.end + 1] == name, tokens[pattern.end + 2] == "else", let other = block(at: pattern.end + 3),
      other.end == statement.upperBound
    else { return nil }
    return CallbackSplit(
      values: [pattern.name],
      success: statement.upperBound..<body.upperBound,
      errorName: nil,
      failure: other.content
    )
  }

  private func block(at brace: Int) -> (content: Range<Int>, end: Int)? {
    guard tokens[brace] == "{", let close = tokens.partner(brace) else { return nil }
    return (brace + 1..<close, close + 1)
  }

  // MARK: Values and an error

  private var values: [String] { Array(parameters.dropLast()) }
  private var error: String { parameters.last ?? "_" }

  var pair: CallbackSplit? {
    guard parameters.count == (form.errorIndex ?? -1) + 1 else { return nil }
    let statements = tokens.statements(in: body)
    guard let first = statements.first else { return nil }
    switch tokens[first.lowerBound] {
    case "guard": return guardStatement(first)
    case "if": return ifStatement(first, isOnly: statements.count == 1)
    default: return nil
    }
  }

  private struct Condition {
    var names: [String: String] = [:]
    var error: String?
    var saysNoError = false
    var saysError = false
  }

  /// The meaning of a condition; `nil` where it has a part that is not about the result alone.
  private func condition(_ range: Range<Int>) -> Condition? {
    var condition = Condition()
    let parts = range.split { tokens[$0] == "," }
    for part in parts {
      let words = part.map { tokens[$0] }
      // After the conversion the function itself keeps `self` alive.
      if words == ["let", "self"] || words == ["let", "self", "=", "self"] { continue }
      switch words.count {
      case 2 where words[0] == "let", 4 where words[0] == "let" && words[2] == "=":
        let source = words.count == 2 ? words[1] : words[3]
        if source == error {
          condition.error = words[1]
          condition.saysError = true
        } else if values.contains(source), form.hasOptionalValues {
          condition.names[source] = words[1]
        } else {
          return nil
        }
      case 3 where words == [error, "==", "nil"]: condition.saysNoError = true
      case 4 where words == [error, "!", "=", "nil"]: condition.saysError = true
      default: return nil
      }
    }
    return condition
  }

  private func guardStatement(_ statement: Range<Int>) -> CallbackSplit? {
    guard
      let end = statement.first(where: {
        tokens[$0] == "else" && tokens.parent($0) == tokens.parent(statement.lowerBound)
      }),
      let other = block(at: end + 1), other.end == statement.upperBound,
      let condition = condition(statement.lowerBound + 1..<end), !condition.saysError
    else { return nil }
    return success(condition, statement.upperBound..<body.upperBound, failing: (nil, other.content))
  }

  /// The division if the code for a failure ends with a `return`.
  ///
  /// Often a guard of the values follows. Such a guard always holds after a success, so the new code drops its `else`.
  private func success(after end: Int, failing failure: (name: String?, range: Range<Int>)) -> CallbackSplit? {
    let rest = end..<body.upperBound
    if let statement = tokens.statements(in: rest).first, tokens[statement.lowerBound] == "guard",
      let found = guardStatement(statement), !found.isOptional,
      SourceTokens(String(tokens.text(statement.lowerBound...statement.upperBound - 1))).comments.isEmpty,
      let end = statement.first(where: { tokens[$0] == "else" }),
      let condition = condition(statement.lowerBound + 1..<end)
    {
      return success(condition, statement.upperBound..<body.upperBound, failing: failure)
    }
    return success(Condition(), rest, failing: failure)
  }

  /// The division where a condition holds in a success.
  private func success(
    _ condition: Condition,
    _ success: Range<Int>,
    failing failure: (name: String?, range: Range<Int>)
  ) -> CallbackSplit? {
    guard !tokens.uses(error, in: success) else { return nil }
    var names: [String?] = []
    var isOptional = false
    for value in values {
      if let name = condition.names[value] {
        // The code after an await has `name`, but not the optional `value`.
        guard name == value || !tokens.uses(value, in: success) else { return nil }
        names.append(name)
      } else if tokens.uses(value, in: success) {
        isOptional = isOptional || form.hasOptionalValues
        names.append(value)
      } else {
        names.append(nil)
      }
    }
    guard !isOptional || values.count == 1 else { return nil }
    guard !values.contains(where: { tokens.uses($0, in: failure.range) && $0 != failure.name }) else { return nil }
    var split = CallbackSplit(values: names, success: success, errorName: failure.name, failure: failure.range)
    split.isOptional = isOptional
    return split
  }

  private func ifStatement(_ statement: Range<Int>, isOnly: Bool) -> CallbackSplit? {
    guard let brace = statement.first(where: { tokens[$0] == "{" }), let first = block(at: brace),
      let condition = condition(statement.lowerBound + 1..<brace)
    else { return nil }
    if condition.saysError {
      guard condition.names.isEmpty, !condition.saysNoError else { return nil }
      let failing = (condition.error ?? (tokens.uses(error, in: first.content) ? nil : Optional.none), first.content)
      if condition.error == nil, tokens.uses(error, in: first.content) {
        return whole(first.content, statement, isOnly)
      }
      return alternative(after: first.end, statement, isOnly, failing, leaving: first.content)
    }
    guard isOnly, let elseRange = elseBlock(first.end, statement) else { return nil }
    return success(condition, first.content, failing: elseRange)
  }

  /// The division for `if error != nil { … error … }`, whose block uses the optional error itself.
  private func whole(_ failure: Range<Int>, _ statement: Range<Int>, _ isOnly: Bool) -> CallbackSplit? {
    guard !isOnly, leaves(failure) else { return nil }
    return success(after: statement.upperBound, failing: (nil, failure))
  }

  /// The division if the error is `nil` after the block of a failure, or in its `else`.
  private func alternative(
    after end: Int,
    _ statement: Range<Int>,
    _ isOnly: Bool,
    _ failing: (name: String?, range: Range<Int>),
    leaving failure: Range<Int>
  ) -> CallbackSplit? {
    if end == statement.upperBound {
      guard isOnly || leaves(failure) else { return nil }
      return success(after: end, failing: failing)
    }
    guard isOnly, tokens[end] == "else" else { return nil }
    if let other = block(at: end + 1), other.end == statement.upperBound {
      return success(Condition(), other.content, failing: failing)
    }
    guard tokens[end + 1] == "if", let brace = (end..<statement.upperBound).first(where: { tokens[$0] == "{" }),
      let other = block(at: brace), other.end == statement.upperBound,
      let condition = condition(end + 2..<brace), !condition.saysError,
      !values.isEmpty, condition.names.count == values.count
    else { return nil }
    return success(condition, other.content, failing: failing)
  }

  /// The `else` of an `if` about the values: without a condition, or with the error as its condition.
  private func elseBlock(_ end: Int, _ statement: Range<Int>) -> (name: String?, range: Range<Int>)? {
    if end == statement.upperBound { return (nil, end..<end) }
    guard tokens[end] == "else" else { return nil }
    if let other = block(at: end + 1) { return other.end == statement.upperBound ? (nil, other.content) : nil }
    guard tokens[end + 1] == "if", let brace = (end..<statement.upperBound).first(where: { tokens[$0] == "{" }),
      let other = block(at: brace), other.end == statement.upperBound,
      let condition = condition(end + 2..<brace), condition.names.isEmpty, let name = condition.error
    else { return nil }
    return (name, other.content)
  }

  /// Whether a block ends by leaving the callback.
  private func leaves(_ range: Range<Int>) -> Bool {
    guard let last = tokens.statements(in: range).last else { return false }
    return tokens[last.lowerBound] == "return"
  }
}
