/// The isolation of the functions of a package, read from the compiler's graphs and the text.
struct CodeIsolationFacts {
  private struct Place: Hashable {
    let path: String

    /// The line, counted from 0.
    let line: Int
  }

  private var functions: [Place: CodeIsolation] = [:]

  /// The isolation of the members of types.
  private var types: [String: CodeIsolation] = [:]

  /// Whether functions outside types can be isolated to the main actor.
  private var isMainActorTheDefault = false

  /// - Parameter graphs: The graphs of all modules of the package.
  init(_ graphs: [SymbolGraph]) {
    for graph in graphs {
      let owners = Owners(graph)
      isMainActorTheDefault = isMainActorTheDefault || graph.isMainActorTheDefault
      for symbol in graph.symbols {
        let tokens = [Token](symbol.declarationFragments)
        let owner = owners.owner(of: symbol)
        let isolation = Self.isolation(of: tokens.map(\.text), isOnActor: owner.map(Self.isActor) == true)
        if let location = symbol.location, let path = location.path {
          functions[Place(path: path, line: location.position.line)] = isolation
        }
        if let owner, case .actor = isolation { types[owner.pathComponents.joined(separator: ".")] = isolation }
      }
    }
  }

  private static func isActor(_ symbol: SymbolGraph.Symbol) -> Bool {
    symbol.declarationFragments.contains { $0.spelling == "actor" }
  }

  private static func isolation(of words: [String], isOnActor: Bool) -> CodeIsolation {
    if let actor = words.first(where: isGlobalActor) { return .actor(actor) }
    if words.contains("nonisolated") || words.contains("static") { return .none }
    return isOnActor ? .actor("its actor") : .none
  }

  /// Whether an attribute names a global actor.
  private static func isGlobalActor(_ word: String) -> Bool {
    word.hasPrefix("@") && word.dropFirst().first?.isUppercase == true && word != "@Sendable"
      && !word.hasPrefix("@IB")
  }

  /// Returns the isolation of the code of a scope.
  /// - Parameters:
  ///   - scope: The scope.
  ///   - tokens: The file.
  ///   - path: The path of the file in the graphs.
  ///   - type: The name of the enclosing type, if there is one.
  ///   - line: Returns the line in the graphs of an offset in the file; `nil` for code that the graphs do not know.
  /// - Returns: The isolation.
  func isolation(
    of scope: CallScope,
    _ tokens: SourceTokens,
    path: String,
    type: String?,
    line: (Int) -> Int?
  ) -> CodeIsolation {
    switch scope.boundary {
    case .task(let callee, _):
      if let brace = scope.body,
        let actor = tokens.closureSignature(at: brace)?.attributes.first(where: Self.isGlobalActor)
      {
        return .actor(actor)
      }
      if tokens[callee] != "Task" { return .none }
      guard let site = CallSite(name: callee, in: tokens, label: "operation") else { return .unknown }
      return isolation(of: CallScope(of: site, in: tokens), tokens, path: path, type: type, line: line)
    case .function(let name, _):
      let place = line(tokens.items[name].range.lowerBound).map { Place(path: path, line: $0) }
      return isolation(ofFunction: name, tokens, place, type)
    case .closure, .accessor, .none: return .unknown
    }
  }

  private func isolation(
    ofFunction name: Int,
    _ tokens: SourceTokens,
    _ place: Place?,
    _ type: String?
  ) -> CodeIsolation {
    let start = tokens.attributesStart(before: tokens.statementStart(before: name))
    let words = (start..<name).map { tokens[$0] }
    if let actor = words.first(where: Self.isGlobalActor) { return .actor(actor) }
    if words.contains("nonisolated") { return .none }
    if let known = place.flatMap({ functions[$0] }) {
      if known == .none, type == nil, isMainActorTheDefault { return .unknown }
      return known
    }
    // The graph has no places of private functions. Their isolation is that of the isolated members of their type.
    guard let type else { return isMainActorTheDefault ? .unknown : .none }
    return types[type] ?? .none
  }
}
