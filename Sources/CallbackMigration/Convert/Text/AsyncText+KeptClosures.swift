/// Closures that stay in a callback with `[weak self]` or `[unowned self]`, and use its `self`.
///
/// After the await, `self` is strong. Such a closure would keep the object, in a cycle if the object keeps the closure.
/// So the closure gets the same capture of its own.
extension AsyncText {
  /// The head of such a closure with `self` in its captures, and the token after the head; `nil` for other braces.
  func weakHead(_ brace: Int) -> (text: String, end: Int)? {
    guard !weakBraces.isEmpty, tokens[brace] == "{", staysWeak(brace), isWeak(brace) else { return nil }
    let capture = "\(weakCallback(around: brace).map(specifier) ?? "weak") self"
    let signature = tokens.closureSignature(at: brace)
    if let list = signature?.captures {
      let separator = list.count == 2 ? "" : ", "
      return ("\(tokens.text(brace...list.lowerBound))\(capture)\(separator)", list.lowerBound + 1)
    }
    var last = brace
    while tokens[last + 1].hasPrefix("@") {
      last += 1
      if tokens[last + 1] == "(", tokens.touch(last, last + 1), let close = tokens.partner(last + 1) { last = close }
    }
    let space = tokens.touch(last, last + 1) ? " " : ""
    return ("\(tokens.text(brace...last)) [\(capture)]\(signature == nil ? " in" : "")\(space)", last + 1)
  }

  /// Whether braces are those of a closure that is no awaited callback, and that uses an optional `self`.
  func staysWeak(_ brace: Int) -> Bool {
    guard case .closure = tokens.block(at: brace), tokens.statement(withValueOf: brace) == nil,
      !calls.values.contains(where: { $0.site.callback == brace || $0.site.failure == brace }),
      !capturesSelf(brace),
      QueueHop(at: tokens.statementStart(before: brace), of: own?.queueName, in: tokens)?.brace != brace
    else { return false }
    return usesOptionalSelf(brace)
  }

  /// Throws if a callback with a weak `self` has a local function that uses it: a function has no capture list.
  func refuseWeakFunction(_ callback: Int) throws(Refusal) {
    guard weakBraces.contains(callback) else { return }
    for index in tokens.content(of: callback) where tokens[index] == "func" {
      guard let body = FunctionText(name: index + 1, in: tokens)?.body, usesOptionalSelf(body.lowerBound) else {
        continue
      }
      let word = specifier(callback)
      let use = "the function on line \(tokens.line(index)) uses \(word == "weak" ? "a weak" : "an \(word)") `self`"
      throw Refusal("\(use); make it a closure with its own `[\(word) self]`")
    }
  }

  /// Whether `self` is in the capture list of a closure.
  func capturesSelf(_ brace: Int) -> Bool {
    guard tokens[brace] == "{", let captures = tokens.closureSignature(at: brace)?.captures else { return false }
    return captures.contains { tokens[$0] == "self" }
  }

  private func usesOptionalSelf(_ brace: Int) -> Bool {
    let body = tokens.content(of: brace)
    var isUsed = false
    var index = body.lowerBound
    while index < body.upperBound {
      let text = tokens[index]
      if text.contains("\""), ConvertedText.words(of: text).contains("self") {
        if text.contains("self?") { return true }
        isUsed = true
      } else if text == "self", tokens[index - 1] != "." {
        if tokens[index + 1] == "?" && tokens.touch(index, index + 1) || tokens[index - 1] == "let" { return true }
        isUsed = true
      } else if capturesSelf(index) {
        isUsed = true
        index = tokens.partner(index) ?? index
      }
      index += 1
    }
    return isUsed && !isUnwrapped(brace)
  }

  /// The innermost callback around a brace that has a weak or unowned capture.
  private func weakCallback(around brace: Int) -> Int? {
    weakBraces.filter { $0 < brace && (tokens.partner($0) ?? 0) > brace }.max()
  }

  /// The word with which such a callback captures `self`: `weak` or `unowned`.
  private func specifier(_ callback: Int) -> String {
    let captures = tokens.closureSignature(at: callback)?.captures
    return captures?.first { ["weak", "unowned"].contains(tokens[$0]) }.map { tokens[$0] } ?? "weak"
  }

  /// Whether `guard let self` or `if let self` makes `self` no optional before a brace in the callback.
  private func isUnwrapped(_ brace: Int) -> Bool {
    guard let callback = weakCallback(around: brace) else { return false }
    return (callback..<brace).contains { index in
      guard tokens[index] == "let", ["self", "`self`"].contains(tokens[index + 1]) else { return false }
      let start = tokens.statementStart(before: index + 1)
      var scope = tokens.parent(start)
      if tokens[start] != "guard" {
        scope = (index..<brace).first { tokens[$0] == "{" && tokens.parent($0) == tokens.parent(start) }
      }
      return scope.flatMap(tokens.partner).map { $0 > brace } == true
    }
  }
}

extension SourceTokens {
  /// The first token of the statement that uses the value of an `if`, a `switch` or a `do` with these braces.
  ///
  /// `nil` for other braces, and for those of an `else`. Such braces look like a closure, as in `let x = switch n {`.
  func statement(withValueOf brace: Int) -> Int? {
    guard self[brace] == "{" else { return nil }
    let start = statementStart(before: brace)
    let isValue = (start..<brace).contains { index in
      ["if", "switch", "do"].contains(self[index]) && self[index - 1] != "." && self[index + 1] != ":"
        && parent(index) == parent(brace)
    }
    return isValue ? start : nil
  }

  /// Whether a token stands in an `if` or a `switch` that gives a variable its value and its type.
  ///
  /// In `let x = if a { self?.b } else { self?.c }`, the type changes with the optional.
  func givesType(_ index: Int) -> Bool {
    guard var brace = parent(index), self[brace] == "{" else { return false }
    while ["else", "catch"].contains(self[statementStart(before: brace)]) {
      guard let open = partner(statementStart(before: brace) - 1) else { return false }
      brace = open
    }
    guard let start = statement(withValueOf: brace) else { return false }
    return ["let", "var"].contains(self[start]) && self[start + 2] == "="
  }
}
