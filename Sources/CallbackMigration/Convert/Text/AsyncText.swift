internal import Foundation

/// Writes code in which each callback is the code after an await.
///
/// It copies the text of the callback, so that nothing of it is lost. Where the text divides into success and failure, these become
/// the code after the await and a `catch`. Otherwise the code makes the arguments of the callback from the outcome of the await.
struct AsyncText {
  let tokens: SourceTokens

  /// The calls, by the first token of their statement.
  let calls: [Int: AwaitedCall]

  /// The callback of the function that becomes async; `nil` in code that is async already.
  let own: OwnCallback?

  /// Texts that replace tokens, by the first of these.
  private var replacements: [Int: (text: String, end: Int)] = [:]

  /// The names for `$0` and the others, by the brace of the callback.
  private let shortNames: [Int: [String]]

  /// The braces of callbacks that capture `self` weakly.
  private let weakBraces: Set<Int>

  typealias Refusal = ConvertedText.Refusal

  init(_ tokens: SourceTokens, _ calls: [AwaitedCall], own: OwnCallback? = nil) {
    self.tokens = tokens
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

  private static func statementStart(of site: CallSite) -> Int { site.use == .discarded ? site.start - 2 : site.start }

  private static func names(of form: ResultForm, _ isFailure: Bool) -> [String] {
    if isFailure { return ["error"] }
    switch form {
    case .result: return ["result"]
    case .error: return ["error"]
    case .values(let count): return valueNames(count)
    case .successOrFailure(let values): return valueNames(values.count)
    case .valuesOrError(let values): return valueNames(values.count) + ["error"]
    case .presentValuesOrError(let count): return valueNames(count) + ["error"]
    }
  }

  private static func valueNames(_ count: Int) -> [String] {
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
  func copy(_ range: Range<Int>) throws(Refusal) -> String {
    var result = ""
    var index = range.lowerBound
    while index < range.upperBound {
      if index > range.lowerBound {
        result += tokens.source[tokens.items[index - 1].range.upperBound..<tokens.items[index].range.lowerBound]
      }
      if let replacement = replacements[index] {
        result += replacement.text
        index = replacement.end
      } else if let call = calls[index] {
        result += try awaited(call)
        index = afterReturn(call.site.end + 1)
      } else if let found = try ownCall(index) {
        result += found.text
        index = found.end
      } else if let end = droppedGuard(index) {
        index = end
      } else {
        result += token(index)
        index += tokens[index] == "self" && tokens[index + 1] == "?" && isWeak(index) ? 2 : 1
      }
    }
    return result
  }

  /// The token after a `return` that only leaves the callback, where the function has returned its value before.
  func afterReturn(_ index: Int) -> Int {
    let word = tokens[index] == ";" ? index + 1 : index
    guard own != nil, tokens[word] == "return" else { return index }
    return tokens[word + 1] == "}" || tokens.isFirstOnLine(word + 1) ? word + 1 : index
  }

  private func token(_ index: Int) -> String {
    let text = tokens[index]
    guard text.contains("$"), let brace = tokens.closureOrFunction(around: index), let names = shortNames[brace] else {
      return text
    }
    if !text.contains("\"") { return text.dropFirst().first.flatMap { Int(String($0)) }.flatMap { names[safe: $0] } ?? text }
    return names.indices.reduce(text) { $0.replacingOccurrences(of: "$\($1)", with: names[$1]) }
  }

  // MARK: `weak self`

  private func isWeak(_ index: Int) -> Bool {
    guard !weakBraces.isEmpty else { return false }
    var bracket = tokens.parent(index)
    while let current = bracket {
      if weakBraces.contains(current) { return true }
      bracket = tokens.parent(current)
    }
    return false
  }

  /// Whether a statement is such a guard.
  func isDroppedGuard(_ index: Int) -> Bool { droppedGuard(index) != nil }

  /// The end of `guard let self else { return }`, which an await needs no more.
  private func droppedGuard(_ index: Int) -> Int? {
    guard tokens[index] == "guard", tokens[index + 1] == "let", isWeak(index) else { return nil }
    guard tokens[index + 2] == "self" || tokens[index + 2] == "`self`" else { return nil }
    let end = tokens[index + 3] == "=" && tokens[index + 4] == "self" ? index + 5 : index + 3
    guard tokens[end] == "else", let close = tokens.partner(end + 1) else { return nil }
    return close + 1
  }

  // MARK: Calls

  /// The text of a call and of its callback.
  private func awaited(_ call: AwaitedCall) throws(Refusal) -> String {
    let callee = (call.canThrow ? "try await " : "await ") + (try calleeText(call))
    if let brace = call.site.callback {
      let text = try inlined(call, brace, callee)
      let names = introducedNames(in: text)
      return names.contains { collides($0, call) } ? "do {\n\(text)\n}" : text
    }
    guard let own, passesOwnCallback(call, own) else {
      throw Refusal("line \(tokens.line(call.site.name)): its callback is not a closure at the call")
    }
    if call.canThrow { try requireLeaving(call.site.name) }
    return call.form.valueCount == 0 ? "\(callee)\nreturn" : "return \(callee)"
  }

  /// The call of the counterpart, without `await`.
  private func calleeText(_ call: AwaitedCall) throws(Refusal) -> String {
    let site = call.site
    var arguments: [String] = []
    if let brackets = site.arguments {
      for argument in tokens.arguments(in: brackets) {
        let start = argument.value.lowerBound
        if start == site.callback || start == site.failure { continue }
        if let label = argument.label, call.omitted.contains(label) { continue }
        if argument.label == nil, call.omitted.contains("_"), site.callback == nil, argument.value.count == 1,
          [own?.name, own?.failureName].contains(tokens[start])
        {
          continue
        }
        arguments.append((argument.label.map { "\($0): " } ?? "") + (try copy(argument.value)))
      }
    }
    var end = site.arguments.map { $0.upperBound + 1 } ?? site.name + 1
    while end <= site.end {
      let brace = tokens[end] == "{" ? end : end + 2
      guard brace == site.callback || brace == site.failure, let close = tokens.partner(brace) else {
        throw Refusal("line \(tokens.line(site.name)): the call has another trailing closure")
      }
      end = close + 1
    }
    return (try copy(site.start..<site.name)) + call.name + "(\(arguments.joined(separator: ", ")))"
  }

  private func passesOwnCallback(_ call: AwaitedCall, _ own: OwnCallback) -> Bool {
    guard let brackets = call.site.arguments else { return false }
    let passed = tokens.arguments(in: brackets).filter { $0.value.count == 1 }.map { tokens[$0.value.lowerBound] }
    guard passed.contains(own.name) else { return false }
    switch (call.form, own.form) {
    case (.result, .result), (.error, .error): return true
    case (.valuesOrError(let these), .valuesOrError(let those)): return these.count == those.count
    case (.presentValuesOrError(let this), .presentValuesOrError(let that)): return this == that
    case (.values(let this), .values(let that)): return this == that
    case (.successOrFailure, .successOrFailure): return own.failureName.map(passed.contains) == true
    default: return false
    }
  }

  /// The names that a text declares.
  private func introducedNames(in text: String) -> Set<String> {
    let new = SourceTokens(text)
    var names: Set<String> = []
    for index in new.items.indices where new[index] == "let" && new.parent(index) == nil {
      if new[index - 1] == "guard" || new[index - 1] == "if" || new[index - 1] == "," { continue }
      if new[index + 1] == "(", let close = new.partner(index + 1) {
        names.formUnion((index + 1..<close).map { new[$0] }.filter(SourceTokens.isWord))
      } else {
        names.insert(new[index + 1])
      }
    }
    return names.subtracting(["_"])
  }

  /// Whether a name means something else near the call.
  private func collides(_ name: String, _ call: AwaitedCall) -> Bool {
    guard let brace = enclosing(call), let close = tokens.partner(brace) else { return true }
    let start = Self.statementStart(of: call.site)
    return tokens.uses(name, in: brace + 1..<start) || tokens.uses(name, in: call.site.end + 1..<close)
  }

  /// The brace of the code that the callback's names enter.
  private func enclosing(_ call: AwaitedCall) -> Int? {
    var brace = tokens.closureOrFunction(around: call.site.start)
    while let current = brace, calls.values.contains(where: { $0.site.callback == current || $0.site.failure == current }) {
      brace = tokens.closureOrFunction(around: current)
    }
    return brace
  }

  // MARK: Callbacks

  /// The names of the parameters of a callback in its text, such as `$0`.
  func parameters(_ brace: Int) -> [String] {
    if let names = shortNames[brace] { return names.indices.map { "$\($0)" } }
    return tokens.closureSignature(at: brace)?.parameters ?? []
  }

  private func inlined(_ call: AwaitedCall, _ brace: Int, _ callee: String) throws(Refusal) -> String {
    let body = tokens.content(of: brace)
    let signature = tokens.closureSignature(at: brace)
    let captured = signature?.captures.map { $0.map { tokens[$0] } } ?? []
    guard Set(captured).isSubset(of: ["[", "]", ",", "self", "weak", "unowned"]) else {
      throw Refusal("its callback captures values in a list, which an await has not")
    }
    try refuseEarlyReturns(call, body)
    let names = shortNames[brace] ?? signature?.parameters ?? []
    if let text = try forwarded(call, names, body, callee) { return text }
    if case .successOrFailure = call.form { return try twoClosures(call, names, body, callee) }
    if case .values = call.form { return try values(call, names, body, callee) }
    if let text = try getInDo(names, body, callee) { return text }
    let inner = parameters(brace)
    if let split = CallbackSplit(tokens, call.form, inner, body), let text = try divided(call, split, callee, names, inner) {
      return text
    }
    return try whole(call, names, brace, body, callee)
  }

  /// `completion(result)` with the parameters of the callback as they are.
  private func forwarded(
    _ call: AwaitedCall,
    _ names: [String],
    _ body: Range<Int>,
    _ callee: String
  ) throws(Refusal) -> String? {
    guard let own, let found = ownArguments(body.lowerBound), !names.isEmpty,
      found.name == own.name, afterReturn(found.end) == body.upperBound, found.arguments.count == names.count
    else { return nil }
    let words = found.arguments.map { $0.value.count == 1 ? token($0.value.lowerBound) : "" }
    guard words == names else { return nil }
    switch (call.form, own.form) {
    case (.result, .result), (.error, .error), (.valuesOrError, .valuesOrError),
      (.presentValuesOrError, .presentValuesOrError):
      if call.canThrow, !isLeaving(call.site.name) { return nil }
      return call.form.valueCount == 0 ? "\(callee)\nreturn" : "return \(callee)"
    default: return nil
    }
  }

  /// `do { let text = try result.get() … } catch { … }`: the await fails where `get` did.
  private func getInDo(_ names: [String], _ body: Range<Int>, _ callee: String) throws(Refusal) -> String? {
    guard let name = names.first, names.count == 1, tokens[body.lowerBound] == "do", tokens[body.lowerBound + 1] == "{",
      tokens.statements(in: body).count == 1
    else { return nil }
    var index = body.lowerBound + 2
    if ["let", "var"].contains(tokens[index]), tokens[index + 2] == "=" { index += 3 }
    if tokens[index] == "_", tokens[index + 1] == "=" { index += 2 }
    guard tokens[index] == "try", token(index + 1) == name, tokens[index + 2] == ".", tokens[index + 3] == "get",
      tokens[index + 4] == "(", tokens[index + 5] == ")"
    else { return nil }
    let uses = body.filter { token($0) == name && tokens[$0 - 1] != "." || tokens[$0].contains("\"") && ConvertedText.words(of: token($0)).contains(name) }
    guard uses == [index + 1] else { return nil }
    var changed = self
    changed.replacements[index] = (callee, index + 6)
    return try changed.text(body)
  }

  private func values(
    _ call: AwaitedCall,
    _ names: [String],
    _ body: Range<Int>,
    _ callee: String
  ) throws(Refusal) -> String {
    let used = names.map { usesName($0, body) ? $0 : nil }
    let text = lines(binding(used, callee, call), try text(body))
    guard call.canThrow else { return text }
    if own != nil {
      try requireLeaving(call.site.name)
      return text
    }
    return "do {\n\(text)\n} catch {\n// The callback did not come.\n}"
  }

  private func twoClosures(
    _ call: AwaitedCall,
    _ names: [String],
    _ body: Range<Int>,
    _ callee: String
  ) throws(Refusal) -> String {
    guard case .successOrFailure(let types) = call.form else { return "" }
    var failure = body.upperBound..<body.upperBound
    var error: String?
    if let brace = call.site.failure {
      failure = tokens.content(of: brace)
      try refuseEarlyReturns(call, failure)
      error = (shortNames[brace] ?? tokens.closureSignature(at: brace)?.parameters ?? []).first
    } else if let own, case .successOrFailure = own.form, let name = own.failureName, passes(name, call) {
      // The failure leaves the function.
      try requireLeaving(call.site.name)
      return lines(binding(names.map { usesName($0, body) ? $0 : nil }, callee, call), try text(body))
    } else if let brackets = call.site.arguments,
      tokens.arguments(in: brackets).contains(where: { $0.label.map(call.omitted.contains) == true && $0.value.count == 1 })
    {
      throw Refusal("line \(tokens.line(call.site.name)): its closure for a failure is not written at the call")
    }
    let split = CallbackSplit(
      values: names.map { usesName($0, body) ? $0 : nil },
      success: body,
      errorName: error.flatMap { usesName($0, failure) ? $0 : nil },
      failure: failure
    )
    if let text = try divided(call, split, callee, [], []) { return text }
    guard types.count < 2 else { throw Refusal("its success and its failure both leave the function") }
    let value = types.first ?? "Void"
    let pattern = types.isEmpty || split.values == [nil] ? "" : "(let \(names[0]))"
    let errorPattern = split.errorName.map { "(let \($0))" } ?? ""
    return """
      let result: Result<\(value), any Error>
      do { result = .success(\(callee)) } catch { result = .failure(error) }
      switch result {
      case .success\(pattern):
      \(Self.orBreak(try text(split.success)))
      case .failure\(errorPattern):
      \(Self.orBreak(failure.isEmpty ? "" : try text(failure)))
      }
      """
  }

  private static func orBreak(_ text: String) -> String { text.isEmpty ? "break" : text }

  private func passes(_ name: String, _ call: AwaitedCall) -> Bool {
    call.site.arguments.map { tokens.arguments(in: $0) }?.contains {
      $0.value.count == 1 && tokens[$0.value.lowerBound] == name
    } == true
  }

  /// The code after the await, and the `catch`; `nil` where one cannot stand outside the other.
  private func divided(
    _ call: AwaitedCall,
    _ split: CallbackSplit,
    _ callee: String,
    _ names: [String],
    _ inner: [String]
  ) throws(Refusal) -> String? {
    func renamed(_ name: String?) -> String? {
      name.map { name in inner.firstIndex(of: name).map { names[$0] } ?? name }
    }
    let optionalError = inner.last.flatMap { call.form.errorIndex == nil ? nil : $0 }
    var bound = split.values.map(renamed)
    bound = bound.map { name in name.flatMap { usesName($0, split.success) ? $0 : nil } }
    if case .result = call.form, call.form.valueCount == 0 { bound = [] }
    let awaiting = binding(bound, callee, call, isOptional: split.isOptional)
    if let own, passesFailure(split, own, optionalError) {
      guard !call.canThrow || isLeaving(call.site.name) else { return nil }
      return lines(awaiting, try text(split.success))
    }
    // Its code takes the error as an optional one.
    if split.errorName == nil, let optionalError, tokens.uses(optionalError, in: split.failure) { return nil }
    let success = try text(split.success)
    let failure = split.failure.isEmpty ? "" : withoutReturn(try text(split.failure), split.failure)
    guard !Self.canThrow(success) else { return nil }
    let error = renamed(split.errorName)
    var head = "catch"
    if let error, error != "error" { head += " let \(error)" }
    if error == nil, tokens.uses("error", in: split.failure) { head += " _" }
    let ignored = failure.isEmpty ? "// The callback ignored the failure." : failure
    return "do {\n\(lines(awaiting, success))\n} \(head) {\n\(ignored)\n}"
  }

  /// Whether a text has an error that could reach a `catch` around it.
  static func canThrow(_ text: String) -> Bool {
    let tokens = SourceTokens(text)
    return ConvertedText.throwsOutside(tokens) || tokens.items.indices.contains { tokens[$0] == "throw" }
  }

  /// Whether the code for a failure only passes the error on.
  private func passesFailure(_ split: CallbackSplit, _ own: OwnCallback, _ optionalError: String?) -> Bool {
    guard let found = ownArguments(split.failure.lowerBound), found.end <= split.failure.upperBound,
      afterReturn(found.end) == split.failure.upperBound, let error = split.errorName ?? optionalError
    else { return false }
    return failureExpression(found, own).map { range in
      var words = range.map { tokens[$0] }
      if split.errorName == nil, words.last == "!" { words.removeLast() }
      return words == [error]
    } == true
  }

  /// The arguments of the callback, made from the outcome of the await, and the callback as it is.
  private func whole(
    _ call: AwaitedCall,
    _ names: [String],
    _ brace: Int,
    _ body: Range<Int>,
    _ callee: String
  ) throws(Refusal) -> String {
    let used = names.map { usesName($0, body) }
    let code = try text(body)
    guard used.contains(true) else { return lines("_ = \(callee.replacing(prefix: "try ", with: "try? "))", code) }
    let types = explicitTypes(brace)
    switch call.form {
    case .result(let value, let failure):
      let type = types[names[0]] ?? "Result<\(value), \(failure)>"
      return """
        let \(names[0]): \(type)
        do { \(names[0]) = .success(\(callee)) } catch { \(names[0]) = .failure(error) }
        \(code)
        """
    case .valuesOrError(let values) where values.count == 1 && !used[1]:
      return lines("let \(names[0]) = \(callee.replacing(prefix: "try ", with: "try? "))", code)
    case .valuesOrError(let values): return optionals(names, used, values, types, callee, code)
    case .error: return optionals(names, used, [], types, callee, code)
    default: throw Refusal("its callback gets values beside an error, and does not divide into success and failure")
    }
  }

  /// The values and the error of a callback as optional ones.
  private func optionals(
    _ names: [String],
    _ used: [Bool],
    _ values: [String],
    _ types: [String: String],
    _ callee: String,
    _ code: String
  ) -> String {
    let error = used[values.count] ? names[values.count] : nil
    let some = values.indices.filter { used[$0] }
    var declarations = some.map { "let \(names[$0]): \(types[names[$0]] ?? values[$0] + "?")" }
    var succeeding: [String] = []
    if some.isEmpty {
      succeeding.append(values.isEmpty ? callee : "_ = \(callee)")
    } else {
      let all = values.indices.map { used[$0] ? names[$0] : "_" }
      succeeding.append((all.count == 1 ? all[0] : "(\(all.joined(separator: ", ")))") + " = \(callee)")
    }
    var failing = some.map { "\(names[$0]) = nil" }
    if let error {
      declarations.append("let \(error): (any Error)?")
      succeeding.append("\(error) = nil")
      failing.append("\(error) = thrown")
    }
    let head = error == nil ? "} catch {" : "} catch let thrown {"
    return (declarations + ["do {"] + succeeding + [head] + failing + ["}", code]).joined(separator: "\n")
  }

  /// The types that the head of a closure names, by parameter.
  private func explicitTypes(_ brace: Int) -> [String: String] {
    guard let end = tokens.closureSignature(at: brace)?.end,
      let open = (brace..<end).first(where: { tokens[$0] == "(" && tokens.parent($0) == brace }),
      let close = tokens.partner(open)
    else { return [:] }
    var types: [String: String] = [:]
    var start = open + 1
    var depth = 0
    for index in open + 1...close {
      if tokens[index] == "<" { depth += 1 } else if tokens[index] == ">" { depth -= 1 }
      guard index == close || tokens[index] == "," && depth == 0 && tokens.parent(index) == open else { continue }
      if tokens[start + 1] == ":", start + 2 < index { types[tokens[start]] = String(tokens.text(start + 2...index - 1)) }
      start = index + 1
    }
    return types
  }

  // MARK: Parts of the text

  private func usesName(_ name: String, _ range: Range<Int>) -> Bool {
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

  private func binding(_ names: [String?], _ callee: String, _ call: AwaitedCall, isOptional: Bool = false) -> String {
    guard call.form.valueCount > 0 else { return callee }
    let used = names.map { $0 ?? "_" }
    if used.allSatisfy({ $0 == "_" }) { return "_ = \(callee)" }
    if used.count == 1 { return "let \(used[0])\(isOptional ? ": Optional" : "") = \(callee)" }
    return "let (\(used.joined(separator: ", "))) = \(callee)"
  }

  private func lines(_ first: String, _ second: String) -> String { second.isEmpty ? first : first + "\n" + second }

  /// Without the `return` at the end of a branch, after which nothing follows.
  private func withoutReturn(_ text: String, _ range: Range<Int>) -> String {
    guard own == nil, tokens[range.upperBound - 1] == "return", text.hasSuffix("return") else { return text }
    return String(text.dropLast("return".count)).trimmed
  }
}

extension String {
  fileprivate func replacing(prefix: String, with new: String) -> String {
    hasPrefix(prefix) ? new + dropFirst(prefix.count) : self
  }
}

extension Array {
  subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

extension SourceTokens {
  /// A name that a range does not use.
  func unused(_ name: String, in range: Range<Int>) -> String {
    if !uses(name, in: range) { return name }
    return (1...).lazy.map { "\(name)\($0)" }.first { !uses($0, in: range) } ?? name
  }
}
