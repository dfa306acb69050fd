extension TypeRelations {
  /// Whether the main actor is the module's default: all members of some type are on it, and the type does not say so.
  var isMainActorTheDefault: Bool {
    // Other kinds do not count, because enum cases, and some initializers that the compiler makes, do not show the main actor.
    let kinds = ["swift.method", "swift.property", "swift.type.method", "swift.type.property"]
    var areOnMainActor: [String: [Bool]] = [:]  // members of each type that leaves the isolation to the module
    for (member, type) in owners {
      guard let member = symbols[member], let owner = symbols[type] else { continue }
      let ownerSaysIsolation = owner.isNonisolated || owner.isOnMainActor || owner.isActor
      guard kinds.contains(member.kind.identifier), !ownerSaysIsolation, !member.isNonisolated else { continue }
      areOnMainActor[type, default: []].append(member.isOnMainActor)
    }
    return areOnMainActor.values.contains { !$0.contains(false) }
  }
}

extension SymbolGraph.Symbol {
  fileprivate var isNonisolated: Bool { declarationFragments.contains { $0.spelling == "nonisolated" } }

  fileprivate var isOnMainActor: Bool { tokens.contains { $0.text == "@MainActor" } }
}
