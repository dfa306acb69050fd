/// The parts of a counterpart's declaration that distinguish it from its overloads.
///
/// Callbacks can be all that distinguishes two overloads. A call of a counterpart has no callback, so it could run the
/// counterpart of the other overload, or the calling counterpart itself.
struct CounterpartSignature {
  /// The type, the name and the parameter types.
  ///
  /// Functions with the same key share a counterpart.
  let key: String

  /// The type and the base name.
  private let name: String
  private let parameters: [CallParameter]

  /// The types of the values that the counterpart returns.
  private let values: [String]

  init(of function: CallbackFunction, kind: Counterpart.Kind, _ aliases: TypeAliases) {
    let counterpart = function.counterpart(kind)
    let scope = function.scope.joined(separator: ".")
    key = "\(scope).\(counterpart.key)"
    name = "\(scope).\(counterpart.name)"
    let omitted = function.callbacks.omitted(by: kind)
    parameters = CallParameter.all(of: function.declaration, without: omitted, aliases)
    values = (function.callbacks.shape.values ?? []).filter { !CallbackShape.isVoid($0) }.map(\.text)
  }

  /// Whether a call of this counterpart with these argument labels could run `other` instead.
  ///
  /// In async code, the overload that needs fewer defaults wins. Two counterparts with the same parameters and other
  /// values are ambiguous.
  func canMean(_ other: CounterpartSignature, labels: [String]) -> Bool {
    guard name == other.name else { return false }
    if key == other.key { return values != other.values }
    guard let own = matched(labels), let others = other.matched(labels), others.leftOut < own.leftOut else {
      return false
    }
    return zip(own.parameters, others.parameters).allSatisfy { $0.canBe($1, ignoringTypes: false) }
  }

  /// The parameters that a call with these labels fills, and the number of others; `nil` if the call does not fit.
  private func matched(_ labels: [String]) -> (parameters: [CallParameter], leftOut: Int)? {
    var rest = labels[...]
    var filled: [CallParameter] = []
    var leftOut = 0
    // A closure can be a trailing closure, which has no label.
    for parameter in parameters where parameter.label != nil {
      if parameter.label == rest.first {
        rest.removeFirst()
        filled.append(parameter)
      } else if parameter.canBeLeftOut {
        leftOut += 1
      } else {
        return nil
      }
    }
    return rest.isEmpty ? (filled, leftOut) : nil
  }
}

extension [AwaitableFunction] {
  /// The function whose counterpart an await in place of a call could run instead of the called function's; else `nil`.
  func rival(of call: CallbackCall, in tokens: SourceTokens) -> AwaitableFunction? {
    guard let awaited = OwnText.awaited(call, self) else { return nil }
    let owner = call.owner.map { self[$0] }
    let arguments = awaited.site.arguments.map { tokens.arguments(in: $0) } ?? []
    let kept = arguments.filter { argument in
      awaited.keeps(
        argument,
        ownCallbacks: [owner?.callbackName, owner?.failureName],
        ownQueue: owner?.called.queue?.name,
        in: tokens
      )
    }
    let labels = kept.map { $0.label ?? "_" }
    let signature = self[call.target].signature
    return indices.first { index in
      index != call.target && (self[index].hasCounterpart || index == call.owner)
        && signature.canMean(self[index].signature, labels: labels)
    }.map { self[$0] }
  }

  /// The reason why a function does not get the counterpart that it shares with others; `nil` if it gets it.
  ///
  /// Functions that differ only in their callbacks share a counterpart. The function that does the work for the others
  /// gets the counterpart.
  func sharingRefusal(of function: Int, _ calls: [CallbackCall]) -> String? {
    let others = indices.filter { $0 != function && self[$0].signature.key == self[function].signature.key }
    guard !others.isEmpty else { return nil }
    let targets = Dictionary(grouping: calls.filter { $0.owner != nil }) { $0.owner }.mapValues { $0.map(\.target) }
    if let called = others.first(where: { doesCall(function, $0, targets) }) {
      return "it calls `\(self[called].title)`, which has the same counterpart, so the counterpart would call itself"
    }
    guard let claim = self[function].claimRefusal else { return nil }
    return others.allSatisfy { doesCall($0, function, targets) } ? nil : claim
  }

  /// Whether a function calls another one, also through functions.
  private func doesCall(_ function: Int, _ other: Int, _ targets: [Int?: [Int]]) -> Bool {
    var visited: Set<Int> = [function]
    var next = [function]
    while let caller = next.popLast() {
      for target in targets[caller] ?? [] where visited.insert(target).inserted {
        if target == other { return true }
        next.append(target)
      }
    }
    return false
  }
}
