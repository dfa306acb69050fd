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

  /// Reads the aliases and errors in `graph`: those of a module, and of the modules that it imports.
  package init(_ graph: SymbolGraph, errorNames: Set<String> = []) {
    errors = Set(
      graph.relationships.filter { $0.kind == "conformsTo" && $0.targetFallback == "Swift.Error" }.map(\.source)
    )
    self.errorNames = errorNames
    for symbol in graph.symbols where symbol.kind.identifier == "swift.typealias" {
      var reader = TokenReader(symbol.tokens)
      _ = reader.take(upTo: ["<", "="])  // to the end of the name
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

  /// The type for which an alias stands, with the arguments of the alias; `nil` if `type` is not an alias alone.
  private func resolveOnce(_ type: ArraySlice<Token>) -> ArraySlice<Token>? {
    var reader = TokenReader(type)
    let (names, arguments) = reader.takeTypeName()
    guard let name = names.last?.type, let alias = aliases[name] else { return nil }
    guard reader.isAtEnd, arguments.count == alias.parameters.count else { return nil }
    return alias.tokens.substituting(arguments, for: alias.parameters)
  }

  /// The text by which types are compared: without aliases, without the specifiers (attributes and words such as `inout`) before
  /// the type, and with `$0` for the first generic parameter; `[Int]` and `Array<Int>` still differ.
  func plainText(of type: ArraySlice<Token>, _ generics: [String]) -> String {
    var reader = TokenReader(type)
    _ = reader.takeSpecifiers()
    reader = TokenReader(resolve(reader.rest))
    _ = reader.takeSpecifiers()  // those of the alias
    return reader.rest.map { token in
      if let index = generics.firstIndex(of: token.text) { return "$\(index)" }
      // An alias with arguments is resolved only if it is the whole type.
      guard let name = token.type, aliases[name]?.parameters.isEmpty == true else { return token.text }
      return resolve([token]).text
    }.joined(separator: " ")
  }

  /// The closure type without its attributes; `nil` if `type` is no closure type.
  ///
  /// For an optional closure, the type is that of the closure: a counterpart always passes one.
  package func functionType(of type: ArraySlice<Token>) -> FunctionType? {
    var reader = TokenReader(type)
    _ = reader.takeSpecifiers()
    let bare = reader.rest
    if let resolved = resolveOnce(bare) { return functionType(of: resolved) }
    guard let inside = reader.takeBracketed("(", ")") else {
      // An optional alias, as in `Completion?` or `Completion!`.
      guard let mark = bare.last?.text, ["?", "!"].contains(mark) else { return nil }
      return resolveOnce(bare.dropLast()).flatMap(functionType)
    }
    // Parentheses around a closure, as in `(() -> Void)?`.
    if ["", "?", "!"].contains(reader.rest.text) { return functionType(of: inside) }
    var effects: Set<String> = []
    while let next = reader.next, next.text != "->" {
      guard ["async", "throws"].contains(next.text) else { return nil }
      effects.insert(next.text)
      _ = reader.take()
      _ = reader.takeBracketed("(", ")")  // the error type in `throws(E)`
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
  /// The type of a closure's parameter or of a tuple's element, without a name such as `_ user:`.
  static func withoutLabel(_ parameter: ArraySlice<Token>) -> ArraySlice<Token> {
    var reader = TokenReader(parameter)
    let words = reader.take(upTo: [":"])  // in an enum payload `Int = isOn ? 1 : 2`, the colon belongs to the default
    return words.count <= 2 && reader.take(":") ? reader.rest : parameter  // at most a label and a name
  }

  /// The name of a closure's parameter; empty if it has none.
  static func label(_ parameter: ArraySlice<Token>) -> String {
    let hasLabel = withoutLabel(parameter).startIndex != parameter.startIndex
    return hasLabel ? parameter.prefix { $0.text != ":" }.last?.text ?? "" : ""
  }
}
