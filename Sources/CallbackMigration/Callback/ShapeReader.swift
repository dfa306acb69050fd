/// Reads the shape of a function's callback.
struct ShapeReader {
  let declaration: Declaration
  let aliases: TypeAliases
  let facts: TypeFacts
  let documentation: String
  let knowledge: FunctionKnowledge

  /// The bodies that can run, for the callbacks with these indices.
  let bodies: (Set<Int>) -> [FunctionBody]

  /// The callbacks, if one closure is for success and one for failure; otherwise `nil`.
  func pair(_ completions: [(index: Int, type: FunctionType)]) -> Callbacks? {
    guard let failure = failure(of: completions), let success = completions.first(where: { $0.index != failure })
    else { return nil }
    let values = success.type.parameters
    let refusal =
      typeRefusal(values) ?? scopeRefusal(values, success.index) ?? errorRefusal(values)
    let shape =
      refusal.map(CallbackShape.unknown) ?? repetition(success.index, canFail: true) ?? .successOrFailure(values)
    let labels = usable(success.type.labels, for: shape)
    var callbacks = Callbacks(shape: shape, labels: labels, completion: success.index, failure: failure)
    if case .successOrFailure = shape { callbacks.returnedFailure = returnedFailure(values, success.type.labels) }
    return callbacks
  }

  /// The index of the closure for failure, if exactly one of two closures takes an error.
  ///
  /// The types tell success from failure. The labels do not matter.
  private func failure(of completions: [(index: Int, type: FunctionType)]) -> Int? {
    let failures = completions.filter { $0.type.parameters.count == 1 && aliases.isError($0.type.parameters[0]) }
    return completions.count == 2 && failures.count == 1 ? failures[0].index : nil
  }

  /// The names of the values, as the labels of a tuple; empty if they cannot be.
  func usable(_ labels: [String], for shape: CallbackShape) -> [String] {
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
    if case .valuesOrError(let wrapped, areOptional: true) = shape, !wrapped.contains(where: CallbackShape.isVoid),
      knowledge.says(.optional) || lineWithoutValue(index) != nil
    {
      return .valuesOrError(values.dropLast(), areOptional: false)
    }
    guard case .values = shape else { return shape }
    if knowledge.says(.whole) { return shape }
    if values.count == 1, case .result(let value, let failure)? = facts.members.failure(in: values[0], aliases) {
      return .response(value: value, failure: failure)
    }
    return errorRefusal(values).map(CallbackShape.unknown) ?? shape
  }

  /// The line of a body that calls back with neither an error nor a value; `nil` if there is none.
  func lineWithoutValue(_ index: Int) -> Int? { bodies([index]).lazy.compactMap(\.lineWithoutValue).first }

  /// The reason why a value is, or could be, an error that a counterpart would return.
  private func errorRefusal(_ values: [ArraySlice<Token>]) -> Refusal? {
    guard !knowledge.says(.whole) else { return nil }
    for type in values.map(aliases.resolve) {
      if aliases.isError(aliases.wrapped(type) ?? type) { return .errorIsNotLast(knowledge.title) }
      if let foreign = type.first(where: facts.isForeignError) { return .mightBeError(foreign.text) }
    }
    return nil
  }

  /// The value that holds a failure, or could hold one, although its type is no error.
  func returnedFailure(_ values: [ArraySlice<Token>], _ labels: [String]) -> Refusal? {
    guard !knowledge.says(.whole) else { return nil }
    for (value, label) in zip(values, labels) {
      let type = aliases.resolve(value)
      if CallbackNames.hasWord(label, like: ["error", "fail"]) {
        let bare = aliases.wrapped(type) ?? type
        return .returnsNoError(label, bare.text, isOwn: bare.count == 1 && bare.allSatisfy(facts.isOwn))
      }
      for token in type {
        if token.type == "s:s6ResultO" || aliases.isError([token]) {
          return .returnsFailure(in: type.text)
        }
        if facts.members.failure(in: [token], aliases) != nil || facts.isForeignResponse(token) {
          return .returnsFailure(in: token.text)
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
    if let last = values.last, aliases.isError(last) { return .unknown(.onlyError) }
    return .values(values)
  }

  /// The reason why values of these types cannot be returned.
  private func typeRefusal(_ values: [ArraySlice<Token>]) -> Refusal? {
    if values.contains(where: { aliases.functionType(of: $0) != nil }) { return .givesClosure }
    for value in values {
      if let word = Declaration.Parameter.ownershipWords.first(where: { $0 == value.first?.text }) {
        return .callbackParameter(is: word)
      }
      if value.last?.text == "..." { return .variadicCallback }
    }
    if values.count > 1, values.contains(where: { aliases.result($0) != nil }) {
      return .contextAndResult
    }
    return nil
  }

  /// The reason why the values cannot leave the callback.
  private func scopeRefusal(_ values: [ArraySlice<Token>], _ index: Int) -> Refusal? {
    let title = knowledge.title
    guard !knowledge.says(.once) else { return nil }
    let all = values.flatMap { aliases.resolve($0) }.flatMap { aliases.resolve([$0]) }
    if let pointer = all.first(where: { CallbackNames.isPointer($0.text) }) {
      return .isValidInside(pointer.text, title)
    }
    // The handler of a result is the end of the work.
    let isResult = typeShape(values).isDivided && CallbackNames.isCompletion(declaration.parameters[index])
    if CallbackNames.isScoped(function: declaration.plainName, givesResult: isResult),
      let type = all.first(where: facts.isUnsharedReference)
    {
      return .mightBeValidInside(type.text, title)
    }
    if let (type, lender) = all.lazy.compactMap({ type in facts.lender(of: type).map { (type, $0) } }).first {
      return .mightBeValidInside(type.text, lentBy: lender, title)
    }
    let isShared = values.allSatisfy { facts.sendability(of: $0, []) == .yes }
    if !isShared, let phrase = CallbackNames.forbidsKeeping(documentation) {
      return .documentationForbidsKeeping(phrase, title)
    }
    return nil
  }

  /// `repeated` or `unknown`, unless the names or the package say that the callback comes once.
  ///
  /// A callback that can fail is the end of its work, and comes once unless a name or the documentation says otherwise.
  private func repetition(_ index: Int, canFail: Bool) -> CallbackShape? {
    if knowledge.says(.once) { return nil }
    let parameter = declaration.parameters[index]
    let mightRepeat = CallbackNames.mightRepeat(function: declaration.plainName)
    switch CallbackNames.repetition(function: declaration.plainName, parameter: [parameter.label, parameter.name]) {
    case .once: return nil
    case .many: return .repeated(.comesAgain(knowledge.title))
    case .unknown where canFail && !mightRepeat:
      guard let phrase = CallbackNames.phraseForManyCalls(in: documentation) else { return nil }
      return .unknown(.documentationOfRepetition(phrase, knowledge.title))
    case .unknown:
      return .unknown(.unknownRepetition(of: parameter.name, knowledge.title))
    }
  }
}
