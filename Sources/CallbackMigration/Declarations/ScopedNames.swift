/// The names of the members of each type.
struct ScopedNames {
  private var all: [String: Set<String>] = [:]
  private var hidden: [String: Set<String>] = [:]

  init(_ graph: SymbolGraph) {
    for symbol in graph.symbols {
      guard let name = symbol.pathComponents.last?.prefix(while: { $0 != "(" }) else { continue }
      let scope = symbol.pathComponents.dropLast().joined(separator: ".")
      all[scope, default: []].insert(String(name))
      if symbol.access < .internal { hidden[scope, default: []].insert(String(name)) }
    }
  }

  /// Whether any type has a member of this name.
  func contains(_ name: String) -> Bool { all.values.contains { $0.contains(name) } }

  /// The reason why a counterpart cannot use a name of the function's defaults; `nil` if none is known.
  func reason(against name: String, in scope: [String]) -> String? {
    let scopes = scope.indices.map { scope[...$0].joined(separator: ".") }
    // An extension of a nested type does not see the members of the outer types.
    if scopes.dropLast().contains(where: { all[$0]?.contains(name) == true }) { return "belongs to an outer type" }
    return ([""] + scopes).contains { hidden[$0]?.contains(name) == true } ? "is private" : nil
  }
}
