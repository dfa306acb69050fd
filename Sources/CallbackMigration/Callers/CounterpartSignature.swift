/// The signature of a function's counterpart, which tells whether a call could mean another counterpart.
///
/// Callbacks distinguish overloads. Their counterparts have no callbacks, so a call of one can run another, or itself.
struct CounterpartSignature {
  private struct Parameter {
    let label: String
    let type: String
    let canBeLeftOut: Bool
    let isClosure: Bool

    /// Whether values of several types fit, as the type of a generic parameter or `any P` says.
    let isOpen: Bool

    /// Whether an argument can fit this parameter and another one, as far as the types show.
    func overlaps(_ other: Parameter) -> Bool {
      type == other.type || isOpen || other.isOpen
    }
  }

  /// The type, the name and the parameter types.
  ///
  /// Functions with the same key share a counterpart.
  let key: String

  /// The type and the base name.
  private let name: String
  private let parameters: [Parameter]
  private let values: [String]

  init(of function: CallbackFunction, kind: Counterpart.Kind) {
    let counterpart = function.counterpart(kind)
    let scope = function.scope.joined(separator: ".")
    key = "\(scope).\(counterpart.key)"
    name = "\(scope).\(counterpart.name)"
    let omitted = function.callbacks.omitted(by: kind)
    let declaration = function.declaration
    parameters = declaration.parameters.indices.filter { !omitted.contains($0) }.map { index in
      let parameter = declaration.parameters[index]
      return Parameter(
        label: parameter.label,
        type: parameter.type.text,
        canBeLeftOut: parameter.defaultValue != nil || parameter.isVariadic,
        isClosure: parameter.type.contains { $0.text == "->" },
        isOpen: parameter.type.contains { token in
          ["any", "some", "Any", "AnyObject"].contains(token.text) || declaration.genericParameters.contains(token.text)
        }
      )
    }
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
    return zip(own.parameters, others.parameters).allSatisfy { $0.overlaps($1) }
  }

  /// The parameters that a call with these labels fills, and the number of others; `nil` if the call does not fit.
  private func matched(_ labels: [String]) -> (parameters: [Parameter], leftOut: Int)? {
    var rest = labels[...]
    var filled: [Parameter] = []
    var leftOut = 0
    for parameter in parameters where !parameter.isClosure {
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
    guard let site = call.site else { return nil }
    let target = self[call.target]
    var omitted = Set(target.omittedLabels)
    if let queue = target.called.queue, !queue.isKept { omitted.insert(queue.label) }
    let arguments = site.arguments.map { tokens.arguments(in: $0) } ?? []
    let labels = arguments.filter { argument in
      let isOmitted = argument.label.map(omitted.contains) == true
      return !isOmitted && tokens[argument.value.lowerBound] != "{"
    }.map { $0.label ?? "_" }
    return indices.first { index in
      index != call.target && (self[index].hasCounterpart || index == call.owner)
        && target.signature.canMean(self[index].signature, labels: labels)
    }.map { self[$0] }
  }

  /// The reason why a function does not get the counterpart that it shares with others; `nil` if it gets it.
  ///
  /// Functions that differ only in their callbacks share one. It goes to the function that does the work for the others.
  func sharingRefusal(of function: Int, _ calls: [CallbackCall]) -> String? {
    let others = indices.filter { $0 != function && self[$0].signature.key == self[function].signature.key }
    guard !others.isEmpty else { return nil }
    let targets = Dictionary(grouping: calls.filter { $0.owner != nil }) { $0.owner }.mapValues { $0.map(\.target) }
    if let called = others.first(where: { doesCall(function, $0, targets) }) {
      return "it calls another function with its counterpart, `\(self[called].title)`, so that would call itself"
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
