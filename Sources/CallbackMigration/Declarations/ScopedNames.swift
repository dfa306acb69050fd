/// The names of the members of each type.
struct ScopedNames {
  private var all: [String: Set<String>] = [:]
  private var hidden: [String: Set<String>] = [:]

  init(_ graph: SymbolGraph) {
    var visible: [String: Set<String>] = [:]
    for symbol in graph.symbols {
      guard let name = symbol.pathComponents.last?.prefix(while: { $0 != "(" }) else { continue }
      let scope = symbol.pathComponents.dropLast().joined(separator: ".")
      all[scope, default: []].insert(String(name))
      if symbol.access < .internal { hidden[scope, default: []].insert(String(name)) }
      if symbol.access >= .internal { visible[scope, default: []].insert(String(name)) }
    }
    // The compiler lists the local variables of main.swift, too, as private.
    for (scope, names) in visible { hidden[scope]?.subtract(names) }
  }

  /// The reason why a counterpart cannot use a name of the function's defaults; `nil` if none is known.
  func reason(against name: String, in scope: [String]) -> String? {
    let scopes = scope.indices.map { scope[...$0].joined(separator: ".") }
    // An extension of a nested type does not see the members of the outer types.
    if scopes.dropLast().contains(where: { all[$0]?.contains(name) == true }) { return "belongs to an outer type" }
    return ([""] + scopes).contains { hidden[$0]?.contains(name) == true } ? "is private" : nil
  }
}
