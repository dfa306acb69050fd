/// A function with a callback, and the facts that decide how its calls are converted.
struct AwaitableFunction {
  /// The state of the async counterpart.
  enum Counterpart: Equatable {
    case exists(file: String)
    case writable
    case refused(String)
  }

  let title: String

  /// The compiler's identifier of the function, in the symbol graph and in the index.
  let identifier: String

  /// The name without the types.
  let name: String

  /// The types around the function, such as `Store.Cache.`; empty outside types.
  var type: String { String(title.dropLast(name.count)) }

  /// The path of the function's file in the copy.
  let path: String

  /// The UTF-8 offset of the function's name.
  var offset: Int
  let counterpartTitle: String
  let futureTitle: String
  var counterpart: Counterpart

  /// The callback parameter's name in the function's body.
  let callbackName: String

  /// The name of the failure closure's parameter in the function's body, where the function has one.
  let failureName: String?

  /// The label of the failure closure.
  let failureLabel: String?

  /// How the callback gets its result; `nil` if the tool cannot make the callback's arguments from an await.
  let form: ResultForm?

  /// The name of the async counterpart, with backticks where the name needs them.
  let counterpartName: String

  /// The parts of the counterpart's declaration that distinguish it from its overloads.
  let signature: CounterpartSignature

  /// The reason why `generate` would give the counterpart to another function with the same one; `nil` if it would not.
  let claimRefusal: String?

  /// Whether the callback does not escape, so that the counterpart is synchronous.
  var isSync: Bool { called.isSync }

  /// Whether other files cannot call the function.
  let isPrivate: Bool

  /// Whether the function is private or synchronous, so that only converted callers need its counterpart.
  var isLocalStep: Bool { isPrivate || isSync }

  /// Whether the counterpart can throw.
  var canCounterpartThrow = true

  /// Whether `generate` has written the counterpart, which waits for the callback.
  var isCounterpartGenerated = false

  /// Whether the counterpart calls the function itself, and waits for its callback.
  var isCounterpartWaiting = false

  /// Whether an async counterpart does the work itself, and does not wait for this function's callback.
  var hasAsyncWork: Bool { hasCounterpart && !isCounterpartGenerated && !isCounterpartWaiting }

  /// The labels of the callbacks, which calls of the counterpart do not have.
  let omittedLabels: [String]

  /// The attributes and the declaration of the async counterpart, without `nonisolated(nonsending)`; `nil` if unknown.
  let counterpartHead: (attributes: [String], signature: String)?

  /// The declaration of an async counterpart that runs on the actor of its caller; `nil` if an actor isolates it.
  let callersActorSignature: String?

  /// Whether callers can leave out the callback of the function.
  let canOmitCallback: Bool

  /// Whether the counterpart of the function returns nothing.
  let isVoid: Bool

  /// Whether the function returns a value and also calls back.
  let returnsValue: Bool

  /// Whether an attribute of the function names a counterpart already.
  let isRenamed: Bool

  /// Whether each call of the function runs its own body, and not that of a subclass or of a conforming type.
  var isPlain: Bool

  /// Whether the function implements a requirement, whose counterpart serves other types, too.
  let isWitness: Bool
  var called: CalledFunction

