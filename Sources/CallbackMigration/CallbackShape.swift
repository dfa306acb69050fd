/// What a callback tells, and how.
enum CallbackShape {
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

  /// It may come more than once.
  case repeated

  /// Nothing that this tool knows; why.
  case unknown(String)

  /// How reports name it.
  var name: String {
    switch self {
    case .result: "Result"
    case .valuesOrError(let values, areOptional: true): values.count == 1 ? "value?, error?" : "values?, error?"
    case .valuesOrError(let values, areOptional: false): values.count == 1 ? "value, error?" : "values, error?"
    case .values(let values): values.isEmpty ? "nothing" : values.count == 1 ? "value" : "values"
    case .error: "error?"
    case .successOrFailure: "success, failure"
    case .repeated: "many times"
    case .unknown: "unknown"
    }
  }

  /// What an async function returns; `nil` where nobody can say.
  var values: [ArraySlice<Token>]? {
    switch self {
    case .result(let value, _): Self.isVoid(value) ? [] : [value]
    case .valuesOrError(let values, _), .values(let values), .successOrFailure(let values): values
    case .error: []
    case .repeated, .unknown: nil
    }
  }

  static func isVoid(_ type: ArraySlice<Token>) -> Bool { type.text == "Void" || type.text == "()" }
}

/// How a closure tells the progress of the work.
enum ProgressShape {
  /// As a fraction of a floating-point type.
  case fraction(type: String)

  /// As how much is done, and of how much, which may be unknown.
  case counts(isTotalOptional: Bool)
}

/// The callbacks among the parameters of a function.
struct Callbacks {
  let shape: CallbackShape

  /// The parameter that tells the result, or the success.
  let completion: Int

  /// The parameter that tells a failure, where that has one of its own.
  var failure: Int?

  var progress: (parameter: Int, shape: ProgressShape)?

  /// The parameters that callers of an async function do not give.
  var omitted: Set<Int> { failure.map { [completion, $0] } ?? [completion] }

  /// The parameters that callers of a twin do not give; a future has progress of its own.
  func omitted(by kind: Twin.Kind) -> Set<Int> {
    kind == .future ? omitted.union(progress.map { [$0.parameter] } ?? []) : omitted
  }
}

