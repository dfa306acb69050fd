internal import Foundation

extension SymbolGraph {
  /// The graph with the names of closure parameters, as in `(_ files: [File], _ messages: [Message]) -> Void`.
  ///
  /// The graph that is made from a module lacks these names, so they come from the source files.
  package var withClosureLabels: SymbolGraph {
    var files: [String: SourceTokens] = [:]
    var graph = self
    for (index, symbol) in symbols.enumerated() {
      guard symbol.declarationFragments.contains(where: { $0.spelling.contains("->") }),
        let location = symbol.location, let path = location.path
      else { continue }
      let source = files[path] ?? SourceTokens((try? String(contentsOfFile: path, encoding: .utf8)) ?? "")
      files[path] = source
      let tokens = [Token](symbol.declarationFragments)
      if let labelled = tokens.withClosureLabels(from: source, line: location.position.line + 1) {
        graph.symbols[index].declarationFragments = labelled.fragments
      }
    }
    return graph
  }
}

extension [Token] {
  /// The tokens of a declaration with the closure parameters' names of its source; `nil` if there are no names to add.
  ///
  /// The name of the declaration is on the line.
  fileprivate func withClosureLabels(from source: SourceTokens, line: Int) -> [Token]? {
    let own = SourceTokens(text)
    guard own.items.count == count, own.isBalanced else { return nil }
    let keyword = own.items.indices.first { ["func", "init", "typealias"].contains(own[$0]) }
    guard let ownName = keyword.map({ own[$0] == "init" ? $0 : $0 + 1 }),
      let name = source.items.indices.first(where: { source.line($0) == line && source[$0] == own[ownName] })
    else { return nil }
    let closures = own.closures(ofDeclaration: ownName)
    let sourceClosures = source.closures(ofDeclaration: name)
    guard closures.count == sourceClosures.count else { return nil }
    var insertions: [Int: [Token]] = [:]
    for (closure, original) in zip(closures, sourceClosures) where closure.count == original.count {
      for (parameter, labelled) in zip(closure, original) where own.label(of: parameter).isEmpty {
        let words = source.label(of: labelled)
        guard !words.isEmpty else { continue }
        let labels = words.map { Token(text: $0, hasSpaceBefore: true) } + [Token(text: ":", hasSpaceBefore: false)]
        insertions[parameter.lowerBound] = labels
      }
    }
    guard !insertions.isEmpty else { return nil }
    return indices.flatMap { index -> [Token] in
      guard var labels = insertions[index] else { return [self[index]] }
      labels[0].hasSpaceBefore = self[index].hasSpaceBefore
      return labels + [Token(text: self[index].text, hasSpaceBefore: true, type: self[index].type)]
    }
  }

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
  /// The parameters of the first closure type in each parameter of a function, or in a type alias.
  fileprivate func closures(ofDeclaration name: Int) -> [[Range<Int>]] {
    if self[name - 1] == "typealias" {
      guard var type = (name..<items.count).first(where: { self[$0] == "=" }).map({ $0 + 1 }) else { return [] }
      while self[type].hasPrefix("@") { type += 1 }
      guard self[type] == "(", let end = partner(type) else { return [] }
      return [closure(in: type..<end) ?? []]
    }
    guard let open = (name..<items.count).first(where: { self[$0] == "(" }) else { return [] }
    return (arguments(in: open) ?? []).map { closure(in: $0) ?? [] }
  }

  private func closure(in range: Range<Int>) -> [Range<Int>]? {
    for open in range where self[open] == "(" {
      guard let close = partner(open) else { continue }
      var next = close + 1
      while ["async", "throws"].contains(self[next]) { next += 1 }
      if self[next] == "->" { return arguments(in: open) }
    }
    return nil
  }

  /// The words before the colon of a closure's parameter, such as `_` and `user`; empty for none.
  fileprivate func label(of parameter: Range<Int>) -> [String] {
    let words = parameter.prefix { self[$0] != ":" }
    guard words.count < parameter.count, words.count <= 2, words.allSatisfy({ Self.isWord(self[$0]) }) else {
      return []
    }
    return words.map { self[$0] }
  }
}
