package import Foundation

/// The functions of a module that take a callback, and the state of their migration.
package struct Inventory {
  let module: String
  package let functions: [CallbackFunction]

  /// Whether futures of values that are not `Sendable` compile without a warning.
  let allowsFuturesOfAnyValue: Bool
  let skippedCount: Int

  /// The name of the library's future type; qualified where the module can see another type `Future`.
  let future: String

  var aliases: TypeAliases { facts.aliases }

  /// The compiler's identifiers of the module's types: by the path of the type around them, and by name.
  private let types: [String: [String: String]]

  /// The members of each type, which show the names that a counterpart cannot use.
  private let names: ScopedNames

  private let facts: ModuleFacts

  /// Whether the module isolates declarations to the main actor by default.
  ///
  /// The graph does not show the isolation of functions outside types.
  let isMainActorTheDefault: Bool
  let sources: [String]

  /// The number of functions that other files can call, but whose access level is below the one that was asked for.
  let lessAccessibleCount: Int

  /// Reads the symbol graphs of a target, and of the targets that can hold its counterparts or declare its types.
  ///
  /// Functions in the files `paths` do not count as counterparts, because the tool replaces these files.
  init(
    of target: MigrationRequest.Target,
    in request: MigrationRequest,
    minimumAccess: AccessLevel,
    ignoring paths: Set<String>
  ) throws(MigrationError) {
    guard let graphs = target.graphs else { throw MigrationError("There is no symbol graph of \(target.module).") }
    var extensions: [SymbolGraph] = []
    for client in request.clients(of: target) {
      guard let folder = client.graphs.map({ URL(filePath: $0) }) else { continue }
      let found = try SymbolGraph.readExtensions(of: target.module, by: client.module, in: folder)
      if let found { extensions.append(found) }
    }
    let root = URL(filePath: request.package)
    let imports = request.imports(of: target)
    var types = SymbolGraph(symbols: [], relationships: [])
    // Also reads `graphs`, because without Package.swift an import is no target, and its graph can be in this folder.
    for folder in Set([graphs] + imports.compactMap(\.graphs)) {
      let found = try SymbolGraph.readTypes(of: target.allDependencies, in: URL(filePath: folder))
      if let found { types = types.adding(found) }
    }
    self.init(
      module: target.module,
      try SymbolGraph.read(module: target.module, in: URL(filePath: graphs)),
      clients: extensions,
      importedTypes: types,
      importedModules: Set(imports.map(\.module)),
      sources: target.sources,
      minimumAccess: minimumAccess,
      root: root,
      configuration: try MigrationConfiguration(package: root),
      allowsFuturesOfAnyValue: PackageManifest(package: root).allowsFuturesOfAnyValue,
      ignoring: paths
    )
  }

  /// Reads the graph of a module, with the graphs of its clients and those of the modules that it imports.
  package init(
    module: String,
    _ graph: SymbolGraph,
    clients: [SymbolGraph] = [],
    importedTypes: SymbolGraph? = nil,
    importedModules: Set<String> = [],
    sources: [String] = [],
    minimumAccess: AccessLevel,
    root: URL,
    configuration: MigrationConfiguration = MigrationConfiguration(),
    allowsFuturesOfAnyValue: Bool = false,
    ignoring paths: Set<String> = []  // counterparts there do not count as existing: the tool replaces the files
  ) {
    self.module = module
    self.sources = sources
    self.allowsFuturesOfAnyValue = allowsFuturesOfAnyValue
    let graph = graph.withMembersForDefaults  // default implementations become members of their protocols
    let allTypes = importedTypes.map(graph.adding) ?? graph
    let aliases = TypeAliases(allTypes, errorNames: configuration.errors)
    var typeFacts = TypeFacts(allTypes, aliases)
    typeFacts.addLenders(of: graph)  // functions that lend a value to a closure for the time of the call
    let relations = TypeRelations(graph)
    let roles = Roles(graph, relations)
    let facts = ModuleFacts(
      configuration: configuration,
      aliases: aliases,
      types: typeFacts,
      relations: relations,
      roles: roles,
      handles: Handles(graph, relations, aliases, typeFacts),
      counterparts: Counterparts(graph, clients: clients, aliases, replacing: paths),
      bodies: FunctionBodies(graph, roles, sources: sources),
      root: root.standardizedFileURL.path + "/"
    )
    self.facts = facts
    (types, names) = (graph.typeIdentifiers, ScopedNames(graph))
    isMainActorTheDefault = relations.isMainActorTheDefault
    let all = graph.symbols.compactMap { CallbackFunction($0, in: facts) }
    let accessible = all.filter { $0.visibility >= minimumAccess }
    functions = accessible.filter { !$0.knowledge.isListed(in: .skip) }
      .sorted { ($0.file, $0.line, $0.title) < ($1.file, $1.line, $1.title) }
    // Functions below `internal` are not counted, because no other file can call them.
    lessAccessibleCount = all.count { $0.visibility >= .internal && $0.visibility < minimumAccess }
    skippedCount = accessible.count - functions.count
    let declaresFuture = graph.symbols.contains { $0.pathComponents.last == "Future" }  // a function ends in `(…)`
    // A module that is imported, but whose graph is not here, might declare a type `Future`, too.
    let unreadModules = Set(sources.map(SourceFile.init).flatMap(\.allImports).map(\.module))
      .subtracting(importedModules).subtracting(Import.modulesWithoutFuture)
    let hasOtherFuture = declaresFuture || importedTypes?.declaresOtherFuture == true || !unreadModules.isEmpty
    future = hasOtherFuture ? "Futures.Future" : "Future"
  }

  /// The requirement that a function implements, if callers of the function can see the requirement; otherwise `nil`.
  func requirement(of function: CallbackFunction) -> CallbackFunction? {
    guard case .witness(let name) = function.role else { return nil }
    return functions.first {
      // A requirement is at most `public`, also that of an `open` function.
      $0.role == .requirement && $0.symbol.scope == name && $0.name == function.name
        && $0.visibility >= min(function.visibility, .public)
    }
  }

  /// The first name in a default value that a counterpart cannot use, and the reason; `nil` if it can use all names.
  func unusableNameInDefault(of function: CallbackFunction) -> (name: String, reason: String)? {
    for parameter in function.declaration.parameters {
      let tokens = Array(parameter.defaultValue ?? [])
      for (index, token) in tokens.enumerated() {
        // A member such as `.zero` mostly belongs to another type, but `names` would look for it in the types around `function`.
        let isMember = index > 0 && tokens[index - 1].text == "."
        let isOwn = isMember && index > 1 && ["Self", function.scope.last].contains(tokens[index - 2].text)
        guard !isMember || isOwn else { continue }
        if let reason = names.reason(against: token.text, in: function.scope) { return (token.text, reason) }
      }
    }
    return nil
  }

  /// The spelling of types in the counterparts of a function.
  func spelling(for function: CallbackFunction) -> TypeSpelling {
    let outer = function.owner?.swiftGenerics?.parameters ?? []
    let generics = function.declaration.genericParameters + outer.map(\.name)
    return TypeSpelling(types, scopes: function.visibleScopes, generics: generics)
  }

  /// Whether a file belongs to another target; `false` if the module's own files are unknown.
  func isElsewhere(_ path: String) -> Bool { !sources.isEmpty && !sources.contains(path) }

  func relativePath(_ path: String) -> String { facts.relativePath(path) }
}
