/// The counterparts of functions with a callback that can become async.
///
/// The old function stays as it is, so that its callers see no difference until they move.
struct CounterpartProposals {
  private let workspace: MigrationWorkspace
  private let calls: [CallbackCall]
  private let functions: [MigratedFunction]

  init(_ workspace: MigrationWorkspace, _ calls: [CallbackCall], _ functions: [MigratedFunction]) {
    self.workspace = workspace
    self.calls = calls
    self.functions = functions
  }

  /// The new functions of this round: those whose calls have counterparts already.
  func changes(
    isWanted: (MigratedFunction) -> Bool,
    _ refused: inout Set<Conversion.LeftCall>
  ) throws(MigrationError) -> [ProposedChange] {
    var changes: [ProposedChange] = []
    let called = Set(calls.map(\.target))
    for (index, function) in functions.enumerated() where function.counterpart == .writable && isWanted(function) {
      let inside = calls.filter { $0.owner == index && $0.place == .next }
      guard called.contains(index) || !inside.isEmpty else { continue }
      guard inside.allSatisfy({ functions[$0.target].hasCounterpart }) else { continue }
      let left = { (reason: String) in Conversion.LeftCall(function, reason, workspace.copy) }
      guard !refused.contains(where: { $0.title == function.title && $0.place == left("").place }) else { continue }
      do throws(ConvertedText.Refusal) {
        if let call = inside.first(where: { $0.callClass == .byHand }) {
          throw ConvertedText.Refusal("of the call on line \(call.line): \(call.reason ?? "")")
        }
        changes.append(try change(index, inside))
      } catch {
        refused.insert(left(error.reason))
      }
    }
    return changes
  }

  private func change(_ index: Int, _ inside: [CallbackCall]) throws(ConvertedText.Refusal) -> ProposedChange {
    let function = functions[index]
    let tokens = workspace.files.tokens(function.path)
    guard let name = tokens.index(at: function.offset), let text = FunctionText(name: name, in: tokens),
      let body = text.body
    else { throw ConvertedText.Refusal("it has no body") }
    let new: String
    do throws(MigrationError) {
      let refactoring = Refactoring(server: try workspace.server())
      if inside.isEmpty {
        new = try Self.wrapper(try refactoring.wrapper(at: name, function.path, tokens), function)
      } else {
        let checks = FunctionChecks(tokens: tokens, function: function, text: text, calls: inside)
        if let refusal = checks.refusal { return try Self.refuse(refusal) }
        let answer = try refactoring.convertFunction(at: name, function.path, tokens)
        new = try Self.converted(answer, function, body, tokens)
      }
    } catch {
      throw ConvertedText.Refusal(error.description)
    }
    let end = tokens.items[body.upperBound].range.upperBound
    let start = tokens.source.start(ofLine: tokens.source.line(of: function.offset))
    let indent = tokens.source[start..<function.offset].prefix { $0 == " " || $0 == "\t" }
    return ProposedChange(
      path: function.path,
      range: end..<end,
      text: "/// The async counterpart of ``\(function.name)``.\n" + new,
      lead: "\n\n" + indent,
      function: index
    )
  }

  private static func refuse(_ reason: String) throws(MigrationError) -> ProposedChange { throw MigrationError(reason) }

  /// Refuses a wrapper that traps if the callback breaks its contract.
  private static func wrapper(
    _ answer: Refactoring.Answer,
    _ function: MigratedFunction
  ) throws(MigrationError) -> String {
    switch answer {
    case .refused(let reason): throw MigrationError(reason)
    case .text(let edit):
      if edit.text.contains("fatalError") {
        throw MigrationError("the compiler's counterpart traps without a value and an error; use `generate`")
      }
      return withoutAttributes(edit.text)
    }
  }

  private static func converted(
    _ answer: Refactoring.Answer,
    _ function: MigratedFunction,
    _ body: ClosedRange<Int>,
    _ tokens: SourceTokens
  ) throws(MigrationError) -> String {
    guard case .text(let edit) = answer else {
      if case .refused(let reason) = answer { throw MigrationError(reason) }
      throw MigrationError("the compiler converts it into nothing")
    }
    do throws(ConvertedText.Refusal) {
      let text = withoutAttributes(try ConvertedText.withoutMark(edit.text))
      let new = SourceTokens(text)
      guard let name = new.items.indices.first(where: { new[$0 - 1] == "func" }),
        let newBody = FunctionText(name: name, in: new)?.body
      else { throw ConvertedText.Refusal("the compiler's text is no function") }
      let old = SourceTokens(String(tokens.text(body)))
      let inner = SourceTokens(String(new.text(newBody)))
      try ConvertedText.compareComments(old, inner)
      let names: Set<String> = [function.callbackName, "throw", "completion", "completionHandler"]
      try ConvertedText.compareWords(old, inner, ignoring: names)
      return text
    } catch {
      throw MigrationError(error.reason)
    }
  }

  /// The attributes that name a counterpart, or that allow to ignore a result, belong to the old function.
  private static func withoutAttributes(_ text: String) -> String {
    let tokens = SourceTokens(Annotations.removed(from: text, isKeepingAttributes: false))
    var edits: [SourceEdit] = []
    for index in tokens.items.indices where tokens.parent(index) == nil {
      if tokens[index] == "@discardableResult" { edits.append(SourceEdit(tokens.items[index].range, "")) }
      if tokens[index] == "@available", let end = tokens.partner(index + 1),
        (index...end).contains(where: { tokens[$0] == "renamed" })
      {
        edits.append(SourceEdit(tokens.items[index].range.lowerBound..<tokens.items[end].range.upperBound, ""))
      }
    }
    return tokens.source.applying(edits).split(separator: "\n").filter { !$0.allSatisfy(\.isWhitespace) }
      .joined(separator: "\n")
  }
}
