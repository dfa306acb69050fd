/// Reads the shape of a function's callback.
struct ShapeReader {
  let declaration: Declaration
  let aliases: TypeAliases
  let facts: TypeFacts
  let documentation: String
  let knowledge: FunctionKnowledge

  /// The bodies that can run, for the callbacks with these indices.
  let bodies: (Set<Int>) -> [FunctionBody]

  /// The callbacks of a function with one closure for success and one for failure; `nil` for other functions.
  ///
  /// The failure closure has one parameter, an error. A pair that is refused or might repeat is `unknown` or `repeated`.
  func pair(_ completions: [(index: Int, type: FunctionType)]) -> Callbacks? {
    let failures = completions.filter { $0.type.parameters.count == 1 && aliases.isError($0.type.parameters[0]) }
    guard completions.count == 2, failures.count == 1 else { return nil }
    let failure = failures[0].index
    let success = completions[completions[0].index == failure ? 1 : 0]
    let values = success.type.parameters
    let refusal = typeRefusal(values) ?? lifetimeRefusal(values, success.index) ?? errorRefusal(values)
    let shape =
      refusal.map(CallbackShape.unknown) ?? repeatedShape(success.index, canFail: true) ?? .successOrFailure(values)
    let labels = tupleLabels(success.type.labels, for: shape)
    var callbacks = Callbacks(shape: shape, labels: labels, completion: success.index, failure: failure)
    if case .successOrFailure = shape { callbacks.returnedFailure = returnedFailure(values, success.type.labels) }
    return callbacks
  }

  /// The labels for a tuple of the values, from the callback's parameters; empty without a tuple or a label, or if one repeats.
  func tupleLabels(_ labels: [String], for shape: CallbackShape) -> [String] {
    guard let count = shape.values?.count, count > 1 else { return [] }
    // The label of the error follows those of the values.
    let labels = labels.prefix(count).map { $0 == "_" ? "" : $0 }
    let names = labels.filter { !$0.isEmpty }
    return !names.isEmpty && Set(names).count == names.count ? labels : []
  }

  /// The shape of the only callback, which is the parameter at `index`.
  func shape(_ type: FunctionType, _ index: Int) -> CallbackShape {
    let values = type.parameters
    if let refusal = typeRefusal(values) ?? lifetimeRefusal(values, index) { return .unknown(refusal) }
    let shape = typeShape(values)
    if let other = repeatedShape(index, canFail: shape.givesValuesOrFailure) { return other }
    if case .valuesOrError(let wrapped, areOptional: true) = shape, !wrapped.contains(where: CallbackShape.isVoid),
      knowledge.isListed(in: .optional) || lineWithoutValue(index) != nil
    {
      // A success can have `nil`, so the counterpart returns the optionals as they are. An optional `Void` would carry no value.
      return .valuesOrError(values.dropLast(), areOptional: false)  // `false`: a `nil` does not mean an error
    }
    guard case .values = shape else { return shape }  // any other shape has its error already, or is refused
    if !knowledge.isListed(in: .whole), values.count == 1,  // the configuration can want the value returned as it is
      case .result(let value, let failure)? = facts.members.failure(in: values[0], aliases)
    {
      return .response(value: value, failure: failure)  // the value has a property `result`
    }
    return errorRefusal(values).map(CallbackShape.unknown) ?? shape
  }

  /// The line of a body that calls back with neither an error nor a value; `nil` if there is none.
  func lineWithoutValue(_ index: Int) -> Int? { bodies([index]).lazy.compactMap(\.lineWithoutValue).first }

  /// The reason not to return the values: one is an error, or its type contains a foreign type named like an error; else `nil`.
  private func errorRefusal(_ values: [ArraySlice<Token>]) -> Refusal? {
    guard !knowledge.isListed(in: .whole) else { return nil }  // the configuration wants such a value returned as it is
    for type in values.map(aliases.resolve) {
      if aliases.isError(aliases.wrapped(type) ?? type) { return .errorAmongValues(knowledge.title) }
      for part in type where facts.isForeignError(part) && !aliases.isError([part]) { return .mightBeError(part.text) }
    }
    return nil
  }