  /// Makes a function of a module of the package.
  /// - Parameters:
  ///   - entry: The decisions about the function's counterparts.
  ///   - path: The path of the function's file in the copy.
  ///   - tokens: The tokens of that file.
  ///   - inventory: The function's module, which spells types.
  init?(_ entry: CounterpartPlan.Entry, path: String, _ tokens: SourceTokens, in inventory: Inventory) {
    let function = entry.function
    let place = LanguageServerMessage.Position(line: function.line - 1, character: function.column)
    guard let offset = tokens.source.offset(of: place) else { return nil }
    self.path = path
    self.offset = offset
    title = function.title
    identifier = function.symbol.identifier.precise
    name = function.name
    let kind = function.callbacks.isNonescaping ? CallbackMigration.Counterpart.Kind.sync : .async
    isPrivate = function.visibility < .internal
    counterpartTitle = function.counterpart(kind).title
    futureTitle = function.counterpart(.future).title
    let text = tokens.index(at: offset).flatMap { FunctionText(name: $0, in: tokens) }
    isRenamed = text?.hasAttribute(with: "renamed", in: tokens) == true
    if case .witness = function.role { isWitness = true } else { isWitness = false }
    isPlain =
      (function.role == .plain || isWitness) && !function.isReplaceable && !function.declaration.isOverride
    switch entry.decisions.first(where: { $0.kind == kind })?.decision {
    case .exists(let file)?: counterpart = .exists(file: file)
    case .write?: counterpart = .writable
    case .refused(let refusal)?: counterpart = .refused(refusal.reason)
    case nil: counterpart = .refused("it has no counterpart")
    }
    let parameter = function.declaration.parameters[function.callbacks.completion]
    callbackName = parameter.name
    let failure = function.callbacks.failure.map { function.declaration.parameters[$0] }
    failureName = failure?.name
    failureLabel = failure?.label
    let spelling = inventory.spelling(for: function)
    form = ResultForm(function.callbacks.shape) { spelling.text($0) }
    counterpartName = function.counterpart(kind).name
    signature = CounterpartSignature(of: function, kind: kind, inventory.aliases)
    claimRefusal = entry.claimRefusal?.reason
    omittedLabels = function.callbacks.indices.sorted().map { function.declaration.parameters[$0].label }
    if function.declaration.keyword == "func", form != nil {
      let counterpart = CallbackMigration.Counterpart(kind: kind, function: function, in: inventory)
      let signature = counterpart.signature(isWrapper: true)
      counterpartHead = (counterpart.attributes, counterpart.signature(isWrapper: false))
      callersActorSignature = signature.contains("nonisolated(nonsending)") ? signature : nil
    } else {
      counterpartHead = nil
      callersActorSignature = nil
    }
    canOmitCallback = function.canOmitCallbacks
    isVoid = function.callbacks.shape.values?.isEmpty != false
    returnsValue = function.returnsValue
    called = CalledFunction(title: function.title, callbackLabel: parameter.label)
    called.failureLabel = failure?.label
    if parameter.label == "_" {
      let before = function.declaration.parameters.prefix(function.callbacks.completion).filter { $0.label == "_" }
      let needed = before.filter { $0.defaultValue == nil || $0.type.contains { $0.text == "->" } }
      called.unlabelledBefore = needed.count...before.count
    }
    called.isSync = kind == .sync
    called.returnsValue = function.returnsValue
    called.canFail = function.callbacks.shape.canFail
    if case .valuesOrError(let values, areOptional: false) = function.callbacks.shape {
      called.hasOptionalValue = values.contains { $0.last?.text == "?" || inventory.aliases.wrapped($0) != nil }
    }
    called.isCallbackOnMainActor = parameter.type.contains { $0.text == "@MainActor" }
    let callbacks = [callbackName, failureName].compactMap(\.self)
    called.queue = Self.queue(of: function, isKept: function.counterpart(kind).keepsQueue) { queue in
      text?.body.map { queue.isForWork(in: $0, callbacks, tokens) } == true
    }
    called.shapeRefusal = Self.shapeRefusal(function.callbacks.shape)
    if called.shapeRefusal == nil, case .refused(let reason) = counterpart { called.shapeRefusal = reason }
  }

  /// Describes the parameter that names the queue of the callback; `nil` if the function has none.
  private static func queue(
    of function: CallbackFunction,
    isKept: Bool,
    isForWork: (CallbackQueue) -> Bool
  ) -> CallbackQueue? {
    let parameters = function.declaration.parameters
    guard let parameter = function.callbacks.queue.map({ parameters[$0.index] }) else { return nil }
    let unlabelledQueues = parameters.filter { $0.label == "_" && $0.type.text.contains("Queue") }
    let hasOtherClosure = parameters.indices.contains { index in
      parameters[index].type.contains { $0.text == "->" } && !function.callbacks.indices.contains(index)
    }
    var queue = CallbackQueue(
      label: parameter.label,
      name: parameter.name,
      defaultValue: parameter.defaultValue?.text,
      // Without labels, the text of a call does not tell two queues apart.
      isKept: isKept || parameter.label == "_" && unlabelledQueues.count > 1
    )
    queue.hasOtherUses = hasOtherClosure || function.callbacks.progress != nil || isForWork(queue)
    return queue
  }

  /// The text of the function in its file; `nil` if it is not found.
  func text(in tokens: SourceTokens) -> FunctionText? {
    tokens.index(at: offset).flatMap { FunctionText(name: $0, in: tokens) }
  }

  /// Whether the body of another function calls this function with a callback.
  func isCalled(in text: FunctionText, _ tokens: SourceTokens) -> Bool {
    let base = name.prefix { $0 != "(" }
    return text.body?.contains { index in
      guard tokens[index] == base || tokens[index] == "`\(base)`" else { return false }
      return CallSite(name: index, in: tokens, label: called.callbackLabel)?.givesCallback == true
    } == true
  }

  /// A reason why the counterpart does not build, with the entry of the configuration that could settle it.
  func addingSetting(to reason: String) -> String {
    guard case .valuesOrError? = form, reason.contains("must be unwrapped"),
      let entry = Refusal("", .optional, title).setting
    else { return reason }
    return "\(reason); if `nil` can be a success: \(entry)"
  }

  var hasCounterpart: Bool { if case .exists = counterpart { true } else { false } }

  private static func shapeRefusal(_ shape: CallbackShape) -> String? {
    switch shape {
    case .repeated(let refusal), .unknown(let refusal): refusal.reason
    case .unpacked: "its counterpart throws a failure that its callback gets inside a value"
    case .result, .valuesOrError, .values, .error, .successOrFailure: nil
    }
  }
}

extension CallbackShape {
  /// Whether the callback can get an error.
  fileprivate var canFail: Bool {
    switch self {
    case .result(_, let failure): failure.text != "Never"
    case .valuesOrError, .error, .successOrFailure, .unpacked: true
    case .values, .repeated, .unknown: false
    }
  }
}
