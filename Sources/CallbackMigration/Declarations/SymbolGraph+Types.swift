extension SymbolGraph {
  /// The graph with full names of types, such as `Store.Item` for `Item`, but without the module's name.
  ///
  /// A graph that is made from a module has these names; one that `swiftc` writes spells types as the source does. The
  /// counterpart of a function in a nested type is in an extension, which does not see the types of the outer type.
  var withCanonicalTypes: SymbolGraph {
    let kinds = ["swift.class", "swift.enum", "swift.protocol", "swift.struct", "swift.typealias"]
    var paths: [String: [String]] = [:]
    var identifiers: [[String]: String] = [:]
    for symbol in symbols where kinds.contains(symbol.kind.identifier) {
      paths[symbol.identifier.precise] = symbol.pathComponents
      identifiers[symbol.pathComponents] = symbol.identifier.precise
    }
    var graph = self
    for index in symbols.indices {
      var fragments: [Symbol.Fragment] = []
      for fragment in symbols[index].declarationFragments {
        guard fragment.kind == "typeIdentifier", let type = fragment.preciseIdentifier else {
          fragments.append(fragment)
          continue
        }
        if let module = Self.module(ofType: type) { fragments.removeQualifier(module) }
        let isMember = fragments.last?.spelling.last == "."
        // The names of the outer types, each with a dot. `Self` has another spelling than its type, and gets none.
        if !isMember, let path = paths[type], path.last == fragment.spelling {
          for count in path.indices.dropFirst() {
            let outer = identifiers[Array(path.prefix(count))]
            fragments.append(Symbol.Fragment(kind: fragment.kind, spelling: path[count - 1], preciseIdentifier: outer))
            fragments.append(Symbol.Fragment(kind: "text", spelling: ".", preciseIdentifier: nil))
          }
        }
        // The identifier of a generic parameter ends in `mfp`; a graph that is made from a module has none for it.
        let identifier = type.hasSuffix("mfp") ? nil : type
        fragments.append(
          Symbol.Fragment(kind: fragment.kind, spelling: fragment.spelling, preciseIdentifier: identifier)
        )
      }
      graph.symbols[index].declarationFragments = fragments
    }
    return graph
  }

  /// The types of the module, with their identifiers: by the path of the type around them, and by name.
  var typeIdentifiers: [String: [String: String]] {
    let kinds = ["class", "enum", "protocol", "struct", "typealias", "associatedtype"].map { "swift.\($0)" }
    var types: [String: [String: String]] = [:]
    for symbol in symbols where kinds.contains(symbol.kind.identifier) {
      guard let name = symbol.pathComponents.last else { continue }
      types[symbol.scope, default: [:]][name] = symbol.identifier.precise
    }
    return types
  }

  /// The module that declares a type, by the compiler's identifier; `nil` for a type of C and for a generic parameter.
  static func module(ofType identifier: String) -> String? {
    guard identifier.hasPrefix("s:"), !identifier.hasSuffix("mfp") else { return nil }  // `mfp`: a generic parameter
    let name = identifier.dropFirst(2)
    // Identifiers abbreviate the modules of the standard library: `s:ScT` is `Task`, and `s:Si` is `Int`.
    if name.hasPrefix("Sc") { return "_Concurrency" }
    if name.hasPrefix("s") || name.hasPrefix("S") { return "Swift" }
    let digits = name.prefix(while: \.isNumber)
    guard let length = Int(digits) else { return nil }
    let module = String(name.dropFirst(digits.count).prefix(length))
    // Foundation exports these two, but not FoundationNetworking and FoundationXML.
    return ["FoundationEssentials", "FoundationInternationalization"].contains(module) ? "Foundation" : module
  }
}

extension [SymbolGraph.Symbol.Fragment] {
  /// Removes the name of a module and a dot, as in `Swift.`, from the end.
  fileprivate mutating func removeQualifier(_ module: String) {
    guard count >= 2, self[count - 1].spelling == ".", self[count - 2].kind == "text" else { return }
    let text = self[count - 2].spelling
    guard text.hasSuffix(module) else { return }
    let rest = text.dropLast(module.count)
    // The module's name can also be the end of a longer name, or the name of a member.
    guard rest.last.map({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }) != true else { return }
    removeLast(2)
    append(SymbolGraph.Symbol.Fragment(kind: "text", spelling: String(rest), preciseIdentifier: nil))
  }
}
