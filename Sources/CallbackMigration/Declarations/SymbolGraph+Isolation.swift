extension TypeRelations {
  /// Whether the main actor is the module's default: all members of a type are isolated to it, but not the type itself.
  var isMainActorTheDefault: Bool {
    let kinds = ["swift.method", "swift.property", "swift.type.method", "swift.type.property"]
    var isEachIsolated: [String: Bool] = [:]
    for (member, type) in owners {
      guard let member = symbols[member], let owner = symbols[type] else { continue }
      guard kinds.contains(member.kind.identifier), !owner.saysIsolation, !member.isNonisolated else { continue }
      isEachIsolated[type] = isEachIsolated[type] != false && member.isOnMainActor
    }
    return isEachIsolated.values.contains(true)
  }
}

extension SymbolGraph.Symbol {
  fileprivate var isNonisolated: Bool { declarationFragments.contains { $0.spelling == "nonisolated" } }

  fileprivate var isOnMainActor: Bool { [Token](declarationFragments).contains { $0.text == "@MainActor" } }

  /// Whether the symbol is an actor, is nonisolated, or says that it belongs to the main actor.
  fileprivate var saysIsolation: Bool {
    isNonisolated || isOnMainActor || declarationFragments.contains { $0.spelling == "actor" }
  }
}
