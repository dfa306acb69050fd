internal import Foundation

extension SymbolGraph {
  /// The graph in which closure parameters have names, as in `(_ files: [File], _ messages: [Message]) -> Void`.
  ///
  /// A graph that is made from a module lacks these names, so the source files provide them.
  package var withClosureLabels: SymbolGraph {
    var files: [String: SourceTokens] = [:]
    var graph = self
    for (index, symbol) in symbols.enumerated() {
      let hasClosure = symbol.declarationFragments.contains { $0.spelling.contains("->") }
      guard hasClosure, let location = symbol.location, let path = location.path else { continue }
      let source = files[path] ?? SourceTokens((try? String(contentsOfFile: path, encoding: .utf8)) ?? "")
      files[path] = source
      if let labelled = symbol.tokens.withClosureLabels(from: source, line: location.line) {
        graph.symbols[index].declarationFragments = labelled.fragments
      }
    }
    return graph
  }
}

extension [Token] {
  /// The tokens of a declaration with the names that its closure parameters have in `source`; `nil` if none is added.
  ///
  /// In `source`, the declaration's name stands on `line`.
  fileprivate func withClosureLabels(from source: SourceTokens, line: Int) -> [Token]? {
    let own = SourceTokens(text)
    // With equal counts, an index of `own` is also one of this array. Closures are found by brackets, so all must have a partner.
    guard own.items.count == count, own.isBalanced,
      let keyword = own.items.indices.first(where: { ["func", "init", "typealias"].contains(own[$0]) })
    else { return nil }
    let ownName = own[keyword] == "init" ? keyword : keyword + 1
    let sourceName = source.items.indices.first { source.line($0) == line && source[$0] == own[ownName] }
    guard let sourceName else { return nil }
    let ownClosures = own.closures(ofDeclaration: ownName)
    let sourceClosures = source.closures(ofDeclaration: sourceName)
    guard ownClosures.count == sourceClosures.count else { return nil }
    // The missing names, by the index of the token before which they belong.
    var insertions: [Int: [Token]] = [:]
    for (ownClosure, sourceClosure) in zip(ownClosures, sourceClosures) where ownClosure.count == sourceClosure.count {
      for (parameter, original) in zip(ownClosure, sourceClosure) where own.names(of: parameter).isEmpty {
        let names = source.names(of: original).map { Token(text: $0, hasSpaceBefore: true) }
        if names.isEmpty { continue }
        insertions[parameter.lowerBound] = names + [Token(text: ":", hasSpaceBefore: false)]
      }
    }
    guard !insertions.isEmpty else { return nil }
    return indices.flatMap { index -> [Token] in
      guard var names = insertions[index] else { return [self[index]] }
      names[0].hasSpaceBefore = self[index].hasSpaceBefore  // the first name stands where the type stood
      return names + [Token(text: self[index].text, hasSpaceBefore: true, type: self[index].type)]
    }
  }

  /// The tokens as the symbol graph writes them.
  fileprivate var fragments: [SymbolGraph.Symbol.Fragment] {
    flatMap { token -> [SymbolGraph.Symbol.Fragment] in
      let kind = token.type == nil ? "text" : "typeIdentifier"
      let fragment = SymbolGraph.Symbol.Fragment(kind: kind, spelling: token.text, preciseIdentifier: token.type)
      let space = SymbolGraph.Symbol.Fragment(kind: "text", spelling: " ", preciseIdentifier: nil)
      return token.hasSpaceBefore ? [space, fragment] : [fragment]
    }
  }
}

extension SourceTokens {
  /// For each parameter of a function: the parameters of the closure type in its type; empty without a closure type.
  ///
  /// A type alias counts as a function with one parameter: the type after `=`.
  fileprivate func closures(ofDeclaration name: Int) -> [[Range<Int>]] {
    if self[name - 1] == "typealias" {
      guard var type = (name..<items.count).first(where: { self[$0] == "=" }).map({ $0 + 1 }) else { return [] }
      while self[type].hasPrefix("@") { type += 1 }  // attributes, such as `@Sendable`
      guard self[type] == "(", let end = partner(type) else { return [] }
      return [closure(in: type..<end) ?? []]  // not past `end`, because a file has other declarations there
    }
    guard let open = (name..<items.count).first(where: { self[$0] == "(" }) else { return [] }
    return (arguments(in: open) ?? []).map { closure(in: $0) ?? [] }
  }

  /// The parameters of the first closure type in a range; `nil` if the range has no closure type.
  private func closure(in range: Range<Int>) -> [Range<Int>]? {
    for open in range where self[open] == "(" {
      guard let close = partner(open) else { continue }
      var next = close + 1
      while ["async", "throws"].contains(self[next]) { next += 1 }
      if self[next - 1] == "throws", let end = partner(next) { next = end + 1 }  // a typed error
      if self[next] == "->" { return arguments(in: open) }
    }
    return nil
  }

  /// The words before the colon of a closure's parameter, such as `_` and `user`; empty if it has only a type.
  fileprivate func names(of parameter: Range<Int>) -> [String] {
    let words = parameter.prefix { self[$0] != ":" }
    let hasColon = words.count < parameter.count
    // The colon can be that of a type without a name, as in `[Key: Value]`. Then the part before it has a bracket.
    guard hasColon, words.count <= 2, words.allSatisfy({ Self.isWord(self[$0]) }) else { return [] }
    return words.map { self[$0] }
  }
}
