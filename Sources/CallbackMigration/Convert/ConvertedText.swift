internal import Foundation

/// The new text of a call, after the tool has compared it with the old text.
struct ConvertedText: Equatable {
  let text: String

  /// The reason why a text cannot be used.
  struct Refusal: Error, Equatable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  /// Checks the text that the refactoring proposes for a call.
  /// - Parameters:
  ///   - answer: The text of the refactoring, with its mark.
  ///   - site: The call.
  ///   - tokens: The tokens of the call's file.
  ///   - ignoresFailure: Whether the callback does nothing after a failure.
  ///   - count: The number of calls that the tool has checked: the call, and those in its callback.
  /// - Throws: A refusal.
  init(
    _ answer: String,
    of site: CallSite,
    in tokens: SourceTokens,
    ignoresFailure: Bool,
    awaiting count: Int
  ) throws(Refusal) {
    var text = try Self.withoutMark(answer)
    text = Self.withoutUnusedName(text)
    let new = SourceTokens(text)
    guard new.isBalanced else { throw Refusal("the compiler's text has brackets that do not match") }
    let old = SourceTokens(String(tokens.text(site.start...site.end)))
    try Self.compareComments(old, new)
    try Self.compareWords(old, new)
    // The compiler also converts calls of other packages' functions, and of functions that the configuration skips.
    let awaits = { (tokens: SourceTokens) in tokens.items.count { $0.text == "await" } }
    guard awaits(new) <= awaits(old) + count else {
      throw Refusal("the compiler's text awaits a call that the tool has not checked")
    }
    if Self.throwsOutside(new) {
      guard ignoresFailure else { throw Refusal("its failure would leave the function, and the callback kept it") }
      text = "do {\n\(text)\n} catch {\n// The callback ignored the failure.\n}"
    }
    self.text = text
  }

  /// The text without the mark that makes placeholders visible.
  static func withoutMark(_ text: String) throws(Refusal) -> String {
    guard text.contains(Refactoring.mark) else {
      throw Refusal("nothing shows whether the compiler's text is complete")
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).compactMap { line -> String? in
      guard line.contains(Refactoring.mark) else { return String(line) }
      let rest = line.replacingOccurrences(of: Refactoring.mark, with: "")
      return rest.allSatisfy(\.isWhitespace) ? nil : rest
    }
    let result = lines.joined(separator: "\n")
    guard !result.contains("<#") else { throw Refusal("the compiler's text has a placeholder") }
    return result
  }

  /// Replaces an unused name by `_`, because `let text = try await load()` would warn.
  static func withoutUnusedName(_ text: String) -> String {
    let tokens = SourceTokens(text)
    let edits = tokens.items.indices.compactMap { index -> SourceEdit? in
      guard tokens[index] == "let", SourceTokens.isWord(tokens[index + 1]), tokens[index + 2] == "=" else { return nil }
      let name = tokens[index + 1]
      let isAwait = tokens[index + 3] == "await" || tokens[index + 4] == "await"
      let uses = tokens.items.count { words(of: $0.text).contains(name) }
      guard isAwait, uses == 1 || name == "_" else { return nil }
      return SourceEdit(tokens.items[index].range.lowerBound..<tokens.items[index + 1].range.upperBound, "_")
    }
    return tokens.source.applying(edits)
  }

  static func compareComments(_ old: SourceTokens, _ new: SourceTokens) throws(Refusal) {
    if old.comments.sorted() == new.comments.sorted() { return }
    let isLost = old.comments.contains { !new.comments.contains($0) }
    throw Refusal(isLost ? "a comment would be lost" : "the compiler's text has a comment of its own")
  }

  /// Throws if a word occurs more often in one of the texts; words such as `if` and `success` do not count.
  static func compareWords(
    _ old: SourceTokens,
    _ new: SourceTokens,
    ignoring ignored: Set<String> = []
  ) throws(Refusal) {
    let oldNames = boundNames(old).union(ignored)
    let newNames = boundNames(new)
    var heads: Set<Int> = []
    for brace in old.items.indices where old[brace] == "{" {
      if let head = old.closureSignature(at: brace) { heads.formUnion(brace...head.end) }
    }
    func counts(_ tokens: SourceTokens, _ isLeftOut: (Int) -> Bool) -> [String: Int] {
      var counts: [String: Int] = [:]
      for index in tokens.items.indices where !isLeftOut(index) {
        for word in words(of: tokens[index])
        where !branchWords.contains(word) && !oldNames.contains(word) && !newNames.contains(word) {
          counts[word, default: 0] += 1
        }
      }
      return counts
    }
    let before = counts(old) { index in
      heads.contains(index) || old[index + 1] == ":" && old[index + 2] == "{" && SourceTokens.isWord(old[index])
    }
    let after = counts(new) { _ in false }
    guard before != after else { return }
    let word = Set(before.keys).union(after.keys).sorted().first { before[$0] != after[$0] } ?? ""
    throw Refusal("the compiler's text differs in `\(word)`")
  }

  /// The names of closure parameters and patterns.
  private static func boundNames(_ tokens: SourceTokens) -> Set<String> {
    var names: Set<String> = ["$0", "$1", "$2", "$3"]
    for index in tokens.items.indices {
      if ["let", "var"].contains(tokens[index]) {
        if tokens[index + 1] == "(", let end = tokens.partner(index + 1) {
          names.formUnion((index + 1...end).map { tokens[$0] }.filter(SourceTokens.isWord))
        } else {
          names.insert(tokens[index + 1])
        }
      }
      if tokens[index] == "{", let head = tokens.closureSignature(at: index) { names.formUnion(head.parameters) }
      if tokens[index] == "catch", tokens[index + 1] == "{" { names.insert("error") }
    }
    return names
  }

  private static let branchWords: Set<String> = [
    "let", "var", "if", "guard", "else", "switch", "case", "success", "failure", "some", "none", "nil", "return", "try",
    "do", "catch", "await", "in", "get", "default", "break", "_",
  ]

  /// The words of a token, also inside a string.
  static func words(of token: String) -> [String] {
    guard token.contains("\"") else {
      return token.first.map {
        $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" || $0 == "`" || $0 == "#" || $0 == "@"
      } == true
        ? [token] : []
    }
    return token.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }.map(String.init)
  }

  /// Whether a `try` stands outside every `do` with a `catch`.
  static func throwsOutside(_ tokens: SourceTokens) -> Bool {
    tokens.items.indices.contains { index in
      guard tokens[index] == "try", tokens[index + 1] != "?", tokens[index + 1] != "!" else { return false }
      var bracket = tokens.parent(index)
      while let current = bracket {
        if tokens[current] == "{", tokens[current - 1] == "do", let close = tokens.partner(current),
          tokens[close + 1] == "catch"
        {
          return false
        }
        bracket = tokens.parent(current)
      }
      return true
    }
  }
}
