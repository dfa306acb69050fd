/// The type of a closure.
package struct FunctionType {
  package let parameters: [ArraySlice<Token>]

  /// The names of the parameters, empty where there is none.
  let labels: [String]
  package let effects: Set<String>
  let result: ArraySlice<Token>

  package var returnsNothing: Bool { result.text == "Void" || result.text == "()" || result.text == "Swift.Void" }
}

/// The type aliases of a module, and the types that are errors.
package struct TypeAliases {
  private struct Alias {
    let parameters: [String]
    let tokens: ArraySlice<Token>
  }

  private var aliases: [String: Alias] = [:]

  /// The types that conform to `Error`.
  let errors: Set<String>

  /// The names of more types that conform to `Error`, from the package's configuration.
  let errorNames: Set<String>

  /// Reads the aliases of a module, and of the modules that it imports.
  package init(_ graph: SymbolGraph, errorNames: Set<String> = []) {
    errors = Set(
      graph.relationships.filter { $0.kind == "conformsTo" && $0.targetFallback == "Swift.Error" }.map(\.source)
    )
    self.errorNames = errorNames
    for symbol in graph.symbols where symbol.kind.identifier == "swift.typealias" {
      var reader = TokenReader([Token](symbol.declarationFragments))
      _ = reader.take(upTo: ["typealias"])
      _ = reader.take("typealias")
      _ = reader.take(upTo: ["<", "="])
      let parameters = reader.takeBracketed("<", ">")?.elements.compactMap { $0.first?.text } ?? []
      guard reader.take("=") else { continue }
      aliases[symbol.identifier.precise] = Alias(parameters: parameters, tokens: reader.take(upTo: ["where"]))
    }
  }

  /// The type behind a type alias, also of nested aliases; the same type if it is no alias of the module.
  func resolve(_ type: ArraySlice<Token>) -> ArraySlice<Token> {
    var type = type
    while let resolved = resolveOnce(type) { type = resolved }
    return type
  }

  private func resolveOnce(_ type: ArraySlice<Token>) -> ArraySlice<Token>? {
    var reader = TokenReader(type)
    let (names, arguments) = reader.takeTypeName()
    guard let name = names.last?.type, let alias = aliases[name] else { return nil }
    guard reader.isAtEnd, arguments.count == alias.parameters.count else { return nil }
    let values = Dictionary(uniqueKeysWithValues: zip(alias.parameters, arguments))
    return alias.tokens.flatMap { values[$0.text].map(Array.init) ?? [$0] }[...]
  }

  /// A type for comparisons: without attributes, with resolved names, and with numbers for generic parameters.
  func plainText(of type: ArraySlice<Token>, _ generics: [String]) -> String {
    var reader = TokenReader(type)
    _ = reader.takeSpecifiers()
    return resolve(reader.rest).map { token in
      if let index = generics.firstIndex(of: token.text) { return "$\(index)" }
      guard let name = token.type, aliases[name]?.parameters.isEmpty == true else { return token.text }
      return resolve([token]).text
    }.joined(separator: " ")
  }

  /// The closure type without its attributes; `nil` if `type` is no closure type.
  ///
  /// An optional closure counts, too: it escapes, and a counterpart passes a closure.
  package func functionType(of type: ArraySlice<Token>) -> FunctionType? {
    var reader = TokenReader(type)
    _ = reader.takeSpecifiers()
    let bare = reader.rest
    if let resolved = resolveOnce(bare) { return functionType(of: resolved) }
    guard let inside = reader.takeBracketed("(", ")") else {
      // `Completion?`
      guard bare.last?.text == "?" else { return nil }
      let wrapped = bare.dropLast()
      return resolveOnce(wrapped) == nil ? nil : functionType(of: wrapped)
    }
    if reader.isAtEnd { return functionType(of: inside) }
    if reader.rest.text == "?" || reader.rest.text == "!" { return functionType(of: inside) }
    var effects: Set<String> = []
    while let next = reader.next, next.text != "->" {
      guard ["async", "throws", "rethrows"].contains(next.text) else { return nil }
      effects.insert(next.text)
      _ = reader.take()
      _ = reader.takeBracketed("(", ")")
    }
    guard reader.take("->") else { return nil }
    return FunctionType(
      parameters: inside.elements.map(FunctionType.withoutLabel),
      labels: inside.elements.map(FunctionType.label),
      effects: effects,
      result: reader.rest
    )
  }
}

extension FunctionType {
  /// A closure's parameter can have a name, as in `_ user: User`.
  static func withoutLabel(_ parameter: ArraySlice<Token>) -> ArraySlice<Token> {
    var reader = TokenReader(parameter)
    let words = reader.take(upTo: [":"])
    return words.count <= 2 && reader.take(":") ? reader.rest : parameter
  }

  static func label(_ parameter: ArraySlice<Token>) -> String {
    withoutLabel(parameter).startIndex == parameter.startIndex
      ? "" : parameter.prefix { $0.text != ":" }.last?.text ?? ""
  }
}
