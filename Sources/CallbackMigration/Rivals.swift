/// The declarations that a call of a new counterpart could mean, too.
struct Rivals {
  private struct Candidate {
    let declaration: Declaration
    let scope: String
    let arguments: [Argument]
  }

  private var candidates: [String: [Candidate]] = [:]

  /// The paths of properties and enum cases, such as `Store.count`.
  private var values: Set<String> = []

  /// Adds a function of the module.
  mutating func add(_ declaration: Declaration, in scope: String, _ aliases: TypeAliases) {
    let arguments = Self.arguments(of: declaration, without: [], aliases)
    candidates[declaration.plainName, default: []].append(
      Candidate(declaration: declaration, scope: scope, arguments: arguments)
    )
  }

  /// Adds a property or a case by its path.
  mutating func addValue(_ path: String) { values.insert(path) }

  /// The title of a declaration, if some of its existing calls would call the counterpart instead.
  ///
  /// In async code a call prefers an async function, and of two async functions the one that needs fewer defaults. Of
  /// two synchronous functions either can win, so the types of the arguments do not count.
  /// - Parameters:
  ///   - name: The name of the counterpart.
  ///   - kind: `async` or `sync`.
  ///   - declaration: The function with the callback.
  ///   - omitted: The parameters that the counterpart does not have.
  ///   - scopes: The types with members that calls of the counterpart could mean.
  ///   - aliases: The type aliases.
  /// - Returns: The title; `nil` if there is no such declaration.
  func title(
    of name: String,
    _ kind: Counterpart.Kind,
    _ declaration: Declaration,
    without omitted: Set<Int>,
    in scopes: [String],
    _ aliases: TypeAliases
  ) -> String? {
    let own = Self.arguments(of: declaration, without: omitted, aliases)
    let all = Self.arguments(of: declaration, without: [], aliases)
    let isSync = kind == .sync
    // A member hides functions outside types from the code in its type.
    let scopes = isSync ? scopes + [""] : scopes
    if isSync, own.isEmpty, scopes.contains(where: { values.contains($0.isEmpty ? name : "\($0).\(name)") }) {
      return name
    }
    let rival = (candidates[name] ?? []).first { other in
      guard scopes.contains(other.scope) else { return false }
      let isItself = other.declaration.title() == declaration.title() && other.arguments == all
      guard !isItself, isSync || other.declaration.isStatic == declaration.isStatic else { return false }
      // If two async functions have the same parameters, a call means the nearest one, as before.
      if !isSync, other.declaration.isAsync, own == other.arguments { return false }
      guard let saved = savedDefaults(own, other.arguments, ignoringTypes: isSync) else { return false }
      return isSync || !other.declaration.isAsync || saved >= 0
    }
    return rival?.declaration.title()
  }

  /// The most defaults that a call saves with the first function, and not the second; `nil` if no call fits both.
  private func savedDefaults(_ first: [Argument], _ second: [Argument], ignoringTypes: Bool) -> Int? {
    // `best[one][other]` is the result for the first arguments of both lists, up to these counts.
    var best = [[Int?]](repeating: [Int?](repeating: nil, count: second.count + 1), count: first.count + 1)
    for one in 0...first.count {
      for other in 0...second.count {
        var results: [Int?] = [one == 0 && other == 0 ? 0 : nil]
        if one > 0, first[one - 1].canBeLeftOut { results.append(best[one - 1][other].map { $0 - 1 }) }
        if other > 0, second[other - 1].canBeLeftOut { results.append(best[one][other - 1].map { $0 + 1 }) }
        if one > 0, other > 0, first[one - 1].canBe(second[other - 1], ignoringTypes: ignoringTypes) {
          results.append(best[one - 1][other - 1])
        }
        best[one][other] = results.compactMap(\.self).max()
      }
    }
    return best[first.count][second.count]
  }

  private static func arguments(
    of declaration: Declaration,
    without omitted: Set<Int>,
    _ aliases: TypeAliases
  ) -> [Argument] {
    declaration.parameters.indices.filter { !omitted.contains($0) }.map {
      Argument(declaration.parameters[$0], declaration.genericParameters, aliases)
    }
  }
}

/// A parameter, as calls see it.
private struct Argument: Equatable {
  /// The label; `nil` for a closure, which can be a trailing closure.
  private let label: String?
  private let type: String
  let canBeLeftOut: Bool

  init(_ parameter: Declaration.Parameter, _ generics: [String], _ aliases: TypeAliases) {
    label = aliases.functionType(of: parameter.type) == nil ? parameter.label : nil
    type = aliases.plainText(of: parameter.type, generics)
    canBeLeftOut = parameter.defaultValue != nil || parameter.isVariadic
  }

  static func == (first: Argument, second: Argument) -> Bool {
    first.label == second.label && first.type == second.type
  }

  /// Whether one expression can be the argument of both parameters.
  func canBe(_ other: Argument, ignoringTypes: Bool) -> Bool {
    guard label == other.label else { return false }
    let types = [type, other.type].map { $0.filter { $0 != " " && $0 != "?" } }
    return ignoringTypes || types[0] == types[1]
      || types.contains { $0 == "Any" || $0.hasPrefix("any") || $0.contains("$") }
  }
}
