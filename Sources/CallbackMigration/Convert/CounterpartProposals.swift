internal import Foundation

/// Proposes async counterparts for functions with a callback.
///
/// The old function stays as it is, so that its callers see no difference until they move.
struct CounterpartProposals {
  private let workspace: MigrationWorkspace
  private let calls: [CallbackCall]
  private let functions: [AwaitableFunction]

  init(_ workspace: MigrationWorkspace, _ calls: [CallbackCall], _ functions: [AwaitableFunction]) {
    self.workspace = workspace
    self.calls = calls
    self.functions = functions
  }

  /// The counterparts of this round: those of functions in which all calls have counterparts already.
  func changes(
    isWanted: (AwaitableFunction) -> Bool,
    _ refused: inout Set<Conversion.LeftCode>
  ) throws(MigrationError) -> [ProposedChange] {
    while true {
      let count = refused.count
      let changes = try onePass(isWanted: isWanted, &refused)
      // A refused private or synchronous function no longer holds up the functions that call it.
      if !changes.isEmpty || refused.count == count { return changes }
    }
  }

  private func onePass(
    isWanted: (AwaitableFunction) -> Bool,
    _ refused: inout Set<Conversion.LeftCode>
  ) throws(MigrationError) -> [ProposedChange] {
    let leftSteps = Set(
      functions.indices.filter { index in
        let function = functions[index]
        guard function.isLocalStep, !function.hasCounterpart else { return false }
        let left = Conversion.LeftCode(function, "", workspace.copy)
        return refused.contains { $0.title == left.title && $0.place == left.place }
      }
    )
    var changes: [ProposedChange] = []
    let called = Set(calls.map(\.target))
    for (index, function) in functions.enumerated() where isWanted(function) {
      let inside = calls.filter { $0.owner == index && $0.place == .next && !leftSteps.contains($0.target) }
      // A generated counterpart waits for the callback. It is replaced if the calls in the function have counterparts.
      let replaces = function.hasCounterpart && function.isCounterpartGenerated && !inside.isEmpty
      guard function.counterpart == .writable || replaces else { continue }
      guard called.contains(index) || !inside.isEmpty else { continue }
      guard inside.allSatisfy({ functions[$0.target].hasCounterpart }) else { continue }
      let left = { (reason: String) in Conversion.LeftCode(function, reason, workspace.copy) }
      guard !refused.contains(where: { $0.title == function.title && $0.place == left("").place }) else { continue }
      do throws(ConvertedText.Refusal) {
        if let call = inside.first(where: { $0.callClass == .byHand }) {
          throw ConvertedText.Refusal("of the call on line \(call.line): \(call.reason ?? "")")
        }
        if let reason = functions.sharingRefusal(of: index, calls) { throw ConvertedText.Refusal(reason) }
        changes.append(try change(index, inside))
      } catch {
        refused.insert(left(error.reason))
      }
    }
    return changes
  }

  private static let remedy = "use `generate --minimum-access internal`"

  private func change(_ index: Int, _ inside: [CallbackCall]) throws(ConvertedText.Refusal) -> ProposedChange {
    let function = functions[index]
    let tokens = workspace.files.tokens(function.path)
    guard let name = tokens.index(at: function.offset), let text = FunctionText(name: name, in: tokens),
      let body = text.body
    else { throw ConvertedText.Refusal("it has no body") }
    let new: String
    // `generate` writes `nonisolated(nonsending)` for each such function. Here it stands only where it is needed.
    let startsOnCallersActor =
      function.callersActorSignature != nil
      && CallersActor(calls: calls, functions: functions, files: workspace.files).isNeeded(by: index)
    if inside.isEmpty, !function.isSync {
      if let queue = function.called.queue?.name {
        throw ConvertedText.Refusal("the compiler's counterpart keeps the parameter `\(queue)`; \(Self.remedy)")
      }
      do throws(MigrationError) {
        let refactoring = Refactoring(server: try workspace.server())
        let wrapper = try Self.wrapper(try refactoring.wrapper(at: name, function.path, tokens), function)
        new = startsOnCallersActor ? Self.onCallersActor(wrapper) : wrapper
      } catch {
        throw ConvertedText.Refusal(error.description)
      }
    } else {
      let checks = FunctionChecks(tokens: tokens, function: function, text: text, calls: inside)
      if let refusal = checks.refusal { throw ConvertedText.Refusal(refusal) }
      guard let head = function.counterpartHead else { throw ConvertedText.Refusal("its declaration is not known") }
      let content = try OwnText.body(of: function, text, inside, in: tokens, functions)
      let declaration = (startsOnCallersActor ? function.callersActorSignature : nil) ?? head.signature
      var signature = Self.signature(declaration, at: name, in: tokens)
      if !function.hasCounterpart, !signature.contains("throws("), !AsyncText.canThrow(content) {
        signature = Self.nonthrowing(signature)
      }
      new = (head.attributes + ["\(signature) {", content, "}"]).joined(separator: "\n")
    }
    let end = tokens.items[body.upperBound].range.upperBound
    let start = tokens.source.start(ofLine: tokens.source.line(of: function.offset))
    let indent = tokens.source[start..<function.offset].prefix { $0 == " " || $0 == "\t" }
    var change = ProposedChange(
      path: function.path,
      range: end..<end,
      text: "/// The \(function.isSync ? "synchronous" : "async") counterpart of ``\(function.name)``.\n" + new,
      lead: "\n\n" + indent,
      function: index
    )
    // The counterpart of a requirement stays for the other types that conform.
    if function.hasCounterpart, !function.isWitness {
      guard let removal = removal(of: function) else {
        throw ConvertedText.Refusal("its generated counterpart is not found")
      }
      change.removal = removal
    }
    return change
  }

