/// The types of which functions are members.
struct Owners {
  private var symbols: [String: SymbolGraph.Symbol] = [:]
  private var ownerOf: [String: String] = [:]
  private var superclasses: [String: String] = [:]

  init(_ graph: SymbolGraph) {
    for symbol in graph.symbols { symbols[symbol.identifier.precise] = symbol }
    for relation in graph.relationships where relation.kind == "memberOf" || relation.kind == "requirementOf" {
      ownerOf[relation.source] = relation.target
    }
    for relation in graph.relationships where relation.kind == "inheritsFrom" {
      superclasses[relation.source] = relation.target
    }
  }

  /// The lowest access level of the enclosing types.
  func access(around symbol: SymbolGraph.Symbol) -> AccessLevel {
    var access = AccessLevel.open
    var symbol = symbol
    while let owner = owner(of: symbol) {
      access = min(access, owner.access)
      symbol = owner
    }
    return access
  }

  /// The names of the symbol's type and of the superclasses.
  func scopes(of symbol: SymbolGraph.Symbol) -> [String] {
    var scopes = [symbol.pathComponents.dropLast().joined(separator: ".")]
    var type = ownerOf[symbol.identifier.precise]
    while let current = type, let superclass = superclasses[current] {
      if let symbol = symbols[superclass] { scopes.append(symbol.pathComponents.joined(separator: ".")) }
      type = superclass
    }
    return scopes
  }

  func owner(of symbol: SymbolGraph.Symbol) -> SymbolGraph.Symbol? {
    ownerOf[symbol.identifier.precise].flatMap { symbols[$0] }
  }
}
