/// The functions that could be counterparts of functions with a callback.
struct Counterparts {
  /// Each counterpart, by its key.
  private var symbols: [String: SymbolGraph.Symbol] = [:]

  /// The counterparts in the file that the tool replaces.
  private var written: Set<String> = []

  /// The functions that the tool does not replace, by type and name.
  private var functions: [String: [(declaration: Declaration, symbol: SymbolGraph.Symbol)]] = [:]

  /// The properties and cases, by type and name.
  private var values: Set<String> = []

  /// The titles of functions that return a future, by the names that calls without their defaults have.
  private var futures: [String: String] = [:]
  private let aliases: TypeAliases

  /// - Parameters:
  ///   - graph: The module's graph.
  ///   - clients: The extensions by other modules.
  ///   - aliases: The names of types.
  ///   - paths: The files that the tool replaces.
  init(_ graph: SymbolGraph, clients: [SymbolGraph], _ aliases: TypeAliases, ignoring paths: Set<String>) {
    self.aliases = aliases
    for symbol in graph.symbols + clients.flatMap(\.symbols) {
      let scope = symbol.pathComponents.dropLast().joined(separator: ".")
      guard let declaration = Declaration([Token](symbol.declarationFragments)) else {
        values.insert(symbol.pathComponents.joined(separator: "."))
        continue
      }
      let name = self.name(key(declaration.title(), declaration, without: []), in: scope, isAsync: declaration.isAsync)
      if let path = symbol.location?.path, paths.contains(path) {
        written.insert(name)
      } else {
        symbols[name] = symbol
        functions["\(scope).\(declaration.plainName)", default: []].append((declaration, symbol))
      }
      guard declaration.returnType.first?.text == "Future", !declaration.isAsync else { continue }
      let omitted = Set(declaration.parameters.indices.filter { declaration.parameters[$0].defaultValue != nil })
      let shortKey = key(declaration.title(without: omitted), declaration, without: omitted)
      futures[self.name(shortKey, in: scope, isAsync: false)] = declaration.title()
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
    // `user(id:completion:)` becomes `userFuture(id:)`.
    let name = kind == .future ? (renamed ?? declaration.plainName) + "Future" : renamed ?? declaration.name
    let plainName = name.filter { $0 != "`" }
    func renamedTitle(without omitted: Set<Int>) -> String {
      plainName + declaration.title(without: omitted).dropFirst(declaration.plainName.count)
    }
    let key = self.key(renamedTitle(without: omitted), declaration, without: omitted)
    // A counterpart that was written by hand can still have the queue.
    let kept = omitted.subtracting(callbacks.queue.map { [$0.index] } ?? [])
    let fullKey = self.key(renamedTitle(without: kept), declaration, without: kept)
    let found = [key, fullKey].lazy.compactMap { symbol($0, in: scopes, isAsync: kind == .async) }.first
    return ExpectedCounterpart(
      name: name,
      title: renamedTitle(without: omitted),
      key: key,
      symbol: kind == .sync ? found.flatMap { returns(callbacks, $0) ? $0 : nil } : found,
      wasWritten: scopes.contains { written.contains(self.name(key, in: $0, isAsync: kind == .async)) }
    )
  }

  /// The signature, which distinguishes a function from its overloads.
  private func key(_ title: String, _ declaration: Declaration, without omitted: Set<Int>) -> String {
    let generics = declaration.genericParameters
    let types = declaration.parameters.indices.filter { !omitted.contains($0) }.map {
      aliases.plainText(of: declaration.parameters[$0].type, generics)
    }
    return "\(title) \(types.joined(separator: ","))\(declaration.isStatic ? " static" : "")"
  }

  /// The function with this key.
  private func symbol(_ key: String, in scopes: [String], isAsync: Bool) -> SymbolGraph.Symbol? {
    scopes.lazy.compactMap { symbols[name(key, in: $0, isAsync: isAsync)] }.first
  }

  /// Whether a function returns the values of the callbacks.
  private func returns(_ callbacks: Callbacks, _ symbol: SymbolGraph.Symbol) -> Bool {
    let type = Declaration([Token](symbol.declarationFragments))?.returnType ?? []
    let values = callbacks.shape.values ?? []
    let isVoid = type.isEmpty || CallbackShape.isVoid(type)
    guard values.count == 1 else { return isVoid == values.isEmpty }
    return aliases.plainText(of: type, []) == aliases.plainText(of: values[0], [])
  }

  /// The title of a declaration that calls of a synchronous counterpart can mean too, or that cannot stand beside it.
  ///
  /// The types of the parameters do not matter, because a call can fit several.
  func conflict(
    with counterpart: ExpectedCounterpart,
    _ declaration: Declaration,
    without omitted: Set<Int>,
    in scopes: [String]
  ) -> String? {
    let kept = declaration.parameters.indices.filter { !omitted.contains($0) }.map { declaration.parameters[$0] }
    let name = counterpart.title.prefix { $0 != "(" }
    for scope in scopes + [""] {
      if kept.isEmpty, values.contains(scope.isEmpty ? String(name) : "\(scope).\(name)") { return String(name) }
      let others = functions["\(scope).\(name)"] ?? []
      if let other = others.first(where: { haveCommonCall(kept, $0.declaration.parameters) }) {
        return other.declaration.title()
      }
    }
    return nil
  }

  /// Whether one call can mean functions with either parameters.
  ///
  /// A trailing closure has no label.
  private func haveCommonCall(_ first: [Declaration.Parameter], _ second: [Declaration.Parameter]) -> Bool {
    func label(_ parameter: Declaration.Parameter) -> String {
      aliases.functionType(of: parameter.type) == nil ? parameter.label : "{}"
    }
    func canOmit(_ parameter: Declaration.Parameter) -> Bool { parameter.defaultValue != nil || parameter.isVariadic }
    // The places in both lists that the beginning of a call can reach.
    var reached: Set<[Int]> = [[0, 0]]
    for one in 0...first.count {
      for other in 0...second.count where reached.contains([one, other]) {
        let (hasOne, hasOther) = (one < first.count, other < second.count)
        if hasOne, canOmit(first[one]) { reached.insert([one + 1, other]) }
        if hasOther, canOmit(second[other]) { reached.insert([one, other + 1]) }
        if hasOne, hasOther, label(first[one]) == label(second[other]) { reached.insert([one + 1, other + 1]) }
      }
    }
    return reached.contains([first.count, second.count])
  }

  /// The title of a function that is not async, and that calls of the async counterpart can mean too.
  func plainTitle(of counterpart: ExpectedCounterpart, in scopes: [String]) -> String? {
    if symbol(counterpart.key, in: scopes, isAsync: false) != nil { return counterpart.title }
    return scopes.lazy.compactMap { futures[name(counterpart.key, in: $0, isAsync: false)] }.first
  }

  private func name(_ key: String, in scope: String, isAsync: Bool) -> String {
    "\(scope).\(key)\(isAsync ? " async" : "")"
  }
}

/// A counterpart that exists or could be written.
struct ExpectedCounterpart {
  /// With backticks where the name needs them.
  let name: String

  /// The name in documentation.
  let title: String

  /// The title, with the types of the parameters.
  let key: String

  /// The existing one; `nil` if there is none, or if the tool replaces its file.
  let symbol: SymbolGraph.Symbol?

  /// Whether the existing file has the counterpart, so that callers of it can exist.
  let wasWritten: Bool

  /// The file of the existing one.
  var file: String? { symbol.map { $0.location?.path ?? "" } }

  var exists: Bool { symbol != nil }
}