  /// The note that a counterpart returns a failure, or a value that might hold one; `nil` if it returns neither.
  func returnedFailure(_ values: [ArraySlice<Token>], _ labels: [String]) -> Refusal? {
    guard !knowledge.isListed(in: .whole) else { return nil }  // the configuration wants such a value returned as it is
    for (value, label) in zip(values, labels) {
      let type = aliases.resolve(value)
      // `errorRefusal` has refused values whose type is an error, so only the name suggests one.
      if CallbackNames.hasWord(label, like: ["error", "fail"]) {
        let bare = aliases.wrapped(type) ?? type  // a plain own type can be extended, which the note then proposes
        return .returnsNoError(label, bare.text, isOwn: bare.count == 1 && bare.allSatisfy(facts.isOwn))
      }
      for token in type {
        if token.type == "s:s6ResultO" || aliases.isError([token]) {  // Swift.Result
          return .returnsFailure(in: type.text)  // the whole type, such as `[Error]`, because a failure is a part of it
        }
        if facts.members.failure(in: [token], aliases) != nil || facts.isForeignResponse(token) {
          return .returnsFailure(in: token.text)  // the type with the members or the name that suggest a failure
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
      let rest = Array(values.dropLast())
      if rest.isEmpty { return .error }
      let wrapped = rest.compactMap { aliases.wrapped($0) }
      return wrapped.count == rest.count  // if only some values are optional, a success can have `nil`
        ? .valuesOrError(wrapped, areOptional: true) : .valuesOrError(rest, areOptional: false)
    }
    if let last = values.last, aliases.isError(last) { return .unknown(.onlyError) }  // not optional: no call succeeds
    return .values(values)
  }

  /// The reason not to return such values, else `nil`; a context beside a `Result` might be valid inside the callback only.
  private func typeRefusal(_ values: [ArraySlice<Token>]) -> Refusal? {
    if values.contains(where: { aliases.functionType(of: $0) != nil }) { return .givesClosure }
    for value in values {
      if let word = Declaration.Parameter.ownershipWords.first(where: { $0 == value.first?.text }) {
        return .callbackParameter(hasOwnership: word)
      }
      if value.last?.text == "..." { return .variadicCallback }
    }
    if values.count > 1, values.contains(where: { aliases.result($0) != nil }) { return .contextAndResult }
    return nil
  }

  /// The reason why the values might be invalid after the callback, the parameter at `index`; `nil` if there is none.
  private func lifetimeRefusal(_ values: [ArraySlice<Token>], _ index: Int) -> Refusal? {
    let title = knowledge.title
    guard !knowledge.isListed(in: .once) else { return nil }  // `.once` also says that the values stay valid afterwards
    // All names of types in the values. Each token is resolved, too, because an alias can be a part of a type: `[Alias]`.
    let all = values.flatMap { aliases.resolve($0) }.flatMap { aliases.resolve([$0]) }
    if let pointer = all.first(where: { CallbackNames.isPointer($0.text) }) {
      return .isValidInside(pointer.text, title)
    }
    // A result comes after the work, so a word such as `read` does not mean lending then. `with` as first word still does.
    let isNamedCompletion = declaration.parameters[index].isNamed(like: CallbackNames.completions)
    let isResult = isNamedCompletion && typeShape(values).givesValuesOrFailure  // the parameter's name and type say so
    if CallbackNames.lendsValues(function: declaration.plainName, givesResult: isResult),
      let type = all.first(where: facts.isUnsharedReference)  // class, protocol or foreign alias, maybe not `Sendable`
    {
      return .mightBeValidInside(type.text, title)
    }
    for type in all {  // a function of the module, such as `read(_:)`, can lend values of the type to a closure
      if let lender = facts.lender(of: type) { return .mightBeValidInside(type.text, lentBy: lender, title) }
    }
    // Sendable values stay valid after the call, so a phrase such as "do not keep" means something else.
    let areSendable = values.allSatisfy { facts.sendability(of: $0, []) == .yes }
    if !areSendable, let phrase = CallbackNames.phrase(of: CallbackNames.lendings, in: documentation) {
      return .documentationForbidsKeeping(phrase, title)
    }
    return nil
  }

  /// The shape `repeated` or `unknown`; `nil` if the callback comes once.
  ///
  /// A callback that can fail is the end of its work, and comes once unless a name or the documentation says otherwise.
  private func repeatedShape(_ index: Int, canFail: Bool) -> CallbackShape? {
    if knowledge.isListed(in: .once) { return nil }  // the configuration says that the callback comes once
    let parameter = declaration.parameters[index]
    let mightRepeat = CallbackNames.mightRepeat(function: declaration.plainName)
    switch CallbackNames.repetition(function: declaration.plainName, parameter: [parameter.label, parameter.name]) {
    case .once: return nil
    case .many: return .repeated(.comesAgain(knowledge.title))
    case .unknown where canFail && !mightRepeat:
      let phrase = CallbackNames.phrase(of: CallbackNames.repetitions, in: documentation)
      return phrase.map { .unknown(.documentationOfRepetition($0, knowledge.title)) }
    case .unknown:
      return .unknown(.unknownRepetition(of: parameter.name, knowledge.title))
    }
  }
}
