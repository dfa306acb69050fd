/// The functions that could be counterparts of functions with a callback.
struct Counterparts {
  /// Each function by its place, which is its type with its signature.
  private var symbols: [String: SymbolGraph.Symbol] = [:]

  /// The places of the counterparts in the files that the tool replaces.
  private var written: Set<String> = []

  private(set) var rivals = Rivals()  // the functions that a call of a new counterpart could also mean
  let aliases: TypeAliases

  /// Reads the functions of a module and its `clients`; of the functions in `paths`, files to replace, it keeps only the place.
  init(_ graph: SymbolGraph, clients: [SymbolGraph], _ aliases: TypeAliases, replacing paths: Set<String>) {
    self.aliases = aliases
    for symbol in graph.symbols + clients.flatMap(\.symbols) {
      guard let declaration = Declaration(symbol.tokens) else { continue }
      let key = key(declaration.title(), declaration, without: [])
      let place = place(of: key, in: symbol.scope, isAsync: declaration.isAsync)
      if let path = symbol.location?.path, paths.contains(path) {
        written.insert(place)
      } else {
        symbols[place] = symbol
        rivals.add(declaration, in: symbol.scope, aliases)
      }
    }
  }

  /// The counterpart that a function has in one of `scopes`, or would have; `renamed` is its base name in the configuration.
  func counterpart(
    _ kind: Counterpart.Kind,
    of declaration: Declaration,
    _ callbacks: Callbacks,
    renamed: String?,
    in scopes: [String]
  ) -> ExpectedCounterpart {
    let omitted = callbacks.omitted(by: kind)
    let futureName = (renamed ?? declaration.plainName) + "Future"
    let name = kind == .future ? futureName : renamed ?? declaration.name
    let plainName = name.filter { $0 != "`" }  // titles have no backticks
    func renamedTitle(without omitted: Set<Int>) -> String {
      plainName + declaration.title(without: omitted).dropFirst(declaration.plainName.count)
    }
    let key = self.key(renamedTitle(without: omitted), declaration, without: omitted)
    // A counterpart that was written by hand can still have the parameter for the queue. Those of the tool never have it.
    let omittedButQueue = omitted.subtracting(callbacks.queue.map { [$0.index] } ?? [])
    let keyWithQueue = self.key(renamedTitle(without: omittedButQueue), declaration, without: omittedButQueue)
    func places(_ key: String) -> [String] { scopes.map { place(of: key, in: $0, isAsync: kind == .async) } }
    return ExpectedCounterpart(
      name: name,
      title: renamedTitle(without: omitted),
      key: key,
      symbol: (places(key) + places(keyWithQueue)).lazy.compactMap { symbols[$0] }.first,
      wasWrittenByTool: places(key).contains(where: written.contains)
    )
  }

  /// The text that distinguishes overloads: `title` and the types, without the parameters at the indices `omitted`.
  private func key(_ title: String, _ declaration: Declaration, without omitted: Set<Int>) -> String {
    let generics = declaration.genericParameters
    let types = declaration.parameters(without: omitted).map { aliases.plainText(of: $0.type, generics) }
    return "\(title) \(types.joined(separator: ","))\(declaration.isStatic ? " static" : "")"
  }

  /// The place of a function, by which `symbols` finds it: its type, its signature `key`, and `async`, which makes an overload.
  private func place(of key: String, in scope: String, isAsync: Bool) -> String {
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
  let wasWrittenByTool: Bool

  /// The file of the existing counterpart, empty if the graph does not say; `nil` without an existing counterpart.
  var file: String? { symbol.map { $0.location?.path ?? "" } }

  var exists: Bool { symbol != nil }
}
