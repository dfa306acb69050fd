/// The body of a callback function that calls its async counterpart.
struct WrapperText {
  let function: CallbackFunction
  private let counterpart: Declaration
  private let inventory: Inventory
  private let spelling: TypeSpelling

  /// Where the callback comes, as an argument of `forward(on:to:)`.
  let context: String

  /// Whether the body uses futures; otherwise a task.
  private let usesFutures: Bool

  /// - Parameters:
  ///   - function: The callback function.
  ///   - counterpart: The async counterpart of the function.
  ///   - context: Where the callback comes, as an argument of `forward(on:to:)`.
  ///   - usesFutures: Whether the body uses futures; otherwise a task.
  ///   - inventory: The module of the function.
  init(
    _ function: CallbackFunction,
    _ counterpart: Declaration,
    context: String,
    usesFutures: Bool,
    in inventory: Inventory
  ) {
    self.function = function
    self.counterpart = counterpart
    self.inventory = inventory
    self.context = context
    self.usesFutures = usesFutures
    spelling = inventory.spelling(for: function)
  }

  private var declaration: Declaration { function.declaration }
  private var callbacks: Callbacks { function.callbacks }

  /// The lines of the wrapper that replaces a body.
  /// - Parameters:
  ///   - body: The body.
  ///   - allowed: The changes of meaning that the user accepts.
  /// - Returns: The lines.
  /// - Throws: The reason why no wrapper can replace the body.
  func lines(replacing body: OldBody, allowed: Set<CallRisk>) throws(CallRefusal) -> [String] {
    if let risk = body.risks.first(where: { !allowed.contains($0.risk ?? .order) }) { throw risk }
    let outcome = try outcome
    let handle = try handle
    guard usesFutures else {
      let task = try taskLines(outcome)
      guard let handle else { return task }
      return ["let \(handleName) = " + task[0]] + task.dropFirst() + ["return \(handle)"]
    }
    let transfers = isTransferred && !isForwarded ? callbacks.indices.sorted().map(transfer) : []
    let start = future(isImmediate: body.startsAtOnce || handle != nil)
    let conversion = try failureConversion
    let operators = (conversion.isEmpty ? "" : "\n\(conversion)\n") + delivery(outcome)
    guard let handle else { return transfers + [start + operators] }
    return transfers + ["let \(handleName) = \(start)", handleName + operators, "return \(handle)"]
  }

  /// The lines of a new function.
  func lines() throws(CallRefusal) -> [String] {
    let conversion = try failureConversion
    return [future(isImmediate: false) + (conversion.isEmpty ? "" : "\n\(conversion)\n") + delivery(try outcome)]
  }

  /// The modules that a file with these lines imports.
  func modules(of lines: [String]) -> [String] {
    if usesFutures { return ["Futures", "FuturesAsync"] }
    return lines.contains { $0.contains("DispatchQueue") } ? ["Dispatch"] : []
  }

  // MARK: The work

  private func future(isImmediate: Bool) -> String {
    let signature = typedFailure.map { "() async throws(\($0)) in " } ?? ""
    return "\(inventory.future)\(isImmediate ? ".immediate" : "") { \(signature)\(work) }"
  }

  /// The call of the counterpart.
  var work: String { (canThrow ? "try " : "") + "await \(callee)(\(arguments.joined(separator: ", ")))" }

  private var callee: String {
    let isHidden = declaration.parameters.contains { $0.name == counterpart.name }
    return (function.scope.isEmpty ? isHidden ? "\(inventory.module)." : "" : "self.") + counterpart.name
  }

  /// A counterpart that was written by hand can have the parameter for the queue.
  private var arguments: [String] {
    let isComplete = counterpart.parameters.count + callbacks.indices.count == declaration.parameters.count
    let omitted = isComplete ? callbacks.indices : callbacks.omitted
    return declaration.parameters.indices.filter { !omitted.contains($0) }.map { index in
      let parameter = declaration.parameters[index]
      let call = parameter.specifiers.contains("@autoclosure") ? "()" : ""
      return (parameter.label == "_" ? "" : "\(parameter.label): ") + parameter.reference + call
    }
  }

  // MARK: The failure

  var canThrow: Bool { counterpart.isThrowing && typedFailure != "Never" }

  /// The error type that the counterpart names; `nil` if it throws any error, or none.
  var typedFailure: String? {
    guard let effect = counterpart.effects.first(where: { $0.hasPrefix("throws(") }) else { return nil }
    let type = String(effect.dropFirst("throws(".count).dropLast())
    return Self.isAnyError(type) ? nil : type
  }

