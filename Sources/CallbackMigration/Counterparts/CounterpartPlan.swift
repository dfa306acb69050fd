/// The decision for each function of a module: a counterpart exists, is written, or is refused.
package struct CounterpartPlan {
  /// The decision for one counterpart.
  package enum Decision {
    case exists(file: String)
    case write(Counterpart)
    case refused(Refusal)
  }

  /// The decision for one function.
  package struct Entry {
    package let function: CallbackFunction
    package let decisions: [(kind: Counterpart.Kind, decision: Decision)]

    /// The counterparts to write.
    var counterparts: [Counterpart] {
      decisions.compactMap { if case .write(let counterpart) = $0.decision { counterpart } else { nil } }
    }

    /// The reasons of refused counterparts; a single one, without a kind, if all kinds are refused for the same reason.
    var refusals: [(kind: Counterpart.Kind?, refusal: Refusal)] {
      let all = decisions.compactMap { kind, decision -> (kind: Counterpart.Kind?, refusal: Refusal)? in
        if case .refused(let refusal) = decision { (kind, refusal) } else { nil }
      }
      let isSame = all.count == decisions.count && Set(all.map(\.refusal.reason)).count == 1
      return isSame ? [(nil, all[0].refusal)] : all
    }
  }

  package let entries: [Entry]
  let inventory: Inventory

  /// Decides for all functions.
  /// - Parameters:
  ///   - inventory: The functions of a module.
  ///   - style: The kinds of counterparts.
  ///   - pattern: Only for functions whose title matches it, such as `Store.*`; for all if `nil`. Other functions keep
  ///     the counterparts that an earlier run of the tool wrote.
  package init(_ inventory: Inventory, style: CounterpartStyle, only pattern: String? = nil) {
    self.inventory = inventory
    let pattern = TitlePattern(part: pattern)
    let refusals = RefusalRules(inventory: inventory)
    // Of the functions of a type that need the same counterpart, `claims` selects at most one for which it could be written.
    let claims = CounterpartClaims(inventory.functions) { function, kind in
      refusals.refusal(function, kind) == nil && !function.counterpart(kind).exists  // `false` if the tool wrote it
    }
    entries = inventory.functions.map { function in
      let written = Counterpart.Kind.allCases.filter { function.counterpart($0).wasWrittenByTool }
      let kinds = pattern.matches(function.title) ? style.kinds : written
      return Entry(
        function: function,
        decisions: kinds.map { kind in
          // A counterpart in a file that the tool replaces has no `file`, so it is written again below.
          if let file = function.counterpart(kind).file { return (kind, .exists(file: file)) }
          if let refusal = refusals.refusal(function, kind) { return (kind, .refused(refusal)) }
          if let refusal = claims.refusal(function, kind) { return (kind, .refused(refusal)) }
          // Callers might use a counterpart that the tool wrote before the deprecation, so it stays.
          let isNew = !function.counterpart(kind).wasWrittenByTool
          if function.isDeprecated, isNew { return (kind, .refused(.isDeprecated)) }
          return (kind, .write(Counterpart(kind: kind, function: function, in: inventory)))
        }
      )
    }
  }
}

/// Decides which counterparts cannot be written, or would do something else than their callback.
struct RefusalRules {
  let inventory: Inventory

  /// The reason why the tool writes no counterpart of this kind; `nil` if it can.
  func refusal(_ function: CallbackFunction, _ kind: Counterpart.Kind) -> Refusal? {
    let declaration = function.declaration
    switch function.callbacks.shape {
    case .repeated(let refusal), .unknown(let refusal): return refusal
    default: break
    }
    // A body that shows that its callback might not come once, unless the configuration says that it does.
    if !function.knowledge.isListed(in: .once), let refusal = function.bodyRefusal { return refusal }
    if declaration.keyword == "init" { return .initializer }
    if declaration.isOperator { return .isOperator }
    if declaration.isAsync { return .isAsync }
    if declaration.isRethrowing { return .isRethrowing }
    if function.symbol.spi == true { return .isSPI }
    if function.isUnavailable { return .isUnavailable }
    if let refusal = roleRefusal(function, kind) ?? parameterRefusal(function) { return refusal }
    if case .refused(let refusal) = function.handle { return refusal }
    if let (name, reason) = inventory.unusableNameInDefault(of: function) { return .unusableDefault(name, reason) }
    switch kind {
    case .async: return overloadRefusal(function)
    case .future: return futureRefusal(function)
    }
  }

  /// The reason why a counterpart might have no function to call, or cannot pass on a parameter; `nil` if there is none.
  private func parameterRefusal(_ function: CallbackFunction) -> Refusal? {
    let declaration = function.declaration
    if declaration.modifiers.contains("optional") { return .optionalRequirement }  // a type can conform without it
    for (index, parameter) in declaration.parameters.enumerated() where !function.callbacks.omitted.contains(index) {
      if parameter.isVariadic { return .isVariadic(parameter.name) }
      let words = parameter.specifiers.intersection(Declaration.Parameter.ownershipWords)
      if let word = words.min() { return .hasSpecifier(parameter.name, word) }  // `min`: the same one in each run
      if parameter.type.contains(where: { $0.text == "repeat" }) { return .isPack(parameter.name) }
    }
    return nil
  }

