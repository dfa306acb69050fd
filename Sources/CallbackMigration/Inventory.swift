public import Foundation

/// The functions of a module that take a callback, and how far they have been migrated.
public struct Inventory {
  let module: String
  let functions: [CallbackFunction]

  /// What types and values are called.
  let typeNames: Set<String>

  /// The functions that override one of the module.
  private let overriding: Set<String>

  private let names: ScopedNames

  /// Whether functions that belong to no type may belong to the main actor, which the graph does not tell of them.
  let isMainActorTheDefault: Bool

  /// Reads a module's symbol graph.
  /// - Parameters:
  ///   - module: Its name.
  ///   - folder: Where the compiler has put the graph.
  ///   - minimumAccess: What is less accessible is left out.
  ///   - root: The folder to which file names are relative.
  ///   - output: A file whose functions do not count as twins, since it is to be written again.
  /// - Throws: Where there is no graph, or none that can be read.
  public init(module: String, graphs folder: URL, minimumAccess: AccessLevel, root: URL, ignoring output: URL? = nil)
    throws(MigrationError)
  {
    let graph = try SymbolGraph.read(module: module, in: folder)
    self.init(module: module, graph, minimumAccess: minimumAccess, root: root, ignoring: output)
  }

  init(module: String, _ graph: SymbolGraph, minimumAccess: AccessLevel, root: URL, ignoring output: URL? = nil) {
    self.module = module
    let aliases = TypeAliases(graph)
    let facts = TypeFacts(graph, aliases)
    let owners = Owners(graph)
    let twins = Twins(graph, aliases, ignoring: output?.standardizedFileURL.path)
    let symbols = Set(graph.symbols.map(\.identifier.precise))
    overriding = Set(
      graph.relationships.filter { $0.kind == "overrides" && symbols.contains($0.target) }.map(\.source)
    )
    typeNames = Set(
      graph.symbols.filter { !["swift.method", "swift.func", "swift.init"].contains($0.kind.identifier) }.compactMap {
        $0.pathComponents.last
      }
    )
    names = ScopedNames(graph)
    isMainActorTheDefault = graph.isMainActorTheDefault
    let rootPath = root.standardizedFileURL.path + "/"
    functions = graph.symbols.compactMap { symbol in
      guard let location = symbol.location, let path = location.path else { return nil }
      guard AccessLevel(rawValue: symbol.accessLevel).map({ $0 >= minimumAccess }) == true else { return nil }
      guard let declaration = Declaration([Token](symbol.declarationFragments)) else { return nil }
      guard let callbacks = Callbacks(declaration, aliases) else { return nil }
      return CallbackFunction(
        symbol: symbol,
        declaration: declaration,
        callbacks: callbacks,
        owner: owners.owner(of: symbol),
        scopeAccess: owners.access(around: symbol),
        scopes: owners.scopes(of: symbol),
        facts: facts,
        twins: twins,
        file: path.hasPrefix(rootPath) ? String(path.dropFirst(rootPath.count)) : path,
        path: path,
        line: location.position.line + 1
      )
    }
    .sorted { ($0.file, $0.line, $0.title) < ($1.file, $1.line, $1.title) }
  }

  func overrides(_ function: CallbackFunction) -> Bool { overriding.contains(function.symbol.identifier.precise) }

  /// A name in a default that a twin could not use, and why.
  func foreignDefault(of function: CallbackFunction) -> (name: String, reason: String)? {
    for parameter in function.declaration.parameters {
      let tokens = Array(parameter.defaultValue ?? [])
      for (index, token) in tokens.enumerated() {
        // A member of something else than the type itself has a name of its own.
        let isMember = index > 0 && tokens[index - 1].text == "."
        let isOwn = isMember && index > 1 && ["Self", function.scope.last].contains(tokens[index - 2].text)
        guard !isMember || isOwn else { continue }
        if let reason = names.reason(against: token.text, in: function.scope) { return (token.text, reason) }
      }
    }
    return nil
  }

  /// How many have an async twin.
  var migratedCount: Int { functions.count { $0.hasAsyncTwin } }
}

extension SymbolGraph {
  /// Whether there is a type that does not say that it belongs to the main actor, and all of whose members do.
  fileprivate var isMainActorTheDefault: Bool {
    let declarations = Dictionary(symbols.map { ($0.identifier.precise, $0) }, uniquingKeysWith: { first, _ in first })
    let kinds = ["swift.method", "swift.property", "swift.type.method", "swift.type.property"]
    var isEachIsolated: [String: Bool] = [:]
    for relation in relationships where relation.kind == "memberOf" || relation.kind == "requirementOf" {
      guard let member = declarations[relation.source], let owner = declarations[relation.target] else { continue }
      guard kinds.contains(member.kind.identifier), !owner.saysIsolation, !member.isNonisolated else { continue }
      isEachIsolated[relation.target] = isEachIsolated[relation.target] != false && member.isOnMainActor
    }
    return isEachIsolated.values.contains(true)
  }
}

extension SymbolGraph.Symbol {
  fileprivate var isNonisolated: Bool { declarationFragments.contains { $0.spelling == "nonisolated" } }

  fileprivate var isOnMainActor: Bool { [Token](declarationFragments).contains { $0.text == "@MainActor" } }

  /// Whether it is an actor, is nonisolated, or says that it belongs to the main actor.
  fileprivate var saysIsolation: Bool {
    isNonisolated || isOnMainActor || declarationFragments.contains { $0.spelling == "actor" }
  }
}

/// Who may see a declaration.
public enum AccessLevel: String, CaseIterable, Comparable, Sendable {
  case `private`, `fileprivate`, `internal`, `package`, `public`, open

  /// Whether the left one is seen by fewer.
  public static func < (left: Self, right: Self) -> Bool {
    allCases.firstIndex(of: left).unsafelyUnwrapped < allCases.firstIndex(of: right).unsafelyUnwrapped
  }
}

/// What is called how in which type.
private struct ScopedNames {
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

  /// Why a twin cannot use a name that the function uses; `nil` if it can, as far as is known.
  func reason(against name: String, in scope: [String]) -> String? {
    let scopes = scope.indices.map { scope[...$0].joined(separator: ".") }
    // An extension of a nested type does not see what the outer types have.
    if scopes.dropLast().contains(where: { all[$0]?.contains(name) == true }) { return "belongs to an outer type" }
    return ([""] + scopes).contains { hidden[$0]?.contains(name) == true } ? "is private" : nil
  }
}

/// The types of which functions are members.
private struct Owners {
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

  /// Who sees the types that it is in.
  func access(around symbol: SymbolGraph.Symbol) -> AccessLevel {
    var access = AccessLevel.open
    var symbol = symbol
    while let owner = owner(of: symbol) {
      access = min(access, owner.access)
      symbol = owner
    }
    return access
  }

  /// The names of the type that it is in, and of the superclasses.
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

/// The functions that may be twins of those that take a callback.
struct Twins {
  /// In which file they are.
  private var files: [String: String] = [:]

  /// Those that are in the file that is to be written again.
  private var written: Set<String> = []
  private let aliases: TypeAliases

  fileprivate init(_ graph: SymbolGraph, _ aliases: TypeAliases, ignoring path: String?) {
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

extension SymbolGraph.Symbol.Location {
  fileprivate var path: String? { URL(string: uri)?.standardizedFileURL.path }
}
