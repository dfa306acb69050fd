/// The call of a counterpart in place of a call with a callback.
extension AsyncText {
  /// The text that replaces a call and its callback.
  func awaited(_ call: AwaitedCall) throws(Refusal) -> String {
    let callee = (call.canThrow ? "try " : "") + (call.isSync ? "" : "await ") + (try calleeText(call))
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
  func calleeText(_ call: AwaitedCall) throws(Refusal) -> String {
    let site = call.site
    var arguments: [String] = []
    if let brackets = site.arguments {
      let ownCallbacks = [own?.name, own?.failureName]
      for argument in tokens.arguments(in: brackets)
      where call.keeps(argument, ownCallbacks: ownCallbacks, ownQueue: own?.queueName, in: tokens) {
        arguments.append((argument.label.map { "\($0): " } ?? "") + (try copy(argument.value)))
      }
    }
    var end = site.arguments.map { $0.upperBound + 1 } ?? site.name + 1
    while end <= site.end {
      let brace = tokens[end] == "{" ? end : end + 2
      guard brace == site.callback || brace == site.failure, let close = tokens.partner(brace) else {
        let line = tokens.line(site.name)
        throw Refusal("line \(line): the call has another trailing closure; write it in the brackets")
      }
      end = close + 1
    }
    return (try copy(site.start..<site.name, isCallee: true)) + call.name + "(\(arguments.joined(separator: ", ")))"
  }

  func passesOwnCallback(_ call: AwaitedCall, _ own: OwnCallback) -> Bool {
    guard let brackets = call.site.arguments else { return false }
    let passed = tokens.arguments(in: brackets).filter { $0.value.count == 1 }.map { tokens[$0.value.lowerBound] }
    guard passed.contains(own.name) else { return false }
    switch (call.form, own.form) {
    case (.result, .result), (.error, .error): return true
    case (.valuesOrError(let these), .valuesOrError(let those)),
      (.presentValuesOrError(let these), .presentValuesOrError(let those)):
      return these.count == those.count
    case (.values(let this), .values(let that)): return this == that
    case (.successOrFailure, .successOrFailure): return own.failureName.map(passed.contains) == true
    default: return false
    }
  }

  /// The names that a text declares.
  func introducedNames(in text: String) -> Set<String> {
    let new = SourceTokens(text)
    var names: Set<String> = []
    for index in new.items.indices where ["let", "var", "func"].contains(new[index]) {
      var outer = index
      while let bracket = new.parent(outer) { outer = bracket }
      guard new[outer] != "{", ["let", "var", "func", "guard"].contains(new[new.statementStart(before: outer + 1)])
      else {
        continue
      }
      if new[index + 1] == "(", let close = new.partner(index + 1) {
        names.formUnion((index + 1..<close).map { new[$0] }.filter(SourceTokens.isWord))
      } else {
        names.insert(new[index + 1])
      }
    }
    return names.subtracting(["_"])
  }

  /// Whether the code around the call uses a name, which a new variable of that name would hide.
  func collides(_ name: String, _ call: AwaitedCall) -> Bool {
    guard let brace = enclosing(call), let close = tokens.partner(brace) else { return true }
    let start = Self.statementStart(of: call.site)
    return tokens.uses(name, in: brace + 1..<start) || tokens.uses(name, in: call.site.end + 1..<close)
  }

  /// Whether a variable of a text would hide a name that the code before a token uses.
  func hides(_ text: String, at index: Int) -> Bool {
    guard let brace = tokens.closureOrFunction(around: index) else { return true }
    return introducedNames(in: text).contains { tokens.uses($0, in: brace + 1..<index) }
  }

  /// The brace of the closure or function in which the callback's variables would be declared.
  func enclosing(_ call: AwaitedCall) -> Int? {
    var brace = tokens.closureOrFunction(around: call.site.start)
    while let current = brace,
      calls.values.contains(where: { $0.site.callback == current || $0.site.failure == current })
    {
      brace = tokens.closureOrFunction(around: current)
    }
    return brace
  }
}
