/// The types of a module: their members, and the types from which they inherit.
struct TypeRelations {
  let symbols: [String: SymbolGraph.Symbol]  // by precise identifier; a graph file that repeats one must not trap

  /// The type of each member and requirement.
  private(set) var owners: [String: String] = [:]

  /// The superclasses and protocols of each type.
  private(set) var parents: [String: [String]] = [:]

  init(_ graph: SymbolGraph) {
    symbols = Dictionary(graph.symbols.map { ($0.identifier.precise, $0) }, uniquingKeysWith: { first, _ in first })
    for relation in graph.relationships {
      switch relation.kind {
      case "memberOf", "requirementOf": owners[relation.source] = relation.target
      case "conformsTo", "inheritsFrom": parents[relation.source, default: []].append(relation.target)
      default: break
      }
    }
  }

  /// The type that has a member; `nil` for a function outside types, and if the module does not declare the type.
  func owner(of symbol: SymbolGraph.Symbol) -> SymbolGraph.Symbol? {
    owners[symbol.identifier.precise].flatMap { symbols[$0] }
  }

  /// The lowest access level of the enclosing types; `open` without one.
  func access(around symbol: SymbolGraph.Symbol) -> AccessLevel {
    sequence(first: symbol, next: owner).dropFirst().map(\.access).min() ?? .open
  }

  /// The names of the type that has a member, and of its superclasses; `""` alone for a function outside types.
  func scopes(of symbol: SymbolGraph.Symbol) -> [String] {
    var scopes = [symbol.scope]
    var type = owner(of: symbol)
    while let superclass = type.flatMap(superclass) {
      scopes.append(superclass.title)
      type = superclass
    }
    return scopes
  }

  private func superclass(of type: SymbolGraph.Symbol) -> SymbolGraph.Symbol? {
    parents[type.identifier.precise]?.lazy.compactMap { symbols[$0] }.first { $0.kind.identifier == "swift.class" }
  }

  /// A type, and then its superclasses and protocols, each once.
  func family(of type: String) -> [String] {
    var found: [String] = []
    var next = [type]
    while let type = next.popLast() {
      guard !found.contains(type) else { continue }
      found.append(type)
      next += parents[type] ?? []
    }
    return found
  }
}
