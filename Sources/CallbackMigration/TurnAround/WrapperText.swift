/// The body of a callback function that calls its async counterpart.
struct WrapperText {
  private let function: CallbackFunction
  private let counterpart: Declaration
  private let inventory: Inventory
  private let spelling: TypeSpelling

  /// Where the callback comes, as an argument of `forward(on:to:)`.
  private let context: String

  /// - Parameters:
  ///   - function: The callback function.
  ///   - counterpart: Its async counterpart.
  ///   - context: Where the callback comes, as an argument of `forward(on:to:)`.
  ///   - inventory: Its module.
  init(_ function: CallbackFunction, _ counterpart: Declaration, context: String, in inventory: Inventory) {
    self.function = function
    self.counterpart = counterpart
    self.inventory = inventory
    self.context = context
    spelling = inventory.spelling(for: function)
  }

  /// The lines of the wrapper that replaces a body.
  /// - Parameters:
  ///   - function: The callback function.
  ///   - counterpart: Its async counterpart.
  ///   - body: The body.
  ///   - inventory: The module.
  ///   - allowed: The changes of meaning that the user accepts.
  /// - Returns: The lines.
  /// - Throws: The reason why no wrapper can replace the body.
  static func lines(
    _ function: CallbackFunction,
    _ counterpart: Declaration,
    _ body: OldBody,
    _ inventory: Inventory,
    allowed: Set<CallRisk>
  ) throws(CallRefusal) -> [String] {
    if let reason = body.refusal { throw CallRefusal(reason) }
    let context = try WrapperContext(function, body, inventory).text
    if let risk = body.risks.first(where: { !allowed.contains($0.risk ?? .order) }) { throw risk }
    return try WrapperText(function, counterpart, context: context, in: inventory)
      .lines(isImmediate: body.worksInline)
  }

  private var declaration: Declaration { function.declaration }
  private var callbacks: Callbacks { function.callbacks }

  /// The lines of the body.
  /// - Parameter isImmediate: Whether the work starts before the function returns.
  /// - Returns: The lines.
  /// - Throws: The reason why there is no such body.
  func lines(isImmediate: Bool) throws(CallRefusal) -> [String] {
    switch callbacks.shape {
    case .repeated(let refusal), .unknown(let refusal): throw CallRefusal(refusal)
    default: break
    }
    let handle = try handle
    let conversion = try failureConversion
    let start = future(isImmediate: isImmediate || handle != nil)
    let transfers = isTransferred && !isForwarded ? callbacks.callbacks.sorted().map(transfer) : []
    let operators = (conversion.isEmpty ? "" : "\n\(conversion)\n") + (try delivery)
    guard let handle else { return transfers + [start + operators] }
    return transfers + ["let \(handleName) = \(start)", handleName + operators, "return \(handle)"]
  }

  // MARK: The work

  private func future(isImmediate: Bool) -> String {
    let type = inventory.typeNames.contains("Future") ? "Futures.Future" : "Future"
    let signature = typedFailure.map { "() async throws(\($0)) in " } ?? ""
    let call = (canThrow ? "try " : "") + "await \(callee)(\(arguments.joined(separator: ", ")))"
    return "\(type)\(isImmediate ? ".immediate" : "") { \(signature)\(call) }"
  }

  private var callee: String {
    let isHidden = declaration.parameters.contains { $0.name == counterpart.name }
    return (function.scope.isEmpty ? isHidden ? "\(inventory.module)." : "" : "self.") + counterpart.name
  }

  /// A counterpart can keep the queue.
  private var arguments: [String] {
    let isComplete = counterpart.parameters.count + callbacks.callbacks.count == declaration.parameters.count
    let omitted = isComplete ? callbacks.callbacks : callbacks.omitted
    return declaration.parameters.indices.filter { !omitted.contains($0) }.map { index in
      let parameter = declaration.parameters[index]
      let call = parameter.specifiers.contains("@autoclosure") ? "()" : ""
      return (parameter.label == "_" ? "" : "\(parameter.label): ") + parameter.reference + call
    }
  }

  // MARK: The failure

  private var canThrow: Bool { counterpart.isThrowing && typedFailure != "Never" }

