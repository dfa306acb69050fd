/// How a callback gets its result: by a `Result`, by a value and an error, or otherwise.
package enum CallbackShape {
  /// One parameter, a `Result`.
  case result(value: ArraySlice<Token>, failure: ArraySlice<Token>)

  /// Values and an optional error; `areOptional` if each value is missing exactly when there is an error.
  case valuesOrError([ArraySlice<Token>], areOptional: Bool)

  /// Values without an error; no values for `() -> Void`.
  case values([ArraySlice<Token>])

  /// An optional error.
  case error

  /// One closure for success and one for failure.
  case successOrFailure([ArraySlice<Token>])

  /// One value with a property `result`.
  case response(value: ArraySlice<Token>, failure: ArraySlice<Token>)

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
    case .response: "Result in a response"
    case .repeated: "many times"
    case .unknown: "unknown"
    }
  }

  /// The values that an async counterpart returns; `nil` if they are unknown.
  var values: [ArraySlice<Token>]? {
    switch self {
    case .result(let value, _), .response(let value, _): Self.isVoid(value) ? [] : [value]
    case .valuesOrError(let values, _), .values(let values), .successOrFailure(let values): values
    case .error: []
    case .repeated, .unknown: nil
    }
  }

  /// The callback's own error type; `nil` for `any Error`, and without an error.
  var typedFailure: ArraySlice<Token>? {
    switch self {
    case .result(_, let failure), .response(_, let failure):
      failure.isAnyError || failure.text == "Never" ? nil : failure
    default: nil
    }
  }

  /// Whether the type shows that the callback gets either values or a failure, so that its call ends the work.
  var givesValuesOrFailure: Bool {
    switch self {
    case .result, .successOrFailure, .valuesOrError(_, areOptional: true): true
    case .response: false  // the type alone is read as `.values`; the property `result` is looked up later
    case .valuesOrError(_, areOptional: false), .error, .values, .repeated, .unknown: false
    }
  }

  static func isVoid(_ type: ArraySlice<Token>) -> Bool { type.text == "Void" || type.text == "()" }
}

/// How a closure reports the progress of the work.
package enum ProgressShape {
  /// The closure gets a fraction, a value of this floating-point type.
  case fraction(type: String)

  /// Two counts: the finished units and the total, which can be unknown.
  case counts(isTotalOptional: Bool)
}

/// The callbacks among the parameters of a function.
package struct Callbacks {
  package let shape: CallbackShape

  /// The names of the callback's values; empty if no value has a name.
  var labels: [String] = []

  /// The index of the parameter that gets the result, or the success.
  package let completion: Int

  /// The index of the parameter that gets the failure, if it has a closure of its own.
  var failure: Int?

  package var progress: (parameter: Int, shape: ProgressShape)?
  var queue: QueueParameter?

  /// The line of a body that calls back with neither a value nor an error, so that the counterpart returns an optional.
  var lineWithoutValue: Int?

  /// The note on a counterpart that returns a failure instead of throwing it.
  var returnedFailure: Refusal?

  /// The indices of the parameters that get the result.
  var indices: Set<Int> { failure.map { [completion, $0] } ?? [completion] }

  /// The parameters that an async counterpart does not have.
  package var omitted: Set<Int> { indices.union(queue.map { [$0.index] } ?? []) }

  /// The parameters that a counterpart of this kind does not have; a future reports progress itself.
  func omitted(by kind: Counterpart.Kind) -> Set<Int> {
    switch kind {
    case .async: omitted
    case .future: omitted.union(progress.map { [$0.parameter] } ?? [])
    }
  }
}

extension Callbacks {
  /// Finds the callbacks of a function; returns `nil` if it takes none, or only one for progress.
  ///
  /// The type of a closure decides its shape. The package's configuration, a name or the documentation can say whether the closure
  /// is called once. If nothing says so, a closure that gets values or a failure counts as called once, and the shape of any
  /// other closure is `unknown`. `bodies` takes the indices of callbacks, and returns the function bodies that get these.
  init?(
    _ declaration: Declaration,
    _ aliases: TypeAliases,
    _ facts: TypeFacts,
    documentation: String,
    _ knowledge: FunctionKnowledge,
    bodies: @escaping (Set<Int>) -> [FunctionBody] = { _ in [] }
  ) {
    var completions: [(index: Int, type: FunctionType)] = []
    var progress: (parameter: Int, shape: ProgressShape)?
    for (index, parameter) in declaration.parameters.enumerated() {
      // A closure with a result is work to do. So is a closure that throws or awaits, unless its name says otherwise.
      guard let type = aliases.functionType(of: parameter.type), type.returnsNothing,
        type.effects.isEmpty || parameter.isNamed(like: CallbackNames.callbacks)
      else { continue }
      let specifiers = parameter.specifiers
      // An optional closure always escapes.
      let isEscaping = specifiers.contains("@escaping") || aliases.isOptional(parameter.type)
      guard isEscaping, !specifiers.contains("@autoclosure") else { continue }
      if parameter.isNamed(like: ["progress"]) {
        // A further closure for progress, and one of another shape, stays a parameter of the counterpart.
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
      knowledge: knowledge,
      bodies: bodies
    )
    if let pair = reader.pair(completions) {  // one closure for success, and one for failure
      self = pair
    } else if completions.count == 1 {
      let shape = reader.shape(first.type, first.index)
      self.init(shape: shape, labels: reader.tupleLabels(first.type.labels, for: shape), completion: first.index)
      // `areOptional` can be `false` because a line of a body passes `nil` for a value and the error. A note then names the line.
      if case .valuesOrError(_, areOptional: false) = shape { lineWithoutValue = reader.lineWithoutValue(first.index) }
      if case .values(let values) = shape { returnedFailure = reader.returnedFailure(values, first.type.labels) }
    } else {
      self.init(shape: .unknown(.takesCallbacks(completions.count)), completion: first.index)
    }
    self.progress = progress
    queue = QueueParameter(declaration, aliases, knowledge.values[.queue])
  }
}

extension Declaration.Parameter {
  /// Whether a word of the label or of the name begins with one of `beginnings`.
  func isNamed(like beginnings: [String]) -> Bool {
    [label, name].contains { CallbackNames.hasWord($0, like: beginnings) }
  }
}

extension ProgressShape {
  /// Reads the type of a closure for progress; `nil` if its parameters are neither a fraction nor two counts.
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
