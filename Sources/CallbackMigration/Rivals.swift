/// The declarations that a call of a new counterpart could mean, too.
struct Rivals {
  private struct Candidate {
    let declaration: Declaration
    let scope: String
    let parameters: [CallParameter]
  }

  private var candidates: [String: [Candidate]] = [:]

  /// The paths of properties and enum cases, such as `Store.count`.
  private var values: Set<String> = []

  /// Adds a function of the module.
  mutating func add(_ declaration: Declaration, in scope: String, _ aliases: TypeAliases) {
    let parameters = CallParameter.all(of: declaration, without: [], aliases)
    candidates[declaration.plainName, default: []].append(
      Candidate(declaration: declaration, scope: scope, parameters: parameters)
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
    let own = CallParameter.all(of: declaration, without: omitted, aliases)
    let all = CallParameter.all(of: declaration, without: [], aliases)
    let isSync = kind == .sync
    // A member hides functions outside types from the code in its type.
    let scopes = isSync ? scopes + [""] : scopes
    if isSync, own.isEmpty, scopes.contains(where: { values.contains($0.isEmpty ? name : "\($0).\(name)") }) {
      return name
    }
    let rival = (candidates[name] ?? []).first { other in
      guard scopes.contains(other.scope) else { return false }
      let isItself = other.declaration.title() == declaration.title() && other.parameters == all
      guard !isItself, isSync || other.declaration.isStatic == declaration.isStatic else { return false }
      // If two async functions have the same parameters, a call means the nearest one, as before.
      if !isSync, other.declaration.isAsync, own == other.parameters { return false }
      guard let saved = savedDefaults(own, other.parameters, ignoringTypes: isSync) else { return false }
      return isSync || !other.declaration.isAsync || saved >= 0
    }
    return rival?.declaration.title()
  }

  /// The most defaults that a call saves with the first function, and not the second; `nil` if no call fits both.
  private func savedDefaults(_ first: [CallParameter], _ second: [CallParameter], ignoringTypes: Bool) -> Int? {
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
}