  /// A function that runs on the actor of its caller.
  static func onCallersActor(_ text: String) -> String {
    let tokens = SourceTokens(text)
    let own = tokens.items.indices.filter { tokens.parent($0) == nil }
    guard let keyword = own.first(where: { tokens[$0] == "func" }) else { return text }
    let old = own.first { tokens[$0] == "nonisolated" && $0 < keyword }
    let new = "nonisolated(nonsending)" + (old == nil ? " func" : "")
    return tokens.source.applying([SourceEdit(tokens.items[old ?? keyword].range, new)])
  }

  /// A signature without the `throws` of the function itself.
  static func nonthrowing(_ text: String) -> String {
    let tokens = SourceTokens(text)
    guard let index = tokens.items.indices.first(where: { tokens[$0] == "throws" && tokens.parent($0) == nil }) else {
      return text
    }
    return tokens.source.applying([SourceEdit(tokens.items[index - 1].range.upperBound..<tokens.end(index), "")])
  }

  /// Returns a signature with the access level that the counterpart needs in an extension.
  ///
  /// Repeating the extension's own level would warn. Without `internal`, a member of a public extension is public.
  static func signature(_ text: String, at name: Int, in tokens: SourceTokens) -> String {
    guard let brace = tokens.parent(name), let word = text.split(separator: " ").first.map(String.init) else {
      return text
    }
    guard let keyword = tokens.typeKeyword(before: brace), tokens[keyword] == "extension" else { return text }
    // A private extension gives its members the level `fileprivate`.
    let levels = (tokens.statementStart(before: brace)..<keyword).map {
      tokens[$0] == "private" ? "fileprivate" : tokens[$0]
    }
    if levels.contains(word) { return String(text.dropFirst(word.count + 1)) }
    let isInternal = AccessLevel(rawValue: word) == nil
    return isInternal && (levels.contains("public") || levels.contains("package")) ? "internal " + text : text
  }

  /// The generated counterpart of a function, with its documentation.
  private func removal(of function: AwaitableFunction) -> ProposedChange.Removal? {
    guard case .exists(let file) = function.counterpart else { return nil }
    let path = workspace.copy.copied(file)
    let type = String(function.type.dropLast())
    return GeneratedFile(workspace.files.tokens(path)).range(
      of: function.counterpartTitle,
      in: type,
      isSync: function.isSync
    )
    .map { ProposedChange.Removal(path: path, range: $0) }
  }

  /// Refuses a wrapper that traps if the callback breaks its contract.
  private static func wrapper(
    _ answer: Refactoring.Answer,
    _ function: AwaitableFunction
  ) throws(MigrationError) -> String {
    switch answer {
    case .refused(let reason): throw MigrationError(reason)
    case .text(let edit):
      if edit.text.contains("fatalError") {
        throw MigrationError("the compiler's counterpart traps without a value and an error; \(remedy)")
      }
      return declaration(from: edit.text, named: function.counterpartName)
    }
  }

  /// The compiler's counterpart with the name that the configuration gives it.
  ///
  /// `@available(*, renamed:)` and `@discardableResult` belong to the old function only.
  static func declaration(from text: String, named name: String) -> String {
    let tokens = SourceTokens(Annotations.removed(from: text, isKeepingAttributes: false))
    var edits: [SourceEdit] = []
    for index in tokens.items.indices where tokens.parent(index) == nil {
      if tokens[index - 1] == "func" { edits.append(SourceEdit(tokens.items[index].range, name)) }
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
