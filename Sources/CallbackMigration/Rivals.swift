/// The functions that a call of an async counterpart could mean, too.
struct Rivals {
  private struct Candidate {
    let declaration: Declaration
    let scope: String

    /// The type of each parameter, for comparisons.
    let types: [String]
  }

  private var candidates: [String: [Candidate]] = [:]

  /// Adds a function of the module.
  mutating func add(_ declaration: Declaration, in scope: String, _ aliases: TypeAliases) {
    let types = Self.types(of: declaration, aliases)
    candidates[declaration.plainName, default: []].append(
      Candidate(declaration: declaration, scope: scope, types: types)
    )
  }

  /// The title of a function that existing calls mean, and that some of them would no longer mean.
  ///
  /// A call prefers a function that is async where it stands in async code, and one that needs fewer defaults.
  /// - Parameters:
  ///   - name: The name of the counterpart.
  ///   - declaration: The function with the callback.
  ///   - omitted: The parameters that the counterpart does not have.
  ///   - scopes: The types whose members calls of the counterpart see, or that see the counterpart.
  ///   - aliases: The names of types.
  /// - Returns: The title; `nil` if there is no such function.
  func title(
    of name: String,
    _ declaration: Declaration,
    without omitted: Set<Int>,
    in scopes: [String],
    _ aliases: TypeAliases
  ) -> String? {
    let types = Self.types(of: declaration, aliases)
    let own = declaration.parameters.indices.filter { !omitted.contains($0) }.map {
      Argument(declaration.parameters[$0], types[$0])
    }
    let rival = (candidates[name] ?? []).first { other in
      guard scopes.contains(other.scope), other.declaration.isStatic == declaration.isStatic else { return false }
      let arguments = zip(other.declaration.parameters, other.types).map { Argument($0, $1) }
      let isItself = other.declaration.title() == declaration.title() && other.types == types
      guard !isItself else { return false }
      // Of an async function with the same parameters, the nearest declaration wins, as before.
      if other.declaration.isAsync, own == arguments { return false }
      guard let saved = savedDefaults(own[...], arguments[...]) else { return false }
      return !other.declaration.isAsync || saved >= 0
    }
    return rival?.declaration.title()
  }

  /// The most defaults that a call of both functions needs more for the second; `nil` if no call means both.
  private func savedDefaults(_ first: ArraySlice<Argument>, _ second: ArraySlice<Argument>) -> Int? {
    var results: [Int] = []
    if first.isEmpty, second.isEmpty { results.append(0) }
    if first.first?.hasDefault == true, let rest = savedDefaults(first.dropFirst(), second) { results.append(rest - 1) }
    if second.first?.hasDefault == true, let rest = savedDefaults(first, second.dropFirst()) {
      results.append(rest + 1)
    }
    if let one = first.first, let other = second.first, one.canBe(other),
      let rest = savedDefaults(first.dropFirst(), second.dropFirst())
    {
      results.append(rest)
    }
    return results.max()
  }

  private static func types(of declaration: Declaration, _ aliases: TypeAliases) -> [String] {
    declaration.parameters.map { aliases.plainText(of: $0.type, declaration.genericParameters) }
  }
}

/// A parameter, as calls see it.
private struct Argument: Equatable {
  let label: String
  let type: String
  let hasDefault: Bool

  init(_ parameter: Declaration.Parameter, _ type: String) {
    label = parameter.label
    self.type = type
    hasDefault = parameter.defaultValue != nil
  }

  static func == (first: Argument, second: Argument) -> Bool {
    first.label == second.label && first.type == second.type
  }

  /// Whether one expression can be the argument of both parameters.
  func canBe(_ other: Argument) -> Bool {
    guard label == other.label else { return false }
    let types = [type, other.type].map { $0.filter { $0 != " " && $0 != "?" } }
    return types[0] == types[1] || types.contains { $0 == "Any" || $0.hasPrefix("any") || $0.contains("$") }
  }
}
