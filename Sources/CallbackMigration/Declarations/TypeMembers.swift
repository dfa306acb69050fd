/// The members of a module's structs, classes and enums.
struct TypeMembers {
  private struct Case {
    let name: String
    let payload: [ArraySlice<Token>]
  }

  private var generics: [String: [String]] = [:]
  private var properties: [String: [String: ArraySlice<Token>]] = [:]
  private var cases: [String: [Case]] = [:]

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
        cases[owner, default: []].append(Case(name: name, payload: payload))
      default: break
      }
    }
  }

  /// How a value holds a failure.
  enum Failure {
    case result(value: ArraySlice<Token>, failure: ArraySlice<Token>)

    /// Two cases of an enum. The success can have a value.
    case cases(success: String, value: ArraySlice<Token>?, failure: String)

    /// The failure cannot be unpacked.
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
    let cases = cases[identifier] ?? []
    let failures = cases.filter { `case` in
      CallbackNames.hasWord(`case`.name, like: ["fail", "error"]) || `case`.payload.contains { aliases.isError($0) }
    }
    guard let failure = failures.first else { return nil }
    guard isWhole, cases.count == 2, failures.count == 1, failure.payload.count == 1,
      aliases.isError(failure.payload[0]), let success = cases.first(where: { $0.name != failure.name }),
      success.payload.count < 2
    else { return .hidden }
    return .cases(success: success.name, value: success.payload.first.map(substituted), failure: failure.name)
  }
}
