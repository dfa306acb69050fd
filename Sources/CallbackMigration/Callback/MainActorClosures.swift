internal import Foundation

/// Closures that use the callback of a wrapped API, and belong to the main actor by the default of their module.
///
/// The program traps if the API calls such a closure elsewhere. Neither the compiler nor the library says why.
struct MainActorClosures {
  /// The places, in the order of files and lines.
  let places: [(path: String, line: Int)]

  /// - Parameters:
  ///   - sources: The paths of the files of a module whose default is the main actor.
  ///   - functions: The known functions. A literal for a `@Sendable` parameter belongs to no actor.
  init(sources: [String], calling functions: [CallbackFunction]) {
    let sendable = Set(functions.filter(\.takesSendableCallback).map(\.baseName))
      .subtracting(functions.filter { !$0.takesSendableCallback }.map(\.baseName))
    places = sources.sorted().flatMap { path in
      let tokens = SourceTokens((try? String(contentsOfFile: path, encoding: .utf8)) ?? "")
      return tokens.isBalanced ? Self.lines(in: tokens, sendable: sendable).map { (path, $0) } : []
    }
  }

  /// The functions whose closure gets a promise or a callback.
  private static let wrappers: Set<String> = [
    "withCallback", "callbackStream", "SharedCallbackStream", "Future", "lazy",
  ]

  /// Functions that take a `@Sendable` closure, or call their closure at once.
  private static let harmless: Set<String> = [
    "onCancel", "async", "asyncAfter", "sync", "addOperation", "Task", "detached", "immediate", "forEach", "map",
    "compactMap", "filter", "withLock", "assumeIsolated",
  ]

  /// The lines of the closures that could trap.
  private static func lines(in tokens: SourceTokens, sendable: Set<String>) -> [Int] {
    let found = tokens.items.indices.flatMap { index -> [Int] in
      guard wrappers.contains(tokens[index]), tokens[index - 1] != "func",
        let outer = tokens.trailingClosure(of: index),
        let end = tokens.partner(outer), !tokens.isNonisolated(at: outer),
        // A closure inside another cannot use the outer `$0`.
        let name = tokens.closureSignature(at: outer)?.parameters.first
      else { return [] }
      return (outer + 1..<end).filter { brace in
        guard tokens[brace] == "{", let close = tokens.partner(brace) else { return false }
        guard (brace..<close).contains(where: { tokens[$0] == name }) else { return false }
        guard let callee = tokens.callee(ofClosure: brace), callee != "if", callee != "switch" else { return false }
        let attributes = tokens.closureSignature(at: brace)?.attributes ?? []
        return attributes.isEmpty && !harmless.contains(callee) && !sendable.contains(callee)
      }
    }
    return Set(found.map(tokens.line)).sorted()
  }
}

extension CallbackFunction {
  fileprivate var baseName: String { String(name.prefix { $0 != "(" }) }

  fileprivate var takesSendableCallback: Bool {
    callbacks.indices.allSatisfy { declaration.parameters[$0].type.contains { $0.text == "@Sendable" } }
  }
}

extension SourceTokens {
  /// The brace of the closure after the name, the generic arguments and the other arguments of a called function.
  fileprivate func trailingClosure(of name: Int) -> Int? {
    var index = name + 1
    if self[index] == "<" {
      var depth = 0
      repeat {
        if self[index] == "<" { depth += 1 }
        if self[index] == ">" { depth -= 1 }
        index += 1
      } while depth > 0 && items.indices.contains(index) && self[index] != "{"
    }
    if self[index] == "(", let end = partner(index) { index = end + 1 }
    return self[index] == "{" ? index : nil
  }

  /// The name of the function that gets the closure as an argument; `nil` if the brace is no closure.
  fileprivate func callee(ofClosure brace: Int) -> String? {
    switch self[brace - 1] {
    case "(", ",", ":":
      guard let parenthesis = parent(brace), self[parenthesis] == "(" else { return nil }
      return self[parenthesis - 1]
    case ")":
      guard let start = partner(brace - 1), Self.isWord(self[start - 1]) else { return nil }
      return self[start - 1]
    case let word where Self.isWord(word):
      // `if done {` is a statement. A closure stands after the name of its function.
      let words = (statementStart(before: brace)..<brace).map { self[$0] }
      let keywords: Set<String> = ["if", "guard", "while", "for", "do", "else", "switch", "catch", "defer", "repeat"]
      return keywords.isDisjoint(with: words) ? word : nil
    default: return nil
    }
  }

  /// Whether a declaration around a token says that it belongs to no actor, or to one of its own.
  fileprivate func isNonisolated(at index: Int) -> Bool {
    var brace = parent(index)
    while let current = brace {
      if self[current] == "{" {
        let words = (statementStart(before: current)..<current).map { self[$0] }
        if words.contains("nonisolated") || words.contains("actor") || words.contains("@concurrent") { return true }
      }
      brace = parent(current)
    }
    return false
  }
}
