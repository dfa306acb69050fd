/// The members of a module's structs, classes and enums.
struct TypeMembers {
  /// The generic parameters of each type.
  private var generics: [String: [String]] = [:]

  /// The types of each type's properties, by their names.
  private var properties: [String: [String: ArraySlice<Token>]] = [:]
  private var cases: [String: [(name: String, payload: [ArraySlice<Token>])]] = [:]

  init(_ graph: SymbolGraph) {
    let owners = TypeRelations(graph).owners
    for symbol in graph.symbols {
      let identifier = symbol.identifier.precise
      var reader = TokenReader(symbol.tokens)
      switch symbol.kind.identifier {
      case "swift.struct", "swift.class", "swift.enum":
        _ = reader.take(upTo: ["<"])
        generics[identifier] = reader.takeBracketed("<", ">")?.elements.compactMap { $0.first?.text } ?? []
      case "swift.property":
        guard let owner = owners[identifier], let name = symbol.pathComponents.last else { continue }
        _ = reader.take(upTo: [":"])
        guard reader.take(":") else { continue }
        properties[owner, default: [:]][name] = reader.take(upTo: ["{", "="])
      case "swift.enum.case":
        _ = reader.take(upTo: ["case"])
        guard let owner = owners[identifier], reader.take("case"), let name = reader.take()?.text else { continue }
        let payload = (reader.takeBracketed("(", ")")?.elements ?? []).map(FunctionType.withoutLabel)
        cases[owner, default: []].append((name, payload))
      default: break
      }
    }
  }

  /// How a value holds a failure.
  enum Failure {
    /// In its property `result`.
    case result(value: ArraySlice<Token>, failure: ArraySlice<Token>)

    /// In another property, in a case of an enum, or in a property `result` that a counterpart cannot unwrap.
    case hidden
  }

  /// How a value of a type holds a failure; `nil` if it holds none.
  func failure(in type: ArraySlice<Token>, _ aliases: TypeAliases) -> Failure? {
    var reader = TokenReader(aliases.resolve(type))
    let (names, arguments) = reader.takeTypeName()
    guard let identifier = names.last?.type, let parameters = generics[identifier] else { return nil }
    if let result = properties[identifier]?["result"].flatMap(aliases.result) {
      // A `?` follows the name of an optional, which can lack the result. Without the arguments, the result's types are unknown.
      guard reader.isAtEnd, arguments.count == parameters.count else { return .hidden }
      return .result(
        value: result.value.substituting(arguments, for: parameters),
        failure: result.failure.substituting(arguments, for: parameters)
      )
    }
    func canFail(_ type: ArraySlice<Token>) -> Bool {
      let type = aliases.resolve(type)
      return aliases.result(type) != nil || aliases.isError(aliases.wrapped(type) ?? type)
    }
    let hasFailingProperty = properties[identifier, default: [:]].contains { name, type in
      ["error", "failure"].contains(name) || canFail(type)
    }
    let hasFailingCase = cases[identifier, default: []].contains { name, payload in
      CallbackNames.hasWord(name, like: ["fail", "error"]) || payload.contains(where: canFail)
    }
    return hasFailingProperty || hasFailingCase ? .hidden : nil
  }
}
