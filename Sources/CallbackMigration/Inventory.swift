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
