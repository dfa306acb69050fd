internal import Foundation

/// The needed part of the compiler's symbol graph of one module.
package struct SymbolGraph: Decodable {
  package struct Symbol: Decodable {
    struct Kind: Decodable {
      let identifier: String
    }

    struct Identifier: Decodable {
      let precise: String
    }

    package struct Fragment: Decodable {
      let kind: String
      let spelling: String
      let preciseIdentifier: String?
    }

    struct Documentation: Decodable {
      struct Line: Decodable {
        let text: String
      }
      let lines: [Line]
    }

    struct Location: Decodable {
      struct Position: Decodable {
        let line: Int
        let character: Int
      }
      let uri: String
      let position: Position
    }

    struct Constraint: Decodable, Equatable {
      let kind: String
      let lhs: String
      let rhs: String
      let rhsPrecise: String?
    }

    struct Generics: Decodable {
      struct Parameter: Decodable {
        let name: String
      }
      let parameters: [Parameter]?
      let constraints: [Constraint]?
    }

    struct Availability: Decodable, Equatable {
      struct Version: Decodable, Equatable {
        let major: Int
        let minor: Int?
        let patch: Int?
      }
      let domain: String?
      let introduced: Version?
      let deprecated: Version?
      let message: String?
      let renamed: String?
      let isUnconditionallyUnavailable: Bool?
      let isUnconditionallyDeprecated: Bool?
    }

    let kind: Kind
    let identifier: Identifier
    var pathComponents: [String]
    let docComment: Documentation?
    var declarationFragments: [Fragment]
    let accessLevel: String
    let availability: [Availability]?
    var location: Location?
    let swiftGenerics: Generics?
    let swiftExtension: Generics?
    let spi: Bool?
  }

  struct Relationship: Decodable {
    var kind: String
    let source: String
    var target: String
    let targetFallback: String?

    /// The requirement that a member implements.
    let sourceOrigin: Origin?

    struct Origin: Decodable {
      let displayName: String
    }
  }

  var symbols: [Symbol]
  var relationships: [Relationship]

  /// Reads the graphs that a folder holds of `module`: its own, and one for each module that it extends.
  static func read(module: String, in folder: URL) throws(MigrationError) -> SymbolGraph {
    if let graph = try read(in: folder, where: { isGraph($0, of: module) }) { return graph }
    throw MigrationError("There is no symbol graph of \(module) in \(folder.path).")
  }

  /// Reads the extensions of `module` by another module, the client, from a folder; `nil` if there are none.
  static func readExtensions(
    of module: String,
    by client: String,
    in folder: URL
  ) throws(MigrationError) -> SymbolGraph? {
    try read(in: folder) { name(of: $0) == "\(client)@\(module)" }
  }

  /// Whether a file is the graph of `module`, or that of the extensions of another module by `module`.
  private static func isGraph(_ file: URL, of module: String) -> Bool {
    name(of: file).map { $0 == module || $0.hasPrefix("\(module)@") } == true
  }

  /// The part of a file's name with its modules, such as `App@Store`; `nil` if the file is no graph.
  private static func name(of file: URL) -> String? {
    let ending = ".symbols.json"
    let name = file.lastPathComponent
    return name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : nil
  }

  /// Reads the graphs of `modules` that a folder holds, without functions: callers look up types; `nil` if it holds none.
  static func readTypes(of modules: [String], in folder: URL) throws(MigrationError) -> SymbolGraph? {
    let functions = [
      "swift.method", "swift.type.method", "swift.func", "swift.func.op", "swift.init", "swift.subscript",
    ]
    var graph = try read(in: folder) { file in modules.contains { isGraph(file, of: $0) } }
    graph?.symbols.removeAll { functions.contains($0.kind.identifier) }
    return graph
  }

  /// Whether the graph has a type `Future` that is not the library's.
  var declaresOtherFuture: Bool {
    symbols.contains { $0.pathComponents == ["Future"] && !$0.identifier.precise.hasPrefix("s:7Futures") }
  }

  func adding(_ other: SymbolGraph) -> SymbolGraph {
    SymbolGraph(symbols: symbols + other.symbols, relationships: relationships + other.relationships)
  }

  /// Reads the asked files into one graph, with full names of types and the names in closure types; `nil` if there are none.
  private static func read(in folder: URL, where isAsked: (URL) -> Bool) throws(MigrationError) -> SymbolGraph? {
    let files: [URL]
    do {
      files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    } catch {
      throw MigrationError("There is no symbol graph at \(folder.path).")
    }
    let asked = files.filter(isAsked)
    guard !asked.isEmpty else { return nil }
    var whole = SymbolGraph(symbols: [], relationships: [])
    for file in asked.sorted(by: { $0.lastPathComponent < $1.lastPathComponent }) {
      do {
        let graph = try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: file))
        whole.symbols += graph.symbols
        whole.relationships += graph.relationships
      } catch {
        throw MigrationError("\(file.lastPathComponent) is no symbol graph that this tool can read: \(error)")
      }
    }
    return whole.withCanonicalTypes.withClosureLabels
  }
}

extension SymbolGraph {
  /// The graph with each default implementation as a member of its protocol: the compiler relates it only to the requirement.
  var withMembersForDefaults: SymbolGraph {
    let protocols = Dictionary(
      symbols.filter { $0.kind.identifier == "swift.protocol" }.map { ($0.pathComponents, $0.identifier.precise) },
      uniquingKeysWith: { first, _ in first }
    )
    let symbols = TypeRelations(self).symbols
    var graph = self
    graph.relationships = relationships.map { relation in
      guard relation.kind == "defaultImplementationOf", let member = symbols[relation.source],
        let type = protocols[Array(member.pathComponents.dropLast())]
      else { return relation }
      var membership = relation
      (membership.kind, membership.target) = ("memberOf", type)
      return membership
    }
    return graph
  }
}

extension SymbolGraph.Symbol {
  /// The name with the enclosing types, such as `Store.user(id:completion:)`.
  var title: String { pathComponents.joined(separator: ".") }

  /// The names of the enclosing types, such as `Store`; empty outside types.
  var scope: String { pathComponents.dropLast().joined(separator: ".") }

  var tokens: [Token] { [Token](declarationFragments) }
}

extension SymbolGraph.Symbol.Location {
  /// The line of the declared name, from 1.
  var line: Int { position.line + 1 }

  /// The path of the file; the compiler writes the path that it was given, which can be relative, after `file://`.
  var path: String? {
    let scheme = "file://"
    guard uri.hasPrefix(scheme) else { return nil }
    let path = uri.dropFirst(scheme.count)
    return URL(filePath: path.removingPercentEncoding ?? String(path)).standardizedFileURL.path
  }
}

/// A failure of the tool, as a sentence.
package struct MigrationError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
