/// The functions that may be twins of those that take a callback.
struct Twins {
  /// In which file they are.
  private var files: [String: String] = [:]

  /// Those that are in the file that is to be written again.
  private var written: Set<String> = []
  private let aliases: TypeAliases

  init(_ graph: SymbolGraph, _ aliases: TypeAliases, ignoring path: String?) {
    self.aliases = aliases
    for symbol in graph.symbols {
      guard let declaration = Declaration([Token](symbol.declarationFragments)) else { continue }
      let scope = symbol.pathComponents.dropLast().joined(separator: ".")
      let name = name(key(declaration.title(), declaration, without: []), in: scope, isAsync: declaration.isAsync)
      if let path, symbol.location?.path == path {
        written.insert(name)
      } else {
        files[name] = symbol.location?.path ?? ""
      }
    }
  }

  /// What tells a function from its overloads.
  func key(_ title: String, _ declaration: Declaration, without omitted: Set<Int>) -> String {
    let generics = declaration.genericParameters
    let types = declaration.parameters.indices.filter { !omitted.contains($0) }.map {
      aliases.plainText(of: declaration.parameters[$0].type, generics)
    }
    return "\(title) \(types.joined(separator: ","))\(declaration.isStatic ? " static" : "")"
  }

  /// The file in which there is a function with this key.
  func file(_ key: String, in scopes: [String], isAsync: Bool) -> String? {
    scopes.lazy.compactMap { files[name(key, in: $0, isAsync: isAsync)] }.first
  }

  func wasWritten(_ key: String, in scopes: [String], isAsync: Bool) -> Bool {
    scopes.contains { written.contains(name(key, in: $0, isAsync: isAsync)) }
  }

  private func name(_ key: String, in scope: String, isAsync: Bool) -> String {
    "\(scope).\(key)\(isAsync ? " async" : "")"
  }
}
