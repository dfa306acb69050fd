internal import Foundation

/// The code of a callback after the await.
extension AsyncText {
  /// The names of the parameters of a callback in its text, such as `$0`.
  func parameters(_ brace: Int) -> [String] {
    if let names = shortNames[brace] { return names.indices.map { "$\($0)" } }
    return tokens.closureSignature(at: brace)?.parameters ?? []
  }

  func inlined(_ call: AwaitedCall, _ brace: Int, _ callee: String) throws(Refusal) -> String {
    let body = code(of: brace)
    let signature = tokens.closureSignature(at: brace)
    let captured = [brace, call.site.failure].compactMap(\.self).flatMap { brace in
      tokens.closureSignature(at: brace)?.captures?.map { tokens[$0] } ?? []
    }
    let own = [own?.name, own?.failureName].compactMap(\.self)
    guard Set(captured).subtracting(own).isSubset(of: ["[", "]", ",", "self", "weak", "unowned"]) else {
      throw Refusal("its callback captures values in a list, which an await has not")
    }
    for brace in [brace, call.site.failure].compactMap(\.self) { try refuseWeakFunction(brace) }
    try refuseEarlyReturns(call, brace)
    let names = shortNames[brace] ?? signature?.parameters ?? []
    if !isWhole, let text = try forwarded(call, names, body, callee) { return text }
    if case .successOrFailure = call.form { return try twoClosures(call, names, body, callee) }
    if case .values = call.form { return try values(call, names, body, callee) }
    if !isWhole, let text = try getInDo(names, body, callee) { return text }
    let inner = parameters(brace)
    if !isWhole, let split = CallbackSplit(tokens, call.form, inner, body),
      let text = try withoutForce(split).divided(call, split, callee, names, inner)
    {
      let lead = tokens.source[tokens.end(body.lowerBound - 1)..<tokens.items[body.lowerBound].range.lowerBound].trimmed
      return lead.isEmpty ? text : lead + "\n" + text
    }
    return try whole(call, names, brace, body, callee)
  }

