internal import Foundation

@testable import CallbackMigration

/// Symbol graphs of declarations, as the compiler writes them down.
struct GraphBuilder {
  private(set) var graph = SymbolGraph(symbols: [], relationships: [])
  private(set) var names = [
    "Result": "s:s6ResultO", "Optional": "s:Sq", "Int": "s:Si", "String": "s:SS", "Error": "s:s5ErrorP",
  ]

  /// Adds a type, whose name then carries its identifier where it is used.
  @discardableResult
  mutating func type(_ declaration: String, _ conformances: String..., access: String = "internal") -> Self {
    let words = declaration.split(separator: " ").map(String.init)
    let kinds = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    let index = words.firstIndex(where: kinds.contains).unsafelyUnwrapped
    let name = String(words[index + 1].prefix { $0.isLetter || $0.isNumber })
    let identifier = "s:\(name)"
    names[name] = identifier
    let kind = "swift.\(words[index] == "actor" ? "class" : words[index])"
    graph.symbols.append(symbol(kind, identifier, [name], declaration, access: access))
    for conformance in conformances {
      graph.relationships.append(
        SymbolGraph.Relationship(
          kind: "conformsTo",
          source: identifier,
          target: conformance,
          targetFallback: conformance
        )
      )
    }
    return self
  }

  /// Adds a function, of a type if one is named.
  mutating func function(_ declaration: String, of owner: String? = nil, access: String = "internal", line: Int = 1) {
    let parsed = Declaration([Token](fragments(declaration)))
    let title = parsed?.title() ?? declaration
    let identifier = "s:\(owner ?? "")\(declaration)"
    let kind = "swift.\(owner == nil ? "func" : "method")"
    let path = [owner, title].compactMap { $0 }
    graph.symbols.append(symbol(kind, identifier, path, declaration, access: access, line: line))
    if let owner {
      graph.relationships.append(
        SymbolGraph.Relationship(kind: "memberOf", source: identifier, target: "s:\(owner)", targetFallback: nil)
      )
    }
  }

  /// The tokens of a declaration; the names of the added types carry their identifiers.
  func tokens(_ text: String) -> [Token] { [Token](fragments(text)) }

  private func symbol(
    _ kind: String,
    _ identifier: String,
    _ path: [String],
    _ declaration: String,
    access: String,
    line: Int = 1
  ) -> SymbolGraph.Symbol {
    SymbolGraph.Symbol(
      kind: .init(identifier: kind),
      identifier: .init(precise: identifier),
      pathComponents: path,
      docComment: nil,
      declarationFragments: fragments(declaration),
      accessLevel: access,
      availability: nil,
      location: .init(uri: "file:///package/Sources/App/App.swift", position: .init(line: line - 1, character: 0)),
      swiftGenerics: declaration.hasSuffix("where T : Sendable") ? .init(constraints: [.sendable]) : nil,
      swiftExtension: nil,
      spi: nil
    )
  }

  private func fragments(_ text: String) -> [SymbolGraph.Symbol.Fragment] {
    var fragments: [SymbolGraph.Symbol.Fragment] = []
    var word = ""
    func end() {
      guard !word.isEmpty else { return }
      let identifier = names[word]
      fragments.append(
        .init(kind: identifier == nil ? "text" : "typeIdentifier", spelling: word, preciseIdentifier: identifier)
      )
      word = ""
    }
    for character in text {
      if character.isLetter || character.isNumber || character == "_" {
        word.append(character)
      } else {
        end()
        fragments.append(.init(kind: "text", spelling: String(character), preciseIdentifier: nil))
      }
    }
    end()
    return joined(fragments)
  }

  /// Joins text with text, as the compiler does.
  private func joined(_ fragments: [SymbolGraph.Symbol.Fragment]) -> [SymbolGraph.Symbol.Fragment] {
    fragments.reduce(into: []) { joined, fragment in
      if fragment.kind == "text", let last = joined.last, last.kind == "text" {
        joined[joined.count - 1] = .init(
          kind: "text",
          spelling: last.spelling + fragment.spelling,
          preciseIdentifier: nil
        )
      } else {
        joined.append(fragment)
      }
    }
  }
}

extension GraphBuilder {
  /// The functions of the graph.
  func functions(minimumAccess: AccessLevel = .private) -> [CallbackFunction] {
    Inventory(module: "App", graph, minimumAccess: minimumAccess, root: URL(filePath: "/package")).functions
  }

  /// What is generated.
  func generated(_ style: TwinStyle = .both, only pattern: String? = nil) -> String {
    let inventory = Inventory(module: "App", graph, minimumAccess: .private, root: URL(filePath: "/package"))
    return Generator(inventory, style: style, only: pattern).text
  }
}

extension SymbolGraph.Symbol.Constraint {
  fileprivate static var sendable: Self {
    Self(kind: "conformance", lhs: "T", rhs: "Sendable", rhsPrecise: "s:s8SendableP")
  }
}
