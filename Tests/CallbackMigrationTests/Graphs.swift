internal import CallbackMigration
internal import Foundation

/// Builds the symbol graph of a few declarations, as JSON, and reads it as the tool reads a graph of the compiler.
struct GraphBuilder {
  private var symbols: [JSON] = []
  private var relationships: [JSON] = []
  private var identifiers = [
    "Result": "s:s6ResultO", "Optional": "s:Sq", "Int": "s:Si", "String": "s:SS", "Error": "s:s5ErrorP",
  ]

  /// The folder of the package.
  var root = "/package"

  /// The graph of the declarations so far.
  var graph: SymbolGraph { decoded(["symbols": symbols, "relationships": relationships]) }

  /// The graph as the compiler writes it.
  var json: Data {
    try! JSONSerialization.data(withJSONObject: ["symbols": symbols, "relationships": relationships])
  }

  /// Adds a type.
  ///
  /// Declarations added later refer to it by its identifier.
  mutating func type(
    _ declaration: String,
    _ conformances: String...,
    inherits: String? = nil,
    access: String = "internal"
  ) {
    let words = declaration.split(separator: " ").map(String.init)
    let kinds = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    let index = words.firstIndex(where: kinds.contains).unsafelyUnwrapped
    let name = String(words[index + 1].prefix { $0.isLetter || $0.isNumber })
    let identifier = "s:\(name)"
    identifiers[name] = identifier
    let kind = "swift.\(words[index] == "actor" ? "class" : words[index])"
    symbols.append(symbol(kind, identifier, [name], declaration, access: access, line: 1))
    for conformance in conformances {
      let target = identifiers[conformance] ?? conformance
      relationships.append(
        ["kind": "conformsTo", "source": identifier, "target": target, "targetFallback": conformance]
      )
    }
    if let inherits {
      relationships.append(["kind": "inheritsFrom", "source": identifier, "target": "s:\(inherits)"])
    }
  }

  /// Adds the name of a type of another module.
  mutating func foreignType(_ name: String, _ identifier: String) { identifiers[name] = identifier }

  /// Adds a type with the name of another type, which the declarations mean.
  mutating func hidingType(_ declaration: String, of owner: String?) {
    let words = declaration.split(separator: " ").map(String.init)
    let identifier = "s:\(owner ?? "")own\(words[1])"
    let path = [owner, words[1]].compactMap { $0 }
    symbols.append(symbol("swift.\(words[0])", identifier, path, declaration, access: "internal", line: 1))
    if let owner { relationships.append(["kind": "memberOf", "source": identifier, "target": "s:\(owner)"]) }
  }

  /// Adds a property, such as `let result: Int`, or a case of an enum, such as `case success(Int)`.
  mutating func member(_ declaration: String, of owner: String) {
    let words = declaration.split(separator: " ")
    let name = String(words[1].prefix { $0.isLetter || $0.isNumber })
    let kind = words[0] == "case" ? "swift.enum.case" : "swift.property"
    let identifier = "s:\(owner)\(declaration)"
    symbols.append(symbol(kind, identifier, [owner, name], declaration, access: "internal", line: 1))
    relationships.append(["kind": "memberOf", "source": identifier, "target": "s:\(owner)"])
  }

  /// Adds a function, as a member of `owner` if there is one.
  ///
  /// `origin` is the requirement that the function implements, such as `Store.load(completion:)`. `version` is the
  /// version of macOS that the function needs.
  mutating func function(
    _ declaration: String,
    of owner: String? = nil,
    access: String = "internal",
    line: Int = 1,
    file: String = "Sources/App/App.swift",
    documentation: String? = nil,
    origin: String? = nil,
    isRequirement: Bool = false,
    isDefault: Bool = false,
    macOS version: Int? = nil
  ) {
    let title = Declaration(tokens(declaration))?.title() ?? declaration
    let identifier = "s:\(owner ?? "")\(declaration)\(isDefault ? "default" : "")"
    let kind = "swift.\(owner == nil ? "func" : "method")"
    let path = [owner, title].compactMap { $0 }
    var symbol = symbol(kind, identifier, path, declaration, access: access, file: file, line: line)
    if let documentation {
      symbol["docComment"] = ["lines": documentation.split(separator: "\n").map { ["text": String($0)] }]
    }
    if let version {
      symbol["availability"] = [["domain": "macOS", "introduced": ["major": version] as JSON] as JSON]
    }
    symbols.append(symbol)
    guard let owner else { return }
    // The compiler says of a default implementation which requirement it implements, and not which type it is in.
    var relation: JSON = [
      "kind": isRequirement ? "requirementOf" : isDefault ? "defaultImplementationOf" : "memberOf",
      "source": identifier,
      "target": isDefault ? "s:requirement" : "s:\(owner)",
    ]
    if let origin { relation["sourceOrigin"] = ["identifier": "s:origin", "displayName": origin] }
    relationships.append(relation)
  }

