/// The shape of a callback: its result, progress and handle.
package indirect enum CallbackShape {
  /// One parameter, a `Result`.
  case result(value: ArraySlice<Token>, failure: ArraySlice<Token>)

  /// Values, each optional or none of them, and an optional error.
  case valuesOrError([ArraySlice<Token>], areOptional: Bool)

  /// Values, or nothing, and no error.
  case values([ArraySlice<Token>])

  /// An optional error.
  case error

  /// One closure for success and one for failure.
  case successOrFailure([ArraySlice<Token>])

  /// One value that holds the parts of another shape.
  case unpacked(CallbackShape, Unpacking)

  /// The callback can come more than once.
  case repeated(Refusal)

  /// A shape for which no counterpart can be written.
  case unknown(Refusal)

  /// The name of the shape in reports.
  package var name: String {
    switch self {
    case .result: "Result"
    case .valuesOrError(let values, areOptional: true): values.count == 1 ? "value?, error?" : "values?, error?"
    case .valuesOrError(let values, areOptional: false): values.count == 1 ? "value, error?" : "values, error?"
    case .values(let values): values.isEmpty ? "nothing" : values.count == 1 ? "value" : "values"
    case .error: "error?"
    case .successOrFailure: "success, failure"
    case .unpacked(let shape, let unpacking): "\(shape.name) in \(unpacking.name)"
    case .repeated: "many times"
    case .unknown: "unknown"
    }
  }

  /// The result type of an async function, or `nil` if unknown.
  var values: [ArraySlice<Token>]? {
    switch self {
    case .result(let value, _): Self.isVoid(value) ? [] : [value]
    case .valuesOrError(let values, _), .values(let values), .successOrFailure(let values): values
    case .unpacked(let shape, _): shape.values
    case .error: []
    case .repeated, .unknown: nil
    }
  }

  /// The type of its errors; `nil` where that is any error, or none.
  var typedFailure: ArraySlice<Token>? {
    switch self {
    case .result(_, let failure), .unpacked(.result(_, let failure), _):
      let isAny = ["any Error", "Error", "any Swift.Error", "Swift.Error", "Never"].contains(failure.text)
      return isAny ? nil : failure
    default: return nil
    }
  }

  /// Whether the callback gets either values or a failure.
  fileprivate var canFail: Bool {
    switch self {
    case .result, .successOrFailure, .valuesOrError(_, areOptional: true): true
    case .valuesOrError(_, areOptional: false), .error, .values, .unpacked, .repeated, .unknown: false
    }
  }

  static func isVoid(_ type: ArraySlice<Token>) -> Bool { type.text == "Void" || type.text == "()" }
}

/// How the parts are taken out of a value.
package enum Unpacking {
  /// The property `result` of the value.
  case result

  /// A tuple with this number of elements.
  case tuple(Int)

  /// The cases of an enum, and whether success has a value.
  case cases(success: String, hasValue: Bool, failure: String)

  fileprivate var name: String {
    switch self {
    case .result: "a response"
    case .tuple: "a tuple"
    case .cases: "an enum"
    }
  }
}

/// How a closure reports the progress of the work.
package enum ProgressShape {
  /// As a fraction of a floating-point type.
  case fraction(type: String)

  /// Two counts: the finished units and the total, which can be unknown.
  case counts(isTotalOptional: Bool)
}

/// The callbacks among the parameters of a function.
package struct Callbacks {
  package let shape: CallbackShape

  /// The names of its values; empty if no value has one.
  var labels: [String] = []

  /// The parameter for the result, or the success.
  package let completion: Int

  /// The parameter for a failure, if it has its own.
  var failure: Int?

  package var progress: (parameter: Int, shape: ProgressShape)?

  /// The parameter that only names the queue of the callback, and the argument of a counterpart.
  var queue: QueueParameter?

  /// The callbacks themselves.
  var callbacks: Set<Int> { failure.map { [completion, $0] } ?? [completion] }

  /// The parameters that callers of an async function do not give.
  package var omitted: Set<Int> { callbacks.union(queue.map { [$0.index] } ?? []) }

  /// The parameters that callers of a counterpart do not give; a future has progress of its own.
  func omitted(by kind: Counterpart.Kind) -> Set<Int> {
    switch kind {
    case .async: omitted
    case .future: omitted.union(progress.map { [$0.parameter] } ?? [])
    case .callback: []
    }
  }
}

extension Callbacks {
  /// Whether a function has a callback that does not escape, so that it comes before the function returns.
  static func isNonescaping(in declaration: Declaration, _ aliases: TypeAliases) -> Bool {
    guard !declaration.isAsync else { return false }
    return declaration.parameters.contains { parameter in
      guard let type = aliases.functionType(of: parameter.type), type.returnsNothing, type.effects.isEmpty,
        parameter.isNamed(like: CallbackNames.callbacks)
      else { return false }
      let escapes = parameter.specifiers.contains("@escaping") || aliases.isOptional(parameter.type)
      return !escapes && !parameter.specifiers.contains("@autoclosure")
    }
  }

