public import Foundation

/// The functions of a module that take a callback, and how far they have been migrated.
public struct Inventory {
  let module: String
  let functions: [CallbackFunction]

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
    let twins = Twins(graph, ignoring: output?.standardizedFileURL.path)
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
        facts: facts,
        twins: twins,
        file: path.hasPrefix(rootPath) ? String(path.dropFirst(rootPath.count)) : path,
        path: path,
        line: location.position.line + 1
      )
    }
    .sorted { ($0.file, $0.line, $0.title) < ($1.file, $1.line, $1.title) }
  }

  /// How many have an async twin.
  var migratedCount: Int { functions.count { $0.hasAsyncTwin } }
}

/// Who may see a declaration.
public enum AccessLevel: String, CaseIterable, Comparable, Sendable {
  case `private`, `fileprivate`, `internal`, `package`, `public`, open

  /// Whether the left one is seen by fewer.
  public static func < (left: Self, right: Self) -> Bool {
    allCases.firstIndex(of: left).unsafelyUnwrapped < allCases.firstIndex(of: right).unsafelyUnwrapped
  }
}

/// The types of which functions are members.
private struct Owners {
  private var symbols: [String: SymbolGraph.Symbol] = [:]
  private var ownerOf: [String: String] = [:]

  init(_ graph: SymbolGraph) {
    for symbol in graph.symbols { symbols[symbol.identifier.precise] = symbol }
    for relation in graph.relationships where relation.kind == "memberOf" || relation.kind == "requirementOf" {
      ownerOf[relation.source] = relation.target
    }
  }

  func owner(of symbol: SymbolGraph.Symbol) -> SymbolGraph.Symbol? {
    ownerOf[symbol.identifier.precise].flatMap { symbols[$0] }
  }
}

/// The functions that may be twins of those that take a callback.
struct Twins {
  /// By title, in which file they are.
  private var files: [String: String] = [:]

  fileprivate init(_ graph: SymbolGraph, ignoring path: String?) {
    for symbol in graph.symbols {
      if let path, symbol.location?.path == path { continue }
      guard let declaration = Declaration([Token](symbol.declarationFragments)) else { continue }
      let scope = symbol.pathComponents.dropLast().joined(separator: ".")
      let title = "\(scope).\(declaration.title())\(declaration.isAsync ? " async" : "")"
      files[title] = symbol.location?.path ?? ""
    }
  }

  /// The file in which there is a function with this title.
  func file(_ title: String, in scope: [String], isAsync: Bool) -> String? {
    files["\(scope.joined(separator: ".")).\(title)\(isAsync ? " async" : "")"]
  }
}

extension SymbolGraph.Symbol.Location {
  fileprivate var path: String? { URL(string: uri)?.standardizedFileURL.path }
}