  /// The reason why the relation to a protocol or a superclass makes a counterpart wrong or needless; `nil` if none does.
  private func roleRefusal(_ function: CallbackFunction, _ kind: Counterpart.Kind) -> Refusal? {
    switch function.role {
    case .plain, .requirement: return nil
    case .override: return .isOverride
    case .delegateMethod(let name):
      if function.knowledge.isListed(in: .once) { return nil }  // the configuration says that its callback comes once
      return .isDelegateMethod(of: name, function.title)
    case .witness(let name):
      // The counterpart of a requirement that callers see serves the function, too. A deprecated requirement gets no new one.
      guard let requirement = inventory.requirement(of: function), !requirement.isDeprecated,
        requirement.counterpart(kind).exists || refusal(requirement, kind) == nil
      else { return nil }
      return .implements(name)
    }
  }

  /// Refuses an async counterpart if an existing function is its rival, or if the graph lacks a global function's isolation.
  private func overloadRefusal(_ function: CallbackFunction) -> Refusal? {
    let saysIsolation = function.declaration.globalActor != nil || function.declaration.isNonisolated
    // The counterpart would be `nonisolated(nonsending)`, so it could not call a function that is on the main actor.
    if inventory.isMainActorTheDefault, function.scope.isEmpty, !saysIsolation { return .unknownIsolation }
    return function.rival.map { .isTaken(by: $0, for: function.title, proposing: function.declaration.otherName) }
  }

  /// The reason why a future cannot share the callback's values between threads; `nil` if it can, or the user allows it.
  private func futureRefusal(_ function: CallbackFunction) -> Refusal? {
    guard !inventory.allowsFuturesOfAnyValue, !function.knowledge.isListed(in: .transfer) else { return nil }
    let type = function.callbacks.shape.values?.map(\.text).joined(separator: ", ") ?? ""  // `nil` was refused earlier
    switch function.sendability {
    case .yes: return nil
    case .no: return .notSendable(type, isKnown: true, function.title)
    case .unknown: return .notSendable(type, isKnown: false, function.title)
    }
  }
}

/// The functions that would get the same counterpart.
private struct CounterpartClaims {
  /// The functions by the key of the counterpart in their own type.
  private var functions: [String: [CallbackFunction]] = [:]

  /// Enters each function under the key, in its own type, of each counterpart that could be written for it.
  init(_ functions: [CallbackFunction], where isWritten: (CallbackFunction, Counterpart.Kind) -> Bool) {
    for function in functions {
      for kind in Counterpart.Kind.allCases where isWritten(function, kind) {
        if let key = function.counterpartKeys(kind).first { self.functions[key, default: []].append(function) }
      }
    }
  }

  /// The reason why a function gets no counterpart, if another function could have the same one; otherwise `nil`.
  ///
  /// A function with a higher rank, such as a deprecated one, or with a worse shape is no rival. Of two equal functions neither
  /// gets the counterpart.
  func refusal(_ function: CallbackFunction, _ kind: Counterpart.Kind) -> Refusal? {
    let rivals = function.counterpartKeys(kind).flatMap { functions[$0] ?? [] }.filter { other in
      let isOther = other.symbol.identifier.precise != function.symbol.identifier.precise
      return isOther && other.rank <= function.rank && !function.isPreferred(to: other)
    }
    guard !rivals.isEmpty else { return nil }
    let isForRival = rivals.contains { $0.isPreferred(to: function) }  // the reason then says: only the form differs
    // The entry `renames` applies to all functions of a title, so it cannot help if both titles are the same.
    let name = rivals.contains { $0.title == function.title } ? nil : function.declaration.otherName
    return .sameCounterpart(isForRival: isForRival, for: function.title, proposing: name)
  }
}

extension CallbackFunction {
  /// The rank among functions that would get the same counterpart; the lowest gets it.
  ///
  /// A queue raises the rank: a counterpart has none. A deprecation counts more, and most if it does not name the counterpart.
  fileprivate var rank: Int {
    let deprecation = isRenamedToCounterpart ? 2 : isDeprecated ? 4 : 0
    return deprecation + (callbacks.queue == nil ? 0 : 1)
  }

  /// Whether this function precedes `other`: its shape is better, its rank is no higher, and one counterpart suits both.
  fileprivate func isPreferred(to other: CallbackFunction) -> Bool {
    guard let shape = shapeRank, let otherShape = other.shapeRank, shape < otherShape else { return false }
    return rank <= other.rank && values == other.values && callbacks.labels == other.callbacks.labels
      && declaration.returnType.text == other.declaration.returnType.text
  }

  /// The rank of the callback's shape, 0 for the best; `nil` for a callback without a failure, and for other shapes.
  private var shapeRank: Int? {
    switch callbacks.shape {
    case .result: 0
    case .successOrFailure: 1
    case .valuesOrError(_, areOptional: true): 2
    case .valuesOrError(_, areOptional: false): 3
    case .error: 4
    case .values, .response, .repeated, .unknown: nil
    }
  }

  /// The types of the callback's values; a value `Void` counts as none.
  private var values: [String] {
    (callbacks.shape.values ?? []).filter { !CallbackShape.isVoid($0) }.map(\.text)
  }

  /// The keys by which functions compete for one counterpart: type, `where` clause, signature; then the same for each superclass.
  fileprivate func counterpartKeys(_ kind: Counterpart.Kind) -> [String] {
    scopes.map { "\($0)\(extensionConstraints()) \(counterpart(kind).key)" }
  }
}