  /// The tokens of a declaration.
  func tokens(_ text: String) -> [Token] {
    [Token](decoded(fragments(text)) as [SymbolGraph.Symbol.Fragment])
  }

  private func symbol(
    _ kind: String,
    _ identifier: String,
    _ path: [String],
    _ declaration: String,
    access: String,
    file: String = "Sources/App/App.swift",
    line: Int
  ) -> JSON {
    var symbol: JSON = [
      "kind": ["identifier": kind],
      "identifier": ["precise": identifier],
      "pathComponents": path,
      "declarationFragments": fragments(declaration),
      "accessLevel": access,
      "location": [
        "uri": "file://\(root)/\(file)", "position": ["line": line - 1, "character": 0],
      ] as JSON,
    ]
    if declaration.hasSuffix("where T : Sendable") {
      let constraint = ["kind": "conformance", "lhs": "T", "rhs": "Sendable", "rhsPrecise": "s:s8SendableP"]
      symbol["swiftGenerics"] = ["constraints": [constraint]]
    }
    return symbol
  }

  /// Like the compiler, joins all text between two names of types.
  private func fragments(_ declaration: String) -> [JSON] {
    var fragments: [JSON] = []
    var text = ""
    var word = ""
    func endText() {
      if !text.isEmpty { fragments.append(["kind": "text", "spelling": text]) }
      text = ""
    }
    func endWord() {
      if let identifier = identifiers[word] {
        endText()
        fragments.append(["kind": "typeIdentifier", "spelling": word, "preciseIdentifier": identifier])
      } else {
        text += word
      }
      word = ""
    }
    for character in declaration {
      if character.isLetter || character.isNumber || character == "_" {
        word.append(character)
      } else {
        endWord()
        text.append(character)
      }
    }
    endWord()
    endText()
    return fragments
  }
}

private typealias JSON = [String: Any]

private func decoded<Value: Decodable>(_ json: Any) -> Value {
  try! JSONDecoder().decode(Value.self, from: JSONSerialization.data(withJSONObject: json))
}

extension GraphBuilder {
  /// The inventory of the graph, with the settings of `.migrate-callbacks.json`.
  func inventory(
    minimumAccess: AccessLevel = .private,
    clients: [SymbolGraph] = [],
    importedTypes: SymbolGraph? = nil,
    sources: [String] = [],
    configuration: String = "{}",
    allowsFuturesOfAnyValue: Bool = false,
    ignoring output: String? = nil
  ) -> Inventory {
    Inventory(
      module: "App",
      graph.withClosureLabels,
      clients: clients,
      importedTypes: importedTypes,
      sources: sources,
      minimumAccess: minimumAccess,
      root: URL(filePath: root),
      configuration: try! MigrationConfiguration(json: Data(configuration.utf8)),
      allowsFuturesOfAnyValue: allowsFuturesOfAnyValue,
      ignoring: output.map { [$0] } ?? []
    )
  }

  /// The functions of the graph.
  func functions(minimumAccess: AccessLevel = .private) -> [CallbackFunction] {
    inventory(minimumAccess: minimumAccess).functions
  }

  /// The generated text.
  func generated(
    _ style: CounterpartStyle = .both,
    only pattern: String? = nil,
    importedTypes: SymbolGraph? = nil,
    configuration: String = "{}",
    ignoring output: String? = nil
  ) -> String {
    let inventory = inventory(
      importedTypes: importedTypes,
      configuration: configuration,
      ignoring: output
    )
    let plan = CounterpartPlan(inventory, style: style, only: pattern)
    return Generator(plan).text + GenerationNotes(plan).comment
  }
}
