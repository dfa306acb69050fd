/// The names of the members of each type.
struct ScopedNames {
  private var all: [String: Set<String>] = [:]

  /// The names whose declarations are all private.
  private var hidden: [String: Set<String>] = [:]

  init(_ graph: SymbolGraph) {
    var visible: [String: Set<String>] = [:]
    for symbol in graph.symbols {
      guard let name = symbol.pathComponents.last?.prefix(while: { $0 != "(" }) else { continue }
      all[symbol.scope, default: []].insert(String(name))
      if symbol.access < .internal {
        hidden[symbol.scope, default: []].insert(String(name))
      } else {
        visible[symbol.scope, default: []].insert(String(name))
      }
    }
    // A visible declaration can have the name of a private one: the compiler lists local variables of main.swift as private.
    for (scope, names) in visible { hidden[scope]?.subtract(names) }
  }

  /// The reason why the counterpart of a function in `scope` cannot use a name in a default value; `nil` if no reason is known.
  func reason(against name: String, in scope: [String]) -> String? {
    let scopes = scope.indices.map { scope[...$0].joined(separator: ".") }
    // The counterpart stands in an extension: that of a nested type does not see the members of the outer types.
    if scopes.dropLast().contains(where: { all[$0]?.contains(name) == true }) { return "belongs to an outer type" }
    return ([""] + scopes).contains { hidden[$0]?.contains(name) == true } ? "is private" : nil  // "": outside types
  }
}
