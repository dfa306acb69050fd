package import Foundation

/// The functions of a module that take a callback, and the state of their migration.
package struct Inventory {
  let module: String
  package let functions: [CallbackFunction]

  /// Whether futures of values that are not `Sendable` compile without a warning.
  let allowsFuturesOfAnyValue: Bool

  /// The number of functions that the configuration skips.
  let skippedCount: Int

  /// The names of types, properties and enum cases.
  let typeNames: Set<String>

  /// The name of the library's future type; qualified where the module can see another type `Future`.
  let future: String

  /// The type aliases, and the types that are errors.
  let aliases: TypeAliases

  /// The compiler's identifiers of the module's types: by the path of the type around them, and by name.
  private let types: [String: [String: String]]

  private let names: ScopedNames

  /// The folder of the package, with a slash.
  private let rootPath: String

  /// Whether functions outside types can be isolated to the main actor.
  ///
  /// The graph does not show that.
  let isMainActorTheDefault: Bool

  /// The paths of the module's source files.
  let sources: [String]

  /// The number of functions below the lowest access level that other files could call.
  let lessAccessibleCount: Int

  /// Reads the symbol graphs of a target, and of the targets that can hold its counterparts or declare its types.
  ///
  /// Functions in files that the tool replaces do not count as counterparts.
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
      extensions += found.map { [$0] } ?? []
    }
    let root = URL(filePath: request.package)
    let imports = request.imports(of: target)
    var types = SymbolGraph(symbols: [], relationships: [])
    for folder in Set([graphs] + imports.compactMap(\.graphs)) {
      let modules = target.allDependencies
      let found = try SymbolGraph.readImports(of: target.module, modules, in: URL(filePath: folder))
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
    ignoring paths: Set<String> = []
  ) {
    self.module = module
    self.sources = sources
    self.allowsFuturesOfAnyValue = allowsFuturesOfAnyValue
    let graph = graph.withMembersForDefaults
    let types = importedTypes.map(graph.adding) ?? graph
    let aliases = TypeAliases(types, errorNames: configuration.errors)
    self.aliases = aliases
    var facts = TypeFacts(types, aliases)
    facts.addLenders(of: graph)
    let relations = TypeRelations(graph)
    let handles = Handles(graph, relations, aliases, facts)
    let counterparts = Counterparts(graph, clients: clients, aliases, ignoring: paths)
    let roles = Roles(graph, relations)
    typeNames = Set(
      graph.symbols.filter { !["swift.method", "swift.func", "swift.init"].contains($0.kind.identifier) }.compactMap {
        $0.pathComponents.last
      }
    )
    self.types = graph.typeIdentifiers
    names = ScopedNames(graph)
    isMainActorTheDefault = relations.isMainActorTheDefault
    let rootPath = root.standardizedFileURL.path + "/"
    self.rootPath = rootPath
    let bodies = ImplementationBodies(graph, roles, sources: sources)
    let all: [CallbackFunction] = graph.symbols.compactMap { [facts] symbol in
      guard let path = symbol.location?.path else { return nil }
      guard let declaration = Declaration([Token](symbol.declarationFragments)) else { return nil }
      let knowledge = configuration.knowledge(of: symbol.pathComponents.joined(separator: "."))
      let documentation = symbol.docComment?.lines.map(\.text).joined(separator: " ") ?? ""
      let callbacks = Callbacks(declaration, aliases, facts, documentation: documentation, knowledge) { indices in
        bodies.implementations(of: symbol, declaration, indices).flatMap(\.self)
      }
      guard let callbacks else { return nil }
      return CallbackFunction(
        symbol: symbol,
        declaration: declaration,
        callbacks: callbacks,
        knowledge: knowledge,
        relations: relations,
        roles: roles,
        facts: facts,
        handles: handles,
        counterparts: counterparts,
        file: Self.relativePath(path, to: rootPath),
        path: path,
        implementations: bodies.implementations(of: symbol, declaration, callbacks.indices)
      )
    }
    let accessible = all.filter { $0.visibility >= minimumAccess }
    functions = accessible.filter { !$0.knowledge.says(.skip) }.inOrder
    lessAccessibleCount = all.count { $0.visibility >= .internal && $0.visibility < minimumAccess }
    skippedCount = accessible.count - functions.count
    let otherModules = Set(sources.map(SourceFile.init).flatMap(\.allImports).map(\.module)).subtracting(
      importedModules
    )
    let hasOtherFuture =
      typeNames.contains("Future") || importedTypes?.declaresOtherFuture == true
      || !otherModules.isSubset(of: Import.modulesWithoutFuture)
    future = hasOtherFuture ? "Futures.Future" : "Future"
  }

  /// The requirement that a function implements, if the requirement is at least as visible.
  func requirement(of function: CallbackFunction) -> CallbackFunction? {
    guard case .witness(let name) = function.role else { return nil }
    return functions.first {
      $0.role == .requirement && $0.scope.joined(separator: ".") == name && $0.name == function.name
        && $0.visibility >= min(function.visibility, .public)
    }
  }

  /// A name in a default value that a counterpart could not use, and the reason.
  func foreignDefault(of function: CallbackFunction) -> (name: String, reason: String)? {
    for parameter in function.declaration.parameters {
      let tokens = Array(parameter.defaultValue ?? [])
      for (index, token) in tokens.enumerated() {
        // A member of another value or type, such as `.zero`, needs no check.
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

  /// Whether a file belongs to another target.
  func isElsewhere(_ path: String) -> Bool { !sources.isEmpty && !sources.contains(path) }

  /// A path as reports print it.
  func relativePath(_ path: String) -> String { Self.relativePath(path, to: rootPath) }

  private static func relativePath(_ path: String, to root: String) -> String {
    path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path
  }
}

extension [CallbackFunction] {
  /// The functions by file and line.
  var inOrder: Self { sorted { ($0.file, $0.line, $0.title) < ($1.file, $1.line, $1.title) } }
}