extension Callbacks {
  /// Finds the callbacks of a function; `nil` if it takes none.
  ///
  /// What a closure is for is told by its type, and where the type leaves it open by the names; what they leave open, too, is
  /// `unknown`.
  init?(_ declaration: Declaration, _ aliases: TypeAliases) {
    var completions: [(index: Int, type: FunctionType)] = []
    var progress: (parameter: Int, shape: ProgressShape)?
    for (index, parameter) in declaration.parameters.enumerated() {
      guard let type = aliases.functionType(of: parameter.type), type.returnsNothing else { continue }
      // What throws or waits is rather work to be done, unless it is called otherwise.
      guard type.effects.isEmpty || parameter.isNamed(like: Self.once) else { continue }
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
    if let pair = Self.pair(completions, declaration, aliases) {
      self = pair
    } else if completions.count == 1 {
      self.init(shape: Self.shape(first.type, first.index, declaration, aliases), completion: first.index)
    } else {
      self.init(shape: .unknown("it takes \(completions.count) callbacks"), completion: first.index)
    }
    self.progress = progress
  }

  private static let once = [
    "complet", "done", "finish", "then", "reply", "callback", "result", "answer", "respon", "success",
  ]

  private static let watching = ["observ", "listen", "subscri", "watch", "monitor"]

  private static func pair(
    _ completions: [(index: Int, type: FunctionType)],
    _ declaration: Declaration,
    _ aliases: TypeAliases
  ) -> Callbacks? {
    guard completions.count == 2 else { return nil }
    let failures = completions.filter { completion in
      declaration.parameters[completion.index].isNamed(like: ["fail", "error", "reject"])
        && completion.type.parameters.count == 1 && aliases.isError(completion.type.parameters[0])
    }
    let successes = completions.filter { completion in
      declaration.parameters[completion.index].isNamed(like: [
        "success", "succeed", "complet", "fulfill", "done", "then",
      ])
    }
    guard let failure = failures.first, let success = successes.first, failure.index != success.index else {
      return nil
    }
    let shape = CallbackShape.successOrFailure(success.type.parameters)
    return Callbacks(shape: shape, completion: success.index, failure: failure.index)
  }

  private static func shape(
    _ type: FunctionType,
    _ index: Int,
    _ declaration: Declaration,
    _ aliases: TypeAliases
  ) -> CallbackShape {
    let values = type.parameters
    // Nothing in a type says that it comes once; these names say that it does not.
    let parameter = declaration.parameters[index]
    let repeating = ["observ", "listen", "chang", "updat", "event", "each", "every", "tick", "receiv", "subscri"]
    if parameter.isNamed(like: repeating) || hasWord(declaration.name, like: Self.watching) { return .repeated }
    if values.contains(where: { aliases.functionType(of: $0) != nil }) { return .unknown("it is given a closure") }
    for value in values {
      if let word = Declaration.Parameter.ownershipWords.first(where: { $0 == value.first?.text }) {
        return .unknown("its callback's parameter is `\(word)`")
      }
      if value.last?.text == "..." { return .unknown("its callback is variadic") }
    }
    if values.count == 1 {
      var result = TokenReader(aliases.resolve(values[0]))
      if result.next?.type == "s:s6ResultO", result.take("Result"),
        let arguments = result.takeBracketed("<", ">")?.elements, arguments.count == 2,
        result.isAtEnd
      {
        return .result(value: arguments[0], failure: arguments[1])
      }
    }
    if let last = values.last, let error = aliases.wrapped(last), aliases.isError(error) {
      let rest = values.dropLast().map { $0 }
      let wrapped = rest.compactMap { aliases.wrapped($0) }
      if rest.isEmpty { return .error }
      return wrapped.count == rest.count
        ? .valuesOrError(wrapped, areOptional: true) : .valuesOrError(rest, areOptional: false)
    }
    if let last = values.last, aliases.isError(last) { return .unknown("its only closure gets an error") }
    if parameter.isNamed(like: Self.once) { return .values(values) }
    return .unknown("nothing says whether `\(parameter.name)` is called once")
  }
}

/// Whether one of the words of a name, as in `onChange`, begins with one of these.
private func hasWord(_ name: String, like beginnings: [String]) -> Bool {
  var words = [""]
  for character in name {
    // `ID` is one word.
    if character.isUppercase, words[words.count - 1].last?.isUppercase != true { words.append("") }
    words[words.count - 1].append(character)
  }
  return words.contains { word in beginnings.contains { word.lowercased().hasPrefix($0) } }
}

extension Declaration.Parameter {
  fileprivate func isNamed(like beginnings: [String]) -> Bool {
    [label, name].contains { hasWord($0, like: beginnings) }
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

extension TypeAliases {
  /// What an optional type wraps; `nil` if it is none.
  func wrapped(_ type: ArraySlice<Token>) -> ArraySlice<Token>? {
    let type = resolve(type)
    if type.last?.text == "?" || type.last?.text == "!" {
      var reader = TokenReader(type.dropLast())
      if let inside = reader.takeBracketed("(", ")"), reader.isAtEnd { return inside }
      return type.dropLast()
    }
    var reader = TokenReader(type)
    guard reader.take("Optional"), let inside = reader.takeBracketed("<", ">"), reader.isAtEnd else { return nil }
    return inside
  }

  func isOptional(_ type: ArraySlice<Token>) -> Bool { wrapped(type) != nil }

  /// Whether it is known to be an error.
  func isError(_ type: ArraySlice<Token>) -> Bool {
    let type = resolve(type)
    if ["any Error", "Error", "any Swift.Error", "Swift.Error", "NSError"].contains(type.text) { return true }
    return type.count == 1 && type.first?.type.map { errors.contains($0) } == true
  }
}
