internal import Foundation

/// Finds out whether the work of an async function goes through a callback function, by the compiler's index.
///
/// A wrapper over such an async function would call itself for ever.
final class CallbackReach {
  /// A function or a property, by the place of its name in the copy.
  struct Node: Hashable {
    let path: String

    /// A UTF-8 offset.
    let offset: Int
  }

  private let files: SourceFiles

  /// Other declarations that a call of a member can mean, by the member's title: requirements, and overridden methods.
  private let dynamic: [String: Set<Node>]

  /// The places that name a declaration.
  private let references: (Node) throws(MigrationError) -> [SourcePlace]
  private var callers: [Node: [Node]] = [:]

  init(
    _ files: SourceFiles,
    dynamic: [String: Set<Node>],
    references: @escaping (Node) throws(MigrationError) -> [SourcePlace]
  ) {
    self.files = files
    self.dynamic = dynamic
    self.references = references
  }

  convenience init(_ workspace: MigrationWorkspace) throws(MigrationError) {
    let server = try workspace.server()
    let (copy, files) = (workspace.copy, workspace.files)
    var dynamic: [String: Set<Node>] = [:]
    for graph in workspace.graphs {
      let relations = graph.relationships.filter { ["requirementOf", "overrides"].contains($0.kind) }
      let members = Set(relations.map { $0.kind == "overrides" ? $0.target : $0.source })
      for symbol in graph.symbols where members.contains(symbol.identifier.precise) {
        guard let node = workspace.node(of: symbol), let title = symbol.pathComponents.last else { continue }
        dynamic[title, default: []].insert(node)
      }
    }
    self.init(files, dynamic: dynamic) { node throws(MigrationError) in
      let source = files.tokens(node.path).source
      try server.open(node.path, source.text)
      let places = try server.references(node.path, source.position(of: node.offset))
      return places.filter { $0.path.hasPrefix(copy.folder.path + "/") }
    }
  }

  /// The function through which an async function calls a callback function; `nil` if there is no such call.
  ///
  /// That is the async function itself, if it calls the callback function directly.
  func caller(of callback: Node, reachedFrom work: Node) throws(MigrationError) -> String? {
    let title = title(of: work)
    var first: [Node: Node] = [:]
    var open = [callback]
    var seen: Set<Node> = [callback]
    while let node = open.popLast() {
      for caller in try callers(of: node) where seen.insert(caller).inserted {
        first[caller] = first[node] ?? caller
        // A call can mean the function of this title in another type.
        if caller == work || isAsync(caller) && self.title(of: caller) == title {
          return first[caller].map(self.title)
        }
        open.append(caller)
      }
    }
    return nil
  }

  /// Records that a callback function will call an async function.
  func add(_ callback: Node, calling work: Node) throws(MigrationError) {
    callers[work] = try callers(of: work) + [callback]
  }

  // MARK: The index

  private func callers(of node: Node) throws(MigrationError) -> [Node] {
    if let known = callers[node] { return known }
    var found: Set<Node> = []
    for declaration in (dynamic[title(of: node)] ?? []).union([node]) {
      for place in try references(declaration) {
        let tokens = files.tokens(place.path)
        guard let offset = tokens.source.offset(of: place.position), let index = tokens.index(at: offset),
          let name = tokens.declaration(around: index)
        else { continue }
        found.insert(Node(path: place.path, offset: tokens.items[name].range.lowerBound))
      }
    }
    let sorted = found.sorted { ($0.path, $0.offset) < ($1.path, $1.offset) }
    callers[node] = sorted
    return sorted
  }

  private func function(_ node: Node) -> FunctionText? {
    let tokens = files.tokens(node.path)
    return tokens.index(at: node.offset).flatMap { FunctionText(name: $0, in: tokens) }
  }

  private func isAsync(_ node: Node) -> Bool { function(node)?.isAsync == true }

  private func title(of node: Node) -> String {
    let tokens = files.tokens(node.path)
    return function(node)?.title ?? tokens.index(at: node.offset).map { tokens[$0] } ?? ""
  }
}

extension MigrationWorkspace {
  /// The place of a declaration in the copy.
  func node(of symbol: SymbolGraph.Symbol) -> CallbackReach.Node? {
    guard let location = symbol.location, let path = location.path.map(copy.copied) else { return nil }
    let place = location.position
    let position = LanguageServerMessage.Position(line: place.line, character: place.character)
    return files.tokens(path).source.offset(of: position).map { CallbackReach.Node(path: path, offset: $0) }
  }
}

extension SourceTokens {
  /// The name of the outermost function or property around a token that is not inside another; `nil` if there is none.
  func declaration(around index: Int) -> Int? {
    var place = index
    var start = statementStart(before: index + 1)
    var found: Int?
    while true {
      if let keyword = (start..<max(start, place)).first(where: { Self.declarations.contains(self[$0]) }) {
        found = ["init", "subscript"].contains(self[keyword]) ? keyword : keyword + 1
      }
      guard let bracket = parent(place) else { return found }
      if self[bracket] == "{", block(at: bracket) == .type { return found }
      place = bracket
      start = statementStart(before: bracket)
    }
  }

  private static let declarations: Set<String> = ["func", "var", "let", "init", "subscript"]
}
