public import Foundation

/// The functions of a module that take a callback, and how far they have been migrated.
public struct Inventory {
  let module: String
  package let functions: [CallbackFunction]

  /// How many functions the package's own configuration leaves out.
  let skippedCount: Int

  /// The entries of the configuration that match no function.
  let unusedSettings: [(key: String, pattern: String)]

  /// What types and values are called.
  let typeNames: Set<String>

  private let names: ScopedNames

  /// Whether functions that belong to no type may belong to the main actor, which the graph does not tell of them.
  let isMainActorTheDefault: Bool

  /// Reads a module's symbol graph.
  /// - Parameters:
  ///   - module: Its name.
  ///   - folder: Where the compiler has put the graph.
  ///   - minimumAccess: What is less accessible is left out.
  ///   - root: The folder to which file names are relative.
  ///   - configuration: What the package says of its functions.
  ///   - output: A file whose functions do not count as counterparts, since it is to be written again.
  /// - Throws: Where there is no graph, or none that can be read.
  public init(
    module: String,
    graphs folder: URL,
    minimumAccess: AccessLevel,
    root: URL,
    configuration: MigrationConfiguration = MigrationConfiguration(),
    ignoring output: URL? = nil
  ) throws(MigrationError) {
    let graph = try SymbolGraph.read(module: module, in: folder)
    self.init(
      module: module,
      graph,
      minimumAccess: minimumAccess,
      root: root,
      configuration: configuration,
      ignoring: output
    )
  }

  package init(
    module: String,
    _ graph: SymbolGraph,
    minimumAccess: AccessLevel,
    root: URL,
    configuration: MigrationConfiguration = MigrationConfiguration(),
    ignoring output: URL? = nil
  ) {
    self.module = module
    let aliases = TypeAliases(graph)
    let facts = TypeFacts(graph, aliases)
    let handles = Handles(graph, aliases, facts)
    let owners = Owners(graph)
    let counterparts = Counterparts(graph, aliases, ignoring: output?.standardizedFileURL.path)
    let roles = Roles(graph)
    typeNames = Set(
      graph.symbols.filter { !["swift.method", "swift.func", "swift.init"].contains($0.kind.identifier) }.compactMap {
        $0.pathComponents.last
      }
    )
    names = ScopedNames(graph)
    isMainActorTheDefault = graph.isMainActorTheDefault
    let rootPath = root.standardizedFileURL.path + "/"
    let all: [CallbackFunction] = graph.symbols.compactMap { symbol in
      guard let location = symbol.location, let path = location.path else { return nil }
      guard AccessLevel(rawValue: symbol.accessLevel).map({ $0 >= minimumAccess }) == true else { return nil }
      guard let declaration = Declaration([Token](symbol.declarationFragments)) else { return nil }
      let knowledge = configuration.knowledge(of: symbol.pathComponents.joined(separator: "."))
      let documentation = symbol.docComment?.lines.map(\.text).joined(separator: " ") ?? ""
      let found = Callbacks(declaration, aliases, facts, documentation: documentation, knowledge)
      guard let callbacks = found else { return nil }
      return CallbackFunction(
        symbol: symbol,
        declaration: declaration,
        callbacks: callbacks,
        knowledge: knowledge,
        owner: owners.owner(of: symbol),
        scopeAccess: owners.access(around: symbol),
        scopes: owners.scopes(of: symbol),
        protocolScopes: roles.protocolScopes(of: symbol),
        role: roles.role(of: symbol, declaration),
        facts: facts,
        handles: handles,
        counterparts: counterparts,
        file: path.hasPrefix(rootPath) ? String(path.dropFirst(rootPath.count)) : path,
        path: path,
        line: location.position.line + 1
      )
    }
    functions = all.filter { !$0.knowledge.says(.skip) }.sorted {
      ($0.file, $0.line, $0.title) < ($1.file, $1.line, $1.title)
    }
    skippedCount = all.count - functions.count
    unusedSettings = configuration.unused(titles: all.map(\.title))
  }

  /// The requirement that a function implements, if it is at least as visible.
  func requirement(of function: CallbackFunction) -> CallbackFunction? {
    guard case .witness(let name) = function.role else { return nil }
    return functions.first {
      $0.role == .requirement && $0.scope.joined(separator: ".") == name && $0.name == function.name
        && $0.visibility >= function.visibility
    }
  }

  /// A name in a default that a counterpart could not use, and why.
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

  /// How many have an async counterpart.
  var migratedCount: Int { functions.count { $0.hasAsyncCounterpart } }
}
