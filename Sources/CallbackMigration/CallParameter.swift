/// A parameter, as calls see it.
struct CallParameter: Equatable {
  /// The label; `nil` for a closure, which can be a trailing closure.
  let label: String?
  private let type: String
  let canBeLeftOut: Bool

  init(_ parameter: Declaration.Parameter, _ generics: [String], _ aliases: TypeAliases) {
    label = aliases.functionType(of: parameter.type) == nil ? parameter.label : nil
    type = aliases.plainText(of: parameter.type, generics)
    canBeLeftOut = parameter.defaultValue != nil || parameter.isVariadic
  }

  /// The parameters of a declaration.
  /// - Parameters:
  ///   - declaration: The function.
  ///   - omitted: The indices of the parameters to leave out.
  ///   - aliases: The type aliases.
  /// - Returns: The parameters, in order.
  static func all(of declaration: Declaration, without omitted: Set<Int>, _ aliases: TypeAliases) -> [CallParameter] {
    declaration.parameters.indices.filter { !omitted.contains($0) }.map {
      CallParameter(declaration.parameters[$0], declaration.genericParameters, aliases)
    }
  }

  static func == (first: CallParameter, second: CallParameter) -> Bool {
    first.label == second.label && first.type == second.type
  }

  /// Whether one expression can be the argument of both parameters.
  func canBe(_ other: CallParameter) -> Bool {
    guard label == other.label else { return false }
    let types = [type, other.type].map { $0.filter { $0 != " " && $0 != "?" } }
    return types[0] == types[1]
      || types.contains { $0 == "Any" || $0.hasPrefix("any") || $0.contains("$") }
  }
}