  private static func isAnyError(_ type: String) -> Bool {
    ["any Error", "Error", "any Swift.Error", "Swift.Error"].contains(type)
  }

  /// The error type of the callback, as it is written; `nil` if it gets no error.
  private var callbackFailure: String? {
    switch callbacks.shape {
    case .result(_, let failure): return failure.text == "Never" ? nil : spelling.text(failure)
    case .valuesOrError, .error:
      let aliases = inventory.aliases
      let type = closure(callbacks.completion)?.parameters.last.flatMap { aliases.wrapped($0) }
      return type.map(spelling.text)
    case .successOrFailure: return callbacks.failure.flatMap(closure)?.parameters.first.map { spelling.text($0) }
    case .values, .unpacked, .repeated, .unknown: return nil
    }
  }

  private func closure(_ parameter: Int) -> FunctionType? {
    inventory.aliases.functionType(of: declaration.parameters[parameter].type)
  }

  /// The function that converts any error to the callback's error type; `nil` if the counterpart's error already fits.
  private var conversion: (type: String, function: String)? {
    get throws(CallRefusal) {
      guard canThrow, let wanted = callbackFailure, !Self.isAnyError(wanted), typedFailure != wanted else { return nil }
      if let other = function.knowledge.value(.failure) { return (wanted, other) }
      let reason = "its counterpart can throw other errors than `\(wanted)`"
      throw CallRefusal(Refusal(reason, .failure, function.title, "\(wanted).other"))
    }
  }

  /// The operator that gives the future the failure type of the callback.
  private var failureConversion: String {
    get throws(CallRefusal) {
      guard let wanted = callbackFailure else { return "" }
      let isAny = Self.isAnyError(wanted)
      if !canThrow { return ".setFailureType(to: \(isAny || wanted.contains(" ") ? "(\(wanted))" : wanted).self)" }
      if let (type, other) = try conversion { return ".mapError { $0 as? \(type) ?? \(other)($0) }" }
      return isAny && typedFailure != nil ? ".eraseFailure()" : ""
    }
  }

  /// The error that the callback gets, in a `catch`.
  var caughtError: String {
    get throws(CallRefusal) { try conversion.map { "error as? \($0.type) ?? \($0.function)(error)" } ?? "error" }
  }

  // MARK: The callback

  /// Whether the callback is neither `@Sendable` nor on the main actor, so that the compiler cannot check its thread.
  private var isTransferred: Bool {
    if !usesFutures { return false }
    if context == ".main", function.globalActor == "@MainActor" { return false }
    return callbacks.indices.contains { index in
      inventory.aliases.attributes(ofClosure: declaration.parameters[index].type).isDisjoint(with: [
        "@Sendable", "@MainActor",
      ])
    }
  }

  private func isOptional(_ index: Int) -> Bool { inventory.aliases.isOptional(declaration.parameters[index].type) }

  private func transfer(_ index: Int) -> String {
    let name = declaration.parameters[index].reference
    return "let \(name) = \(spelling.text("UncheckedTransfer", "s:7Futures17UncheckedTransferV"))(\(name))"
  }

  /// Whether an overload of `forward(on:to:)` takes a callback of this shape.
  private var isForwarded: Bool {
    if callbacks.indices.contains(where: isOptional) { return false }
    let isAny = callbackFailure.map(Self.isAnyError) != false
    switch callbacks.shape {
    case .result: return true
    case .valuesOrError(let values, areOptional: true):
      return isAny && (values.count == 1 || values.count == 2 && callbacks.labels.isEmpty)
    case .error: return isAny && !isTransferred
    case .values(let values), .successOrFailure(let values): return values.count == 1 && !isTransferred
    case .valuesOrError, .unpacked, .repeated, .unknown: return false
    }
  }

  /// The context of the callback; `.mainQueue` if the compiler cannot check that the callback is on the main actor.
  private var place: String { isTransferred && context == ".main" ? ".mainQueue" : context }

  /// The code that calls the callback.
  struct Outcome {
    let success: String

    /// The call for a failure, made from the text of the error; `nil` if the callback gets no error.
    var failure: ((_ error: String) -> String)?
  }