  /// The error type that the counterpart names; `nil` if it throws any error, or none.
  private var typedFailure: String? {
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

  /// The operator that gives the future the failure type of the callback.
  private var failureConversion: String {
    get throws(CallRefusal) {
      guard let wanted = callbackFailure else {
        if !canThrow { return "" }
        throw CallRefusal("its counterpart throws, and its callback gets no error")
      }
      let isAny = Self.isAnyError(wanted)
      if !canThrow { return ".setFailureType(to: \(isAny || wanted.contains(" ") ? "(\(wanted))" : wanted).self)" }
      if isAny { return typedFailure == nil ? "" : ".eraseFailure()" }
      if typedFailure == wanted { return "" }
      guard let other = function.knowledge.value(.failure) else {
        let reason = "its counterpart can throw other errors than `\(wanted)`"
        throw CallRefusal(Refusal(reason, .failure, function.title, "\(wanted).other"))
      }
      return ".mapError { $0 as? \(wanted) ?? \(other)($0) }"
    }
  }

  // MARK: The callback

  /// Whether the callback is neither `@Sendable` nor on the main actor, so that the compiler cannot check its thread.
  private var isTransferred: Bool {
    if context == ".main", function.globalActor == "@MainActor" { return false }
    return callbacks.callbacks.contains { index in
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

  /// Whether an overload of the library calls a callback of this shape.
  private var isForwarded: Bool {
    if callbacks.callbacks.contains(where: isOptional) { return false }
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

  /// The place of a callback of which the compiler cannot check the thread.
  private var place: String { isTransferred && context == ".main" ? ".mainQueue" : context }

  private var delivery: String {
    get throws(CallRefusal) {
      let completion = declaration.parameters[callbacks.completion].reference
      if isForwarded {
        if let failure = callbacks.failure {
          let failure = declaration.parameters[failure].reference
          return ".forward(on: \(place), onSuccess: \(completion), onFailure: \(failure))"
        }
        return ".forward\(isTransferred ? "Unsafely" : "")(on: \(place), to: \(completion))"
      }
      return try call(callbacks.shape)
    }
  }

  private func call(_ shape: CallbackShape) throws(CallRefusal) -> String {
    switch shape {
    case .result: return ".whenResolved(on: \(place)) { \(callee(callbacks.completion))($0) }"
    case .values(let values):
      let value = values.isEmpty ? "_ in " : ""
      return ".whenSucceeded(on: \(place)) { \(value)\(callee(callbacks.completion))(\(parts("$0", values.count))) }"
    case .valuesOrError(let values, areOptional: true):
      let nothing = values.map { _ in "nil" }
      return cases([parts(value, values.count), "nil"], nothing + [error], values.count)
    case .error: return cases(["nil"], [error], 0)
    case .successOrFailure(let values): return cases([parts(value, values.count)], [error], values.count)
    case .valuesOrError(_, areOptional: false):
      throw CallRefusal("with an error its callback gets a value, too, and its counterpart returns none")
    case .unpacked: throw CallRefusal("its callback gets a failure inside a value")
    case .repeated, .unknown: preconditionFailure("No wrapper is written for \(function.title).")
    }
  }

  private func cases(_ success: [String], _ failure: [String], _ count: Int) -> String {
    let completion = callbacks.completion
    let result = unused("result")
    return """
      .whenResolved(on: \(place)) { \(result) in
      switch \(result) {
      case .success\(count == 0 ? "" : "(let \(value))"): \(callee(completion))(\(success.joined(separator: ", ")))
      case .failure(let \(error)): \(callee(callbacks.failure ?? completion))(\(failure.joined(separator: ", ")))
      }
      }
      """
  }

  /// The parts of a value that the callback gets one by one.
  private func parts(_ value: String, _ count: Int) -> String {
    count == 1 ? value : (0..<count).map { "\(value).\($0)" }.joined(separator: ", ")
  }

  private func callee(_ index: Int) -> String {
    declaration.parameters[index].reference + (isTransferred ? ".value" : "") + (isOptional(index) ? "?" : "")
  }

  private var value: String { unused("value") }
  private var error: String { unused("error") }

  /// A name that no parameter has.
  private func unused(_ name: String) -> String {
    var name = name
    while declaration.parameters.contains(where: { $0.name == name }) { name += "_" }
    return name
  }

  // MARK: The handle

  private var handleName: String { unused("future") }

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