  /// Finds the callbacks of a function; `nil` if it takes none.
  ///
  /// The type of a closure decides its shape. The names decide whether it is called once. If neither they nor the
  /// package's own configuration settle that, the shape is `unknown`.
  init?(
    _ declaration: Declaration,
    _ aliases: TypeAliases,
    _ facts: TypeFacts,
    documentation: String,
    _ knowledge: FunctionKnowledge
  ) {
    var completions: [(index: Int, type: FunctionType)] = []
    var progress: (parameter: Int, shape: ProgressShape)?
    for (index, parameter) in declaration.parameters.enumerated() {
      guard let type = aliases.functionType(of: parameter.type), type.returnsNothing else { continue }
      // A closure that throws or awaits is work to do, unless its name says otherwise.
      guard type.effects.isEmpty || parameter.isNamed(like: CallbackNames.callbacks) else { continue }
      let specifiers = parameter.specifiers
      guard !specifiers.contains("@autoclosure") else { continue }
      let isEscaping = specifiers.contains("@escaping") || aliases.isOptional(parameter.type)
      guard isEscaping else { continue }
      if parameter.isNamed(like: ["progress"]) {
        if let shape = ProgressShape(type), progress == nil { progress = (index, shape) }
      } else {
        completions.append((index, type))
      }
    }
    guard let first = completions.first else { return nil }
    let reader = ShapeReader(
      declaration: declaration,
      aliases: aliases,
      facts: facts,
      documentation: documentation,
      knowledge: knowledge
    )
    if let pair = reader.pair(completions) {
      self = pair
    } else if completions.count == 1 {
      let shape = reader.shape(first.type, first.index)
      self.init(shape: shape, labels: reader.labels(of: first.type, shape), completion: first.index)
    } else {
      self.init(shape: .unknown(Refusal("it takes \(completions.count) callbacks")), completion: first.index)
    }
    self.progress = progress
    queue = QueueParameter(declaration, aliases, knowledge.value(.queue))
  }
}

/// Reads the shape of a function's callback.
private struct ShapeReader {
  let declaration: Declaration
  let aliases: TypeAliases
  let facts: TypeFacts
  let documentation: String
  let knowledge: FunctionKnowledge

  /// One closure for success and one for failure, if these are such.
  func pair(_ completions: [(index: Int, type: FunctionType)]) -> Callbacks? {
    guard completions.count == 2 else { return nil }
    // The types tell success from failure. The labels do not matter.
    let failures = completions.filter { $0.type.parameters.count == 1 && aliases.isError($0.type.parameters[0]) }
    guard failures.count == 1, let failure = failures.first,
      let success = completions.first(where: { $0.index != failure.index })
    else { return nil }
    let values = success.type.parameters
    let refusal = typeRefusal(values) ?? scopeRefusal(values) ?? failureRefusal(values, success.type.labels)
    let shape =
      refusal.map(CallbackShape.unknown) ?? repetition(success.index, canFail: true) ?? .successOrFailure(values)
    let labels = usable(success.type.labels, for: shape)
    return Callbacks(shape: shape, labels: labels, completion: success.index, failure: failure.index)
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
    if let refusal = typeRefusal(values) ?? scopeRefusal(values) { return .unknown(refusal) }
    let shape = typeShape(values)
    if let repetition = repetition(index, canFail: shape.canFail) { return repetition }
    guard case .values = shape else { return shape }
    if knowledge.says(.whole) { return shape }
    if values.count == 1, let unpacked = unpacked(values[0]) { return unpacked }
    return failureRefusal(values, type.labels).map(CallbackShape.unknown) ?? shape
  }

  /// The shape inside of a value.
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

  /// The reason why its values cannot leave the callback.
  private func scopeRefusal(_ values: [ArraySlice<Token>]) -> Refusal? {
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
    switch CallbackNames.repetition(function: declaration.plainName, parameter: [parameter.label, parameter.name]) {
    case .once: return nil
    case .many:
      let reason = "its callback may come again and again; `callbackStream` makes a sequence of it"
      return .repeated(Refusal(reason, .once, knowledge.title))
    case .unknown where canFail && !CallbackNames.mightRepeat(function: declaration.plainName):
      guard let phrase = CallbackNames.saysMany(documentation) else { return nil }
      return .unknown(Refusal("its documentation says \"\(phrase)\"", .once, knowledge.title))
    case .unknown:
      return .unknown(Refusal("nothing says whether `\(parameter.name)` is called once", .once, knowledge.title))
    }
  }
}

extension Declaration.Parameter {
  func isNamed(like beginnings: [String]) -> Bool {
    [label, name].contains { CallbackNames.hasWord($0, like: beginnings) }
  }
}

extension ProgressShape {
  fileprivate init?(_ type: FunctionType) {
    let types = type.parameters.map(\.text)
    switch types {
    case ["Double"], ["Float"], ["CGFloat"]: self = .fraction(type: types[0])
    case ["Int64", "Int64"], ["Int", "Int"]: self = .counts(isTotalOptional: false)
    case ["Int64", "Int64?"], ["Int", "Int?"]: self = .counts(isTotalOptional: true)
    default: return nil
    }
  }
}