  private var outcome: Outcome {
    get throws(CallRefusal) {
      let completion = callee(callbacks.completion)
      switch callbacks.shape {
      case .result(let type, _):
        try requireFailure()
        let success = CallbackShape.isVoid(type) ? "()" : value
        return Outcome(success: "\(completion)(.success(\(success)))") { "\(completion)(.failure(\($0)))" }
      case .valuesOrError(let values, let areOptional)
      where areOptional || values.allSatisfy { inventory.aliases.wrapped($0) != nil }:
        let nothing = String(repeating: "nil, ", count: values.count)
        let success = "\(completion)(\(parts(value, values.count)), nil)"
        return Outcome(success: success) { "\(completion)(\(nothing)\($0))" }
      case .error: return Outcome(success: "\(completion)(nil)") { "\(completion)(\($0))" }
      case .successOrFailure(let values):
        let failure = callee(callbacks.failure ?? callbacks.completion)
        return Outcome(success: "\(completion)(\(parts(value, values.count)))") { "\(failure)(\($0))" }
      case .values(let values):
        try requireFailure()
        return Outcome(success: "\(completion)(\(parts(value, values.count)))")
      case .valuesOrError:
        throw CallRefusal("with an error its callback gets a value, too, and its counterpart returns none")
      case .unpacked: throw CallRefusal("its callback gets a failure inside a value")
      case .repeated(let refusal), .unknown(let refusal): throw CallRefusal(refusal)
      }
    }
  }

  private func requireFailure() throws(CallRefusal) {
    guard canThrow, callbackFailure == nil else { return }
    throw CallRefusal("its counterpart throws, and its callback gets no error")
  }

  private func delivery(_ outcome: Outcome) -> String {
    let completion = declaration.parameters[callbacks.completion].reference
    if isForwarded {
      if let failure = callbacks.failure {
        let failure = declaration.parameters[failure].reference
        return ".forward(on: \(place), onSuccess: \(completion), onFailure: \(failure))"
      }
      return ".forward\(isTransferred ? "Unsafely" : "")(on: \(place), to: \(completion))"
    }
    switch callbacks.shape {
    case .result: return ".whenResolved(on: \(place)) { \(callee(callbacks.completion))($0) }"
    case .values(let values):
      let value = values.isEmpty ? "_ in " : ""
      return ".whenSucceeded(on: \(place)) { \(value)\(callee(callbacks.completion))(\(parts("$0", values.count))) }"
    default:
      let result = unused("result")
      let (value, error) = (hasValue ? "(let \(value))" : "", unused("error"))
      return """
        .whenResolved(on: \(place)) { \(result) in
        switch \(result) {
        case .success\(value): \(outcome.success)
        case .failure(let \(error)): \(outcome.failure?(error) ?? "")
        }
        }
        """
    }
  }

  /// Whether the counterpart returns a value.
  var hasValue: Bool { callbacks.shape.values?.isEmpty == false }

  /// The arguments of the callback, made from the parts of a value.
  private func parts(_ value: String, _ count: Int) -> String {
    count == 1 ? value : (0..<count).map { "\(value).\($0)" }.joined(separator: ", ")
  }

  private func callee(_ index: Int) -> String {
    declaration.parameters[index].reference + (isTransferred ? ".value" : "") + (isOptional(index) ? "?" : "")
  }

  var value: String { unused("value") }

  /// A name that no parameter has.
  private func unused(_ name: String) -> String {
    var name = name
    while declaration.parameters.contains(where: { $0.name == name }) { name += "_" }
    return name
  }

  // MARK: The handle

  private var handleName: String { unused(usesFutures ? "future" : "task") }

  /// The value that the function returns; `nil` if it returns nothing.
  private var handle: String? {
    get throws(CallRefusal) {
      guard function.returnsValue else { return nil }
      let type = declaration.returnType
      let bare = inventory.aliases.wrapped(type) ?? inventory.aliases.resolve(type)
      guard case .calls = function.handle else {
        throw CallRefusal("it returns `\(type.text)`, which a wrapper cannot make")
      }
      // The trial build shows whether a future conforms to the protocol.
      if ["any", "some"].contains(bare.first?.text) { return handleName }
      if let label = function.handleInitializer {
        return "\(spelling.text(bare))(\(label == "_" ? "" : "\(label): "){ \(handleName).cancel() })"
      }
      let advice =
        "give it an initializer that takes a closure, such as `init(onCancel: @escaping @Sendable () -> Void)`"
      throw CallRefusal("it returns `\(type.text)`, which a wrapper cannot make; \(advice)")
    }
  }
}
