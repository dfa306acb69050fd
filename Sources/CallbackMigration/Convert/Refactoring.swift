internal import Foundation

/// Asks the compiler's refactorings for the text that replaces a call or a function.
///
/// `sourcekit-lsp` removes the placeholders of a refactoring: `print(<#text#>)` becomes `print()`, which compiles. It
/// leaves a text with a lone `#>` unchanged, so the tool adds a comment with a `#>`, the mark, to the callback.
struct Refactoring {
  let server: LanguageServer

  static let mark = "/*migrate-callbacks#>*/"

  /// The answer for one call or function.
  enum Answer {
    /// The range in the marked text, and the new text with its mark.
    case text(SourceEdit)
    case refused(String)
  }

  /// The answers for calls of one file, in their order.
  /// - Parameters:
  ///   - calls: Calls that do not contain each other.
  ///   - path: The file.
  ///   - tokens: The tokens of the file.
  /// - Returns: The new text of each call.
  /// - Throws: An error if the server fails.
  func convert(_ calls: [CallbackCall], _ path: String, _ tokens: SourceTokens) throws(MigrationError) -> [Answer] {
    var marks: [SourceEdit] = []
    for call in calls {
      guard let site = call.site, let brace = site.callback else { continue }
      marks.append(Self.mark(inClosureAt: brace, tokens))
      if let edit = call.scope.flatMap({ Self.taskAsBlock($0, tokens) }), !marks.contains(edit) { marks.append(edit) }
    }
    let marked = SourceText(tokens.source.applying(marks))
    try server.open(path, marked.text)
    var answers: [Answer] = []
    for call in calls {
      guard let site = call.site else { continue }
      let name = tokens.items[site.name].range.lowerBound
      guard let offset = SourceEdit.offset(name, after: marks) else {
        answers.append(.refused("its name is part of the head of a task"))
        continue
      }
      answers.append(try answer("Convert Call to Async Alternative", path, marked, offset))
    }
    return answers
  }

  /// The text of an async function that waits for the callback of a function.
  func wrapper(at name: Int, _ path: String, _ tokens: SourceTokens) throws(MigrationError) -> Answer {
    try server.open(path, tokens.source.text)
    return try answer("Add Async Wrapper", path, tokens.source, tokens.items[name].range.lowerBound)
  }

  /// The longest change of a refactoring; the others are attributes and empty lines.
  private func answer(
    _ action: String,
    _ path: String,
    _ marked: SourceText,
    _ offset: Int
  ) throws(MigrationError) -> Answer {
    switch try server.perform(action, path, marked.position(of: offset)) {
    case nil: return .refused("the compiler does not offer to convert it")
    case .failed(let reason)?: return .refused("the compiler does not convert it: \(reason)")
    case .edits(let edits)?:
      guard let edit = edits.max(by: { $0.newText.utf8.count < $1.newText.utf8.count }),
        let start = marked.offset(of: edit.range.start), let end = marked.offset(of: edit.range.end)
      else { return .refused("the compiler converts it into nothing") }
      return .text(SourceEdit(start..<end, edit.newText))
    }
  }

  private static func mark(inClosureAt brace: Int, _ tokens: SourceTokens) -> SourceEdit {
    let end = tokens.items[tokens.closureSignature(at: brace)?.end ?? brace].range.upperBound
    return SourceEdit(end..<end, " " + mark)
  }

  /// The compiler offers no refactoring in the closure of a task, so the server sees a block in its place.
  private static func taskAsBlock(_ scope: CallScope, _ tokens: SourceTokens) -> SourceEdit? {
    guard case .task(let callee, _) = scope.boundary, let brace = scope.body else { return nil }
    let start = tokens.items[tokens.statementStart(before: callee + 1)].range.lowerBound
    let end = tokens.items[tokens.closureSignature(at: brace)?.end ?? brace].range.upperBound
    return SourceEdit(start..<end, "do {")
  }
}