  /// The `return` for a callback that only passes its parameters on, as in `completion(result)`; else `nil`.
  func forwarded(
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
  func getInDo(_ names: [String], _ body: Range<Int>, _ callee: String) throws(Refusal) -> String? {
    guard let name = names.first, names.count == 1, tokens[body.lowerBound] == "do", tokens[body.lowerBound + 1] == "{",
      tokens.statements(in: body).count == 1
    else { return nil }
    var index = body.lowerBound + 2
    if ["let", "var"].contains(tokens[index]), tokens[index + 2] == "=" { index += 3 }
    if tokens[index] == "_", tokens[index + 1] == "=" { index += 2 }
    guard tokens[index] == "try", token(index + 1) == name, tokens[index + 2] == ".", tokens[index + 3] == "get",
      tokens[index + 4] == "(", tokens[index + 5] == ")"
    else { return nil }
    let uses = body.filter {
      token($0) == name && tokens[$0 - 1] != "."
        || tokens[$0].contains("\"") && ConvertedText.words(of: token($0)).contains(name)
    }
    guard uses == [index + 1] else { return nil }
    var changed = self
    changed.replacements[index] = (callee, index + 6)
    return try changed.text(body)
  }

  func values(
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

  func twoClosures(
    _ call: AwaitedCall,
    _ names: [String],
    _ body: Range<Int>,
    _ callee: String
  ) throws(Refusal) -> String {
    guard case .successOrFailure(let types) = call.form else { return "" }
    var failure = body.upperBound..<body.upperBound
    var error: String?
    if let brace = call.site.failure {
      failure = code(of: brace)
      try refuseEarlyReturns(call, brace)
      error = (shortNames[brace] ?? tokens.closureSignature(at: brace)?.parameters ?? []).first
    } else if let own, case .successOrFailure = own.form, let name = own.failureName, passes(name, call) {
      // The failure leaves the function.
      try requireLeaving(call.site.name)
      return lines(binding(names.map { usesName($0, body) ? $0 : nil }, callee, call), try text(body))
    } else if let brackets = call.site.arguments,
      tokens.arguments(in: brackets).contains(where: {
        $0.label.map(call.omitted.contains) == true && $0.value.lowerBound != call.site.callback
      })
    {
      let line = tokens.line(call.site.name)
      throw Refusal("line \(line): its closure for a failure is not written at the call; write it there")
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
    let result = tokens.unused("result", in: call.site.start..<call.site.end + 1)
    return """
      let \(result): Result<\(value), any Error>
      do { \(result) = .success(\(callee)) } catch { \(result) = .failure(error) }
      switch \(result) {
      case .success\(pattern):
      \(Self.orBreak(try text(split.success)))
      case .failure\(errorPattern):
      \(Self.orBreak(failure.isEmpty ? "" : try text(failure)))
      }
      """
  }

  static func orBreak(_ text: String) -> String { text.isEmpty ? "break" : text }

  func passes(_ name: String, _ call: AwaitedCall) -> Bool {
    call.site.arguments.map { tokens.arguments(in: $0) }?.contains {
      $0.value.count == 1 && tokens[$0.value.lowerBound] == name
    } == true
  }

  /// The uses `value!` of the optional value of a success; `nil` if another use needs an optional.
  private func forcedUses(_ split: CallbackSplit) -> [Int]? {
    guard split.isOptional, let name = split.values.compactMap(\.self).first else { return nil }
    let uses = split.success.filter { index in
      tokens[index] == name && tokens[index - 1] != "."
        || tokens[index].contains("\"") && tokens.uses(name, in: index..<index + 1)
    }
    let others = uses.filter { tokens[$0 + 1] != "!" || !tokens.touch($0, $0 + 1) || tokens[$0 + 2] == "=" }
    return others.allSatisfy(isOwnArgument) ? uses.filter { !others.contains($0) } : nil
  }

  /// Whether a token is an argument of the own callback, as in `completion(data, nil)`.
  ///
  /// Such a value is returned, so it is no optional.
  private func isOwnArgument(_ index: Int) -> Bool {
    guard let own, own.form.hasOptionalValues, let open = tokens.parent(index), tokens[open] == "(" else {
      return false
    }
    let name = ["?", "!"].contains(tokens[open - 1]) ? open - 2 : open - 1
    return tokens[name] == own.name && ["(", ","].contains(tokens[index - 1]) && [")", ","].contains(tokens[index + 1])
  }

  /// Replaces `value!` by `value`, because after a success the value exists.
  private func withoutForce(_ split: CallbackSplit) -> AsyncText {
    var changed = self
    for index in forcedUses(split) ?? [] { changed.replacements[index] = (token(index), index + 2) }
    return changed
  }

  /// The await, the code for a success, and a `catch` for a failure; `nil` if the code does not divide so.
  func divided(
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
    let isOptional = split.isOptional && forcedUses(split) == nil
    let awaiting = binding(bound, callee, call, isOptional: isOptional)
    if let own, passesFailure(split, own, optionalError) {
      guard !call.canThrow || isLeaving(call.site.name) else { return nil }
      return lines(awaiting, try text(split.success))
    }
    // The code for the failure uses the error as an optional, which the error in a `catch` is not.
    if let optionalError, split.errorName != optionalError, tokens.uses(optionalError, in: split.failure) { return nil }
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

  /// Whether code throws an error that could reach a `catch` around it.
  static func canThrow(_ text: String) -> Bool {
    let tokens = SourceTokens(text)
    return ConvertedText.throwsOutside(tokens) || tokens.items.indices.contains { tokens[$0] == "throw" }
  }

  /// Whether the code for a failure only passes the error on.
  func passesFailure(_ split: CallbackSplit, _ own: OwnCallback, _ optionalError: String?) -> Bool {
    guard let found = ownArguments(split.failure.lowerBound), found.end <= split.failure.upperBound,
      afterReturn(found.end) == split.failure.upperBound, let error = split.errorName ?? optionalError
    else { return false }
    return failureExpression(found, own).map { range in
      var words = range.map { tokens[$0] }
      if split.errorName == nil, words.last == "!" { words.removeLast() }
      return words == [error]
    } == true
  }
}
