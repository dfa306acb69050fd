/// The functions that may be counterparts of those that take a callback.
struct Counterparts {
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

  /// The counterpart that a function has, or would have.
  func counterpart(
    _ kind: Counterpart.Kind,
    of declaration: Declaration,
    _ callbacks: Callbacks,
    in scopes: [String]
  ) -> ExpectedCounterpart {
    let omitted = callbacks.omitted(by: kind)
    let plainTitle = declaration.title(without: omitted)
    // `user(id:completion:)` becomes `userFuture(id:)`.
    let title = kind == .async ? plainTitle : declaration.futureName + plainTitle.dropFirst(declaration.plainName.count)
    let key = key(title, declaration, without: omitted)
    // One that was written by hand may have kept the queue.
    let kept = omitted.subtracting(callbacks.queue.map { [$0.index] } ?? [])
    let fullTitle = declaration.title(without: kept)
    let fullName =
      kind == .async ? fullTitle : declaration.futureName + fullTitle.dropFirst(declaration.plainName.count)
    let fullKey = self.key(fullName, declaration, without: kept)
    return ExpectedCounterpart(
      title: title,
      key: key,
      file: [key, fullKey].lazy.compactMap { file($0, in: scopes, isAsync: kind == .async) }.first,
      wasWritten: scopes.contains { written.contains(name(key, in: $0, isAsync: kind == .async)) }
    )
  }

  /// What tells a function from its overloads.
  private func key(_ title: String, _ declaration: Declaration, without omitted: Set<Int>) -> String {
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

  private func name(_ key: String, in scope: String, isAsync: Bool) -> String {
    "\(scope).\(key)\(isAsync ? " async" : "")"
  }
}

/// A counterpart, whether it is there or not.
struct ExpectedCounterpart {
  /// As it is called in documentation.
  let title: String

  /// The title, with the types of the parameters.
  let key: String

  /// The file in which it is; `nil` if it is in none, or in the one that is to be written again.
  let file: String?

  /// Whether the file that is to be written again has it, so that there may be callers of it.
  let wasWritten: Bool

  var exists: Bool { file != nil }
}
