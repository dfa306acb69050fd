/// The functions that could be counterparts of functions with a callback.
struct Counterparts {
  /// Each counterpart, by its key.
  private var symbols: [String: SymbolGraph.Symbol] = [:]

  /// The counterparts in the file that the tool replaces.
  private var written: Set<String> = []

  private var rivals = Rivals()
  private let aliases: TypeAliases

  /// Reads the functions of a module, and the extensions by other modules, without the files that the tool replaces.
  init(_ graph: SymbolGraph, clients: [SymbolGraph], _ aliases: TypeAliases, ignoring paths: Set<String>) {
    self.aliases = aliases
    for symbol in graph.symbols + clients.flatMap(\.symbols) {
      let scope = symbol.pathComponents.dropLast().joined(separator: ".")
      guard let declaration = Declaration([Token](symbol.declarationFragments)) else {
        continue
      }
      let name = self.name(key(declaration.title(), declaration, without: []), in: scope, isAsync: declaration.isAsync)
      if let path = symbol.location?.path, paths.contains(path) {
        written.insert(name)
      } else {
        symbols[name] = symbol
        rivals.add(declaration, in: scope, aliases)
      }
    }
  }

  /// The counterpart that a function has, or would have.
  func counterpart(
    _ kind: Counterpart.Kind,
    of declaration: Declaration,
    _ callbacks: Callbacks,
    renamed: String?,
    in scopes: [String]
  ) -> ExpectedCounterpart {
    let omitted = callbacks.omitted(by: kind)
    let name =
      kind == .future ? CounterpartNames.future(of: renamed ?? declaration.plainName) : renamed ?? declaration.name
    let plainName = name.filter { $0 != "`" }
    func renamedTitle(without omitted: Set<Int>) -> String {
      plainName + declaration.title(without: omitted).dropFirst(declaration.plainName.count)
    }
    let key = self.key(renamedTitle(without: omitted), declaration, without: omitted)
    // A counterpart that was written by hand can still have the parameter for the queue.
    let kept = omitted.subtracting(callbacks.queue.map { [$0.index] } ?? [])
    let fullKey = self.key(renamedTitle(without: kept), declaration, without: kept)
    let found = [key, fullKey].lazy.compactMap { symbol($0, in: scopes, isAsync: kind == .async) }.first
    return ExpectedCounterpart(
      name: name,
      title: renamedTitle(without: omitted),
      key: key,
      symbol: found,
      wasWritten: scopes.contains { written.contains(self.name(key, in: $0, isAsync: kind == .async)) }
    )
  }

  /// The signature, which distinguishes a function from its overloads.
  private func key(_ title: String, _ declaration: Declaration, without omitted: Set<Int>) -> String {
    let generics = declaration.genericParameters
    let types = declaration.parameters(without: omitted).map { aliases.plainText(of: $0.type, generics) }
    return "\(title) \(types.joined(separator: ","))\(declaration.isStatic ? " static" : "")"
  }

  /// The function with this key.
  private func symbol(_ key: String, in scopes: [String], isAsync: Bool) -> SymbolGraph.Symbol? {
    scopes.lazy.compactMap { symbols[name(key, in: $0, isAsync: isAsync)] }.first
  }

  /// The title of another declaration that a call of a counterpart could mean; `nil` if there is none.
  func rival(
    of counterpart: ExpectedCounterpart,
    _ declaration: Declaration,
    _ callbacks: Callbacks,
    in scopes: [String]
  ) -> String? {
    let name = counterpart.name.filter { $0 != "`" }
    return rivals.title(of: name, declaration, without: callbacks.omitted, in: scopes, aliases)
  }

  private func name(_ key: String, in scope: String, isAsync: Bool) -> String {
    "\(scope).\(key)\(isAsync ? " async" : "")"
  }
}

/// A counterpart that exists or could be written.
struct ExpectedCounterpart {
  /// The name, with backticks where it needs them.
  let name: String

  /// The name in documentation.
  let title: String

  /// The title, with the types of the parameters.
  let key: String

  /// The existing counterpart; `nil` if there is none, or if the tool replaces its file.
  let symbol: SymbolGraph.Symbol?

  /// Whether the file that the tool replaces has the counterpart, so that callers of it can exist.
  let wasWritten: Bool

  /// The file of the existing counterpart.
  var file: String? { symbol.map { $0.location?.path ?? "" } }

  var exists: Bool { symbol != nil }
}
