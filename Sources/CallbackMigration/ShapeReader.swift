/// Reads the shape of a function's callback.
struct ShapeReader {
  let declaration: Declaration
  let aliases: TypeAliases
  let facts: TypeFacts
  let documentation: String
  let knowledge: FunctionKnowledge

  /// The callbacks, if one closure is for success and one for failure; otherwise `nil`.
  func pair(_ completions: [(index: Int, type: FunctionType)]) -> Callbacks? {
    guard let failure = failure(of: completions), let success = completions.first(where: { $0.index != failure })
    else { return nil }
    let values = success.type.parameters
    let refusal =
      typeRefusal(values) ?? scopeRefusal(values, success.index) ?? failureRefusal(values, success.type.labels)
    let shape =
      refusal.map(CallbackShape.unknown) ?? repetition(success.index, canFail: true) ?? .successOrFailure(values)
    let labels = usable(success.type.labels, for: shape)
    return Callbacks(shape: shape, labels: labels, completion: success.index, failure: failure)
  }

  /// The index of the closure for failure, if exactly one of two closures takes an error.
  ///
  /// The types tell success from failure. The labels do not matter.
  private func failure(of completions: [(index: Int, type: FunctionType)]) -> Int? {
    let failures = completions.filter { $0.type.parameters.count == 1 && aliases.isError($0.type.parameters[0]) }
    return completions.count == 2 && failures.count == 1 ? failures[0].index : nil
  }

  /// The names of the values, as the labels of a tuple.
  func labels(of type: FunctionType, _ shape: CallbackShape) -> [String] {
    guard case .unpacked(let inner, .tuple) = shape, let value = type.parameters.first else {
      return usable(type.labels, for: shape)
    }
    var reader = TokenReader(aliases.resolve(value))
    return usable(reader.takeBracketed("(", ")")?.elements.map(FunctionType.label) ?? [], for: inner)
  }

  private func usable(_ labels: [String], for shape: CallbackShape) -> [String] {
    guard let count = shape.values?.count, count > 1 else { return [] }
    // A `Result` of a tuple has the labels in the type of its value.
    let labels = labels.prefix(count).map { $0 == "_" ? "" : $0 }
    let names = labels.filter { !$0.isEmpty }
    return labels.count == count && !names.isEmpty && Set(names).count == names.count ? labels : []
  }

  func shape(_ type: FunctionType, _ index: Int) -> CallbackShape {
    let values = type.parameters
    if let refusal = typeRefusal(values) ?? scopeRefusal(values, index) { return .unknown(refusal) }
    let shape = typeShape(values)
    if let repetition = repetition(index, canFail: shape.isDivided) { return repetition }
    if knowledge.says(.optional), case .valuesOrError(let wrapped, areOptional: true) = shape,
      !wrapped.contains(where: CallbackShape.isVoid)
    {
      return .valuesOrError(values.dropLast(), areOptional: false)
    }
    guard case .values = shape else { return shape }
    if knowledge.says(.whole) { return shape }
    if values.count == 1, let unpacked = unpacked(values[0]) { return unpacked }
    return failureRefusal(values, type.labels).map(CallbackShape.unknown) ?? shape
  }

  /// The shape of a result inside a single value; `nil` if there is none, or if it cannot be unpacked.
  private func unpacked(_ value: ArraySlice<Token>) -> CallbackShape? {
    var reader = TokenReader(aliases.resolve(value))
    if let inside = reader.takeBracketed("(", ")"), reader.isAtEnd, inside.elements.count > 1 {
      let shape = typeShape(inside.elements.map(FunctionType.withoutLabel))
      switch shape {
      case .valuesOrError(let values, areOptional: true) where values.count < 3: break
      case .valuesOrError(_, areOptional: false): break
      default: return nil
      }
      return .unpacked(shape, .tuple(inside.elements.count))
    }
    switch facts.members.failure(in: value, aliases) {
    case .result(let value, let failure)?: return .unpacked(.result(value: value, failure: failure), .result)
    case .cases(let success, let value, let failure)?:
      let values = value.map { CallbackShape.isVoid($0) ? [] : [$0] } ?? []
      let unpacking = Unpacking.cases(success: success, hasValue: value != nil, failure: failure)
      return .unpacked(.successOrFailure(values), unpacking)
    case .hidden?, nil: return nil
    }
  }

