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

  /// The attributes of the global actors that the package declares, such as `@Database`.
  private let globalActors: Set<String>

  /// Whether an async function that is isolated to no actor runs on the actor of its caller, by the package's settings.
  private let runsOnCallersActor: Bool

  /// - Parameters:
  ///   - graphs: The graphs of all modules of the package.
  ///   - runsOnCallersActor: Whether the settings include `NonisolatedNonsendingByDefault`.
  init(_ graphs: [SymbolGraph], runsOnCallersActor: Bool = false) {
    self.runsOnCallersActor = runsOnCallersActor
    let declared = graphs.flatMap(\.symbols).filter { symbol in
      symbol.declarationFragments.contains { $0.spelling.contains("@globalActor") }
    }
    let globalActors = Set(declared.compactMap(\.pathComponents.last).map { "@\($0)" })
    self.globalActors = globalActors
    for graph in graphs {
      var members: [String: [CodeIsolation]] = [:]
      let owners = Owners(graph)
      isMainActorTheDefault = isMainActorTheDefault || graph.isMainActorTheDefault
      for symbol in graph.symbols {
        let tokens = [Token](symbol.declarationFragments)
        let owner = owners.owner(of: symbol)
        let words = tokens.map(\.text).filter { word in
          !symbol.isType || !Self.isGlobalActor(word) || Self.isGlobalActor(word, ofType: globalActors)
        }
        let isolation = Self.isolation(of: words, isOnActor: owner.map(Self.isActor) == true)
        if let location = symbol.location, let path = location.path {
          functions[Place(path: path, line: location.position.line)] = isolation
        }
        let saysIsolation = words.contains { ["actor", "nonisolated"].contains($0) || Self.isGlobalActor($0) }
        if symbol.isType, saysIsolation {
          types[symbol.pathComponents.joined(separator: ".")] =
            words.contains("actor") ? .actor("its actor") : isolation
        } else if let owner, symbol.isFunctionOrProperty, symbol.location != nil, !words.contains("nonisolated") {
          members[owner.pathComponents.joined(separator: "."), default: []].append(isolation)
        }
      }
      for (type, members) in members where types[type] == nil {
        // The main actor can be the default of the module. One isolated member does not show that.
        let isSame = members.allSatisfy { $0 == members[0] }
        types[type] = members.contains(.none) ? CodeIsolation.none : isSame && members.count > 1 ? members[0] : .unknown
      }
    }
  }

  private static func isActor(_ symbol: SymbolGraph.Symbol) -> Bool {
    symbol.declarationFragments.contains { $0.spelling == "actor" }
  }

  private static func isolation(of words: [String], isOnActor: Bool) -> CodeIsolation {
    if let actor = words.first(where: isGlobalActor) { return .actor(actor) }
    // A function that is `nonisolated(nonsending)` runs on the actor of its caller.
    if words.contains("nonsending") { return .unknown }
    if words.contains("nonisolated") || words.contains("static") { return .none }
    return isOnActor ? .actor("its actor") : .none
  }

  /// Whether an attribute names a global actor.
  private static func isGlobalActor(_ word: String) -> Bool {
    word.hasPrefix("@") && word.dropFirst().first?.isUppercase == true && word != "@Sendable"
      && !word.hasPrefix("@IB")
  }

  /// Whether an attribute of a type names a global actor, and not a macro such as `@Observable`.
  private static func isGlobalActor(_ word: String, ofType declared: Set<String>) -> Bool {
    isGlobalActor(word) && (word.hasSuffix("Actor") || declared.contains(word))
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
      // `Task.detached` and `Task.immediateDetached` leave the actor of the code around them.
      if !["Task", "immediate"].contains(tokens[callee]) { return .none }
      guard let site = CallSite(name: callee, in: tokens, label: "operation") else { return .unknown }
      return isolation(of: CallScope(of: site, in: tokens), tokens, path: path, type: type, line: line)
    case .function(let name, let isAsync):
      let place = line(tokens.items[name].range.lowerBound).map { Place(path: path, line: $0) }
      let found = isolation(ofFunction: name, tokens, place, type)
      return found == .none && isAsync && runsOnCallersActor && !isConcurrent(name, tokens) ? .unknown : found
    case .closure, .accessor, .none: return .unknown
    }
  }

  private func isolation(
    ofFunction name: Int,
    _ tokens: SourceTokens,
    _ place: Place?,
    _ type: String?
  ) -> CodeIsolation {
    let words = words(before: name, tokens)
    if let actor = words.first(where: Self.isGlobalActor) { return .actor(actor) }
    if words.contains("nonsending") { return .unknown }
    if words.contains("nonisolated") { return .none }
    if let known = place.flatMap({ functions[$0] }) {
      if known == .none, type == nil, isMainActorTheDefault { return .unknown }
      return known
    }
    // The graph has no places of private functions. Their isolation is that of their type, or of its members.
    if let brace = tokens.parent(name), let keyword = tokens.typeKeyword(before: brace),
      let actor = self.words(before: keyword, tokens).first(where: { Self.isGlobalActor($0, ofType: globalActors) })
    {
      return .actor(actor)
    }
    guard let type else { return isMainActorTheDefault ? .unknown : .none }
    return types[type] ?? (isMainActorTheDefault ? .unknown : .none)
  }

  /// The attributes and the modifiers before the name or the keyword of a declaration.
  private func words(before name: Int, _ tokens: SourceTokens) -> [String] {
    (tokens.attributesStart(before: tokens.statementStart(before: name))..<name).map { tokens[$0] }
  }

  private func isConcurrent(_ name: Int, _ tokens: SourceTokens) -> Bool {
    words(before: name, tokens).contains("@concurrent")
  }
}

extension SymbolGraph.Symbol {
  fileprivate var isType: Bool {
    ["swift.class", "swift.struct", "swift.enum", "swift.protocol"].contains(kind.identifier)
  }

  fileprivate var isFunctionOrProperty: Bool {
    ["swift.method", "swift.property", "swift.type.method", "swift.type.property"].contains(kind.identifier)
  }
}
