/// The declarations that a call of a new counterpart could mean, too.
struct Rivals {
  private struct Candidate {
    let declaration: Declaration
    let scope: String
    let parameters: [CallParameter]
  }

  /// The functions of the module and its clients, by their names without backticks.
  private var candidates: [String: [Candidate]] = [:]

  /// Adds an existing function; `scope` names its enclosing types, and is empty outside types.
  mutating func add(_ declaration: Declaration, in scope: String, _ aliases: TypeAliases) {
    let parameters = CallParameter.all(of: declaration, without: [], aliases)
    candidates[declaration.plainName, default: []].append(
      Candidate(declaration: declaration, scope: scope, parameters: parameters)
    )
  }

  /// The title of an existing function, if some of its calls would call the counterpart instead; `nil` if there is none.
  ///
  /// In async code a call prefers an async function, and of two async functions the one that needs fewer defaults.
  /// The counterpart is called `name`, and has the parameters of `declaration` without those at the indices in `omitted`.
  /// Only functions in `scopes`, the types that have or inherit the counterpart, can have such calls. `subclasses` inherit it.
  func title(
    of name: String,
    _ declaration: Declaration,
    without omitted: Set<Int>,
    in scopes: [String],
    _ subclasses: [String],
    _ aliases: TypeAliases
  ) -> String? {
    let counterpart = CallParameter.all(of: declaration, without: omitted, aliases)
    let function = CallParameter.all(of: declaration, without: [], aliases)
    let rival = (candidates[name] ?? []).first { other in
      guard scopes.contains(other.scope) else { return false }
      // Calls of the function itself become calls of its counterpart, as they should.
      let isItself = other.declaration.title() == declaration.title() && other.parameters == function
      guard !isItself, other.declaration.isStatic == declaration.isStatic else { return false }
      // An async function with the same parameters is no rival: it is the counterpart, or its replacement in a conforming type.
      // In a subclass it is a rival, because it would have to override a function of an extension, which does not compile.
      if other.declaration.isAsync, counterpart == other.parameters { return subclasses.contains(other.scope) }
      guard let saved = savedDefaults(counterpart, other.parameters) else { return false }  // no call fits both
      // A synchronous function loses each call that fits both, an async one only if the counterpart needs no more defaults.
      return !other.declaration.isAsync || saved >= 0
    }
    return rival?.declaration.title()
  }

  /// The most defaults that a call can save with the first function instead of the second; negative if the first needs
  /// more; `nil` if no call fits both.
  private func savedDefaults(_ first: [CallParameter], _ second: [CallParameter]) -> Int? {
    // `best[one][other]` is the result for the first `one` parameters of `first`, and the first `other` of `second`.
    var best = [[Int?]](repeating: [Int?](repeating: nil, count: second.count + 1), count: first.count + 1)
    for one in 0...first.count {
      for other in 0...second.count {
        var results: [Int?] = [one == 0 && other == 0 ? 0 : nil]
        // A call without the last parameter of `first` needs one more default; without that of `second` it saves one.
        if one > 0, first[one - 1].canBeLeftOut { results.append(best[one - 1][other].map { $0 - 1 }) }
        if other > 0, second[other - 1].canBeLeftOut { results.append(best[one][other - 1].map { $0 + 1 }) }
        if one > 0, other > 0, first[one - 1].canBe(second[other - 1]) {  // one argument is passed for both
          results.append(best[one - 1][other - 1])
        }
        best[one][other] = results.compactMap(\.self).max()
      }
    }
    return best[first.count][second.count]
  }
}

/// A parameter, as calls see it.
struct CallParameter: Equatable {
  /// The label; `nil` for a closure, which can be a trailing closure.
  let label: String?
  private let type: String  // by `plainText`, so that aliases and specifiers make no difference
  let canBeLeftOut: Bool

  init(_ parameter: Declaration.Parameter, _ generics: [String], _ aliases: TypeAliases) {
    label = aliases.functionType(of: parameter.type) == nil ? parameter.label : nil
    type = aliases.plainText(of: parameter.type, generics)
    canBeLeftOut = parameter.defaultValue != nil || parameter.isVariadic
  }

  /// The parameters of a declaration, without those at the indices in `omitted`.
  static func all(of declaration: Declaration, without omitted: Set<Int>, _ aliases: TypeAliases) -> [CallParameter] {
    declaration.parameters(without: omitted).map { CallParameter($0, declaration.genericParameters, aliases) }
  }

  /// Whether label and type are the same; a default makes no difference.
  static func == (first: CallParameter, second: CallParameter) -> Bool {
    first.label == second.label && first.type == second.type
  }

  /// Whether one expression can be the argument of both parameters.
  func canBe(_ other: CallParameter) -> Bool {
    guard label == other.label else { return false }
    // An optional also takes a plain value. `Any`, a generic parameter (`$0`), `any P` (here `anyP` or `(anyP)`) and `some P` can
    // take any argument.
    let types = [type, other.type].map { $0.filter { !" ?!".contains($0) } }
    return types[0] == types[1]
      || types.contains { type in
        type == "Any" || type.contains("$") || ["any", "(any", "some", "(some"].contains { type.hasPrefix($0) }
      }
  }
}