  /// The reason why a value could hold a failure that a counterpart would return.
  private func failureRefusal(_ values: [ArraySlice<Token>], _ labels: [String]) -> Refusal? {
    guard !knowledge.says(.whole) else { return nil }
    func refusal(_ reason: String) -> Refusal { Refusal(reason, .whole, knowledge.title) }
    for (value, label) in zip(values, labels) {
      let type = aliases.resolve(value)
      if aliases.isError(aliases.wrapped(type) ?? type) {
        return refusal("its callback gets an error that is not its last value")
      }
      if CallbackNames.hasWord(label, like: ["error", "fail"]) {
        return refusal("its callback's `\(label)` might be a failure")
      }
      for token in type {
        if token.type == "s:s6ResultO" || token.type == "s:s5ErrorP" {
          return refusal("`\(type.text)` might hold a failure")
        }
        if facts.isForeignError(token) {
          return .unknownError("nothing here says whether `\(token.text)` is an error", token.text)
        }
        if facts.members.failure(in: [token], aliases) != nil || facts.isForeignResponse(token) {
          return refusal("`\(token.text)` might hold a failure")
        }
      }
    }
    return nil
  }

  /// The shape that the type alone decides.
  private func typeShape(_ values: [ArraySlice<Token>]) -> CallbackShape {
    if values.count == 1, let (value, failure) = aliases.result(values[0]) {
      return .result(value: value, failure: failure)
    }
    if let last = values.last, let error = aliases.wrapped(last), aliases.isError(error) {
      let rest = values.dropLast().map { $0 }
      let wrapped = rest.compactMap { aliases.wrapped($0) }
      if rest.isEmpty { return .error }
      return wrapped.count == rest.count
        ? .valuesOrError(wrapped, areOptional: true) : .valuesOrError(rest, areOptional: false)
    }
    if let last = values.last, aliases.isError(last) { return .unknown(Refusal("its only closure gets an error")) }
    return .values(values)
  }

  /// The reason why values of these types cannot be returned.
  private func typeRefusal(_ values: [ArraySlice<Token>]) -> Refusal? {
    if values.contains(where: { aliases.functionType(of: $0) != nil }) { return Refusal("it is given a closure") }
    for value in values {
      if let word = Declaration.Parameter.ownershipWords.first(where: { $0 == value.first?.text }) {
        return Refusal("its callback's parameter is `\(word)`")
      }
      if value.last?.text == "..." { return Refusal("its callback is variadic") }
    }
    if values.count > 1, values.contains(where: { aliases.result($0) != nil }) {
      return Refusal("its callback gets a context and a result; write an async function that takes a closure")
    }
    return nil
  }

  /// The reason why the values cannot leave the callback.
  private func scopeRefusal(_ values: [ArraySlice<Token>], _ index: Int) -> Refusal? {
    let advice = "write an async function that takes a closure"
    if knowledge.says(.scoped) {
      return Refusal("\(MigrationConfiguration.fileName) says that its values are scoped; \(advice)")
    }
    guard !knowledge.says(.once) else { return nil }
    func refusal(_ reason: String) -> Refusal { Refusal("\(reason); \(advice)", .once, knowledge.title) }
    let all = values.flatMap { aliases.resolve($0) }
    if let pointer = all.first(where: { CallbackNames.isPointer($0.text) }) {
      return refusal("`\(pointer.text)` is valid inside the callback only")
    }
    if CallbackNames.isScoped(function: declaration.plainName), let type = all.first(where: facts.isUnsharedReference) {
      return refusal("`\(type.text)` might be valid inside the callback only")
    }
    if let (type, lender) = all.lazy.compactMap({ type in facts.lender(of: type).map { (type, $0) } }).first {
      return refusal("`\(type.text)`, which `\(lender)` lends, might be valid inside the callback only")
    }
    let isShared = values.allSatisfy { facts.sendability(of: $0, []) == .yes }
    if !isShared, let phrase = CallbackNames.forbidsKeeping(documentation) {
      return refusal("its documentation says \"\(phrase)\"")
    }
    return nil
  }

  /// `repeated` or `unknown`, unless the names or the package say that the callback comes once.
  ///
  /// A callback that can fail is the end of its work, and comes once unless a name or the documentation says otherwise.
  private func repetition(_ index: Int, canFail: Bool) -> CallbackShape? {
    if knowledge.says(.many) {
      return .repeated(Refusal("\(MigrationConfiguration.fileName) says that its callback comes many times"))
    }
    if knowledge.says(.once) { return nil }
    let parameter = declaration.parameters[index]
    let mightRepeat = CallbackNames.mightRepeat(function: declaration.plainName)
    switch CallbackNames.repetition(function: declaration.plainName, parameter: [parameter.label, parameter.name]) {
    case .once: return nil
    case .many:
      let reason = "its callback may come again and again; `callbackStream` makes a sequence of it"
      return .repeated(Refusal(reason, .once, knowledge.title))
    case .unknown where canFail && !mightRepeat:
      guard let phrase = CallbackNames.phraseForManyCalls(in: documentation) else { return nil }
      return .unknown(Refusal("its documentation says \"\(phrase)\"", .once, knowledge.title))
    case .unknown:
      return .unknown(.unknownRepetition(of: parameter.name, knowledge.title))
    }
  }
}
