/// The members of a module's structs, classes and enums.
struct TypeMembers {
  private var generics: [String: [String]] = [:]
  private var properties: [String: [String: ArraySlice<Token>]] = [:]
  private var cases: [String: [(name: String, payload: [ArraySlice<Token>])]] = [:]

  init(_ graph: SymbolGraph) {
    let owners = TypeRelations(graph).owners
    for symbol in graph.symbols {
      let identifier = symbol.identifier.precise
      var reader = TokenReader([Token](symbol.declarationFragments))
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

    /// In another property, or in a case of an enum.
    case hidden
  }

  /// How a value of a type holds a failure; `nil` if it holds none.
  func failure(in type: ArraySlice<Token>, _ aliases: TypeAliases) -> Failure? {
    var reader = TokenReader(aliases.resolve(type))
    let (names, arguments) = reader.takeTypeName()
    guard let identifier = names.last?.type, let parameters = generics[identifier] else { return nil }
    let isWhole = reader.isAtEnd && arguments.count == parameters.count
    let values = isWhole ? Dictionary(zip(parameters, arguments), uniquingKeysWith: { first, _ in first }) : [:]
    func substituted(_ type: ArraySlice<Token>) -> ArraySlice<Token> {
      type.flatMap { values[$0.text].map(Array.init) ?? [$0] }[...]
    }
    if let result = properties[identifier]?["result"].flatMap(aliases.result) {
      return isWhole ? .result(value: substituted(result.value), failure: substituted(result.failure)) : .hidden
    }
    let isFailing = properties[identifier, default: [:]].contains { name, type in
      let type = aliases.resolve(type)
      return ["error", "failure"].contains(name) || aliases.result(type) != nil
        || aliases.isError(aliases.wrapped(type) ?? type)
    }
    if isFailing { return .hidden }
    let hasFailure = cases[identifier, default: []].contains { name, payload in
      CallbackNames.hasWord(name, like: ["fail", "error"]) || payload.contains { aliases.isError($0) }
    }
    return hasFailure ? .hidden : nil
  }
}
