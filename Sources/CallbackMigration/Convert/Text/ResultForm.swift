/// How a callback gets its result, with the types as the code spells them.
enum ResultForm: Equatable {
  /// One `Result`.
  case result(value: String, failure: String)

  /// Optional values and an optional error.
  case valuesOrError([String])

  /// The values of a success, and an optional error. A type of these values can itself be optional.
  case presentValuesOrError([String])

  /// Values without an error.
  case values(Int)

  /// An optional error.
  case error

  /// A closure for success and one for failure.
  case successOrFailure([String])

  /// Converts a shape; `nil` if the tool cannot make the arguments of such a callback from an await.
  init?(_ shape: CallbackShape, _ spell: (ArraySlice<Token>) -> String) {
    switch shape {
    case .result(let value, let failure): self = .result(value: spell(value), failure: spell(failure))
    case .valuesOrError(let values, areOptional: true): self = .valuesOrError(values.map(spell))
    case .valuesOrError(let values, areOptional: false): self = .presentValuesOrError(values.map(spell))
    case .values(let values): self = .values(values.count)
    case .error: self = .error
    case .successOrFailure(let values): self = .successOrFailure(values.map(spell))
    case .unpacked, .repeated, .unknown: return nil
    }
  }

  /// The number of values of a success.
  var valueCount: Int {
    switch self {
    case .result(let value, _): ["Void", "()"].contains(value) ? 0 : 1
    case .valuesOrError(let values), .presentValuesOrError(let values), .successOrFailure(let values): values.count
    case .values(let count): count
    case .error: 0
    }
  }

  /// The index of the callback's optional error; `nil` if the callback has no such parameter.
  var errorIndex: Int? {
    switch self {
    case .valuesOrError(let values), .presentValuesOrError(let values): values.count
    case .error: 0
    case .result, .values, .successOrFailure: nil
    }
  }

  /// Whether the callback gets each value as an optional that a success always fills.
  var hasOptionalValues: Bool { if case .valuesOrError = self { true } else { false } }

  /// The form `valuesOrError` of the wrapped types, if all values of `presentValuesOrError` are optional; else the form itself.
  var withOptionalValues: ResultForm {
    guard case .presentValuesOrError(let types) = self, types.allSatisfy({ $0.hasSuffix("?") }) else { return self }
    return .valuesOrError(types.map { String($0.dropLast()) })
  }
}

/// A call whose callback becomes the code after an await.
struct AwaitedCall {
  let site: CallSite
  let form: ResultForm

  /// The name of the counterpart, with backticks where it needs them.
  let name: String

  /// The labels of the parameters that the counterpart does not have.
  let omitted: [String]

  /// The parameter for the queue of the callback, which the counterpart does not have.
  var queue: CallbackQueue?

  /// Whether the counterpart can throw.
  let canThrow: Bool

  /// Whether the counterpart is synchronous.
  var isSync = false

  /// Whether an argument of the call is also an argument of the counterpart.
  /// - Parameters:
  ///   - argument: The argument.
  ///   - ownCallbacks: The names of the callbacks of the function around the call.
  ///   - ownQueue: The name of that function's parameter for the queue.
  ///   - tokens: The file.
  /// - Returns: `false` for a callback and for its queue.
  func keeps(
    _ argument: (label: String?, value: Range<Int>),
    ownCallbacks: [String?],
    ownQueue: String?,
    in tokens: SourceTokens
  ) -> Bool {
    let start = argument.value.lowerBound
    if start == site.callback || start == site.failure { return false }
    if let label = argument.label, omitted.contains(label) { return false }
    if queue?.isNamed(by: argument, own: ownQueue, in: tokens) == true { return false }
    let isUnlabelledCallback = argument.label == nil && omitted.contains("_") && site.callback == nil
    return !(isUnlabelledCallback && argument.value.count == 1 && ownCallbacks.contains(tokens[start]))
  }
}

/// The callback of the function that becomes async.
struct OwnCallback {
  /// The name of the callback's parameter; with two closures, that of the success.
  let name: String
  let failureName: String?

  /// The name of the parameter for the queue of the callback.
  var queueName: String?
  let form: ResultForm

  /// The token with the name of the function.
  let function: Int
}
