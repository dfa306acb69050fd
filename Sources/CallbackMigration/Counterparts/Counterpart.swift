/// The kinds of counterparts that `generate` writes.
package enum CounterpartStyle: String, CaseIterable, Sendable {
  case futures, async, both

  var kinds: [Counterpart.Kind] {
    switch self {
    case .async: [.async]
    case .futures: [.future]
    case .both: [.async, .future]
    }
  }
}

/// A function that the tool writes: it calls a callback function, and returns the result.
package struct Counterpart {
  package enum Kind: String, CaseIterable {
    case async, future
  }

  let kind: Kind
  let function: CallbackFunction
  private let module: String

  /// The library's future type.
  private let future: String

  /// Whether the compiler accepts a value that is not `Sendable` in a future.
  private let allowsAnyValue: Bool

  let spelling: TypeSpelling
  let aliases: TypeAliases

  init(kind: Kind, function: CallbackFunction, in inventory: Inventory) {
    self.kind = kind
    self.function = function
    module = inventory.module
    future = inventory.future
    allowsAnyValue = inventory.allowsFuturesOfAnyValue
    spelling = inventory.spelling(for: function)
    aliases = inventory.aliases
  }

  /// The types that the counterpart's declaration names.
  var types: [Token] {
    (parameters.map(\.type) + (callbacks.shape.values ?? [])).flatMap { Array($0) }
  }

  /// The declaration and the body, with its documentation, not indented.
  var lines: [String] {
    documentation + attributes + ["\(signature) {"] + body.map { "  " + $0 } + ["}"]
  }

  var declaration: Declaration { function.declaration }
  var callbacks: Callbacks { function.callbacks }

  /// The parameters of the function that the counterpart has, too.
  private var parameters: [Declaration.Parameter] { declaration.parameters(without: callbacks.omitted(by: kind)) }

  /// The type of the result: the value, or a tuple of several values, `()` for none.
  private var valueType: String {
    let values = callbacks.shape.values ?? []
    return values.count == 1 ? spelling.text(values[0]) : tuple(values.map(spelling.text))
  }

  /// The type of the future that gets the callback's result; its failure is `any Error`, so that it can hold `BrokenPromise`.
  private var futureType: String {
    let plain = valueType == "()" ? spelling.text("Void", "s:s4Voida") : valueType
    let value = isTransferred ? "\(transfer)<\(plain)>" : plain
    return "\(future)<\(value), any \(spelling.text("Error", "s:s5ErrorP"))>"
  }

  /// A tuple of types or expressions for the values of the callback, with the values' names.
  func tuple(_ parts: [String]) -> String {
    let labels = callbacks.labels.map { $0.isEmpty ? "" : "\($0): " }
    let elements = labels.isEmpty ? parts : zip(labels, parts).map { $0 + $1 }
    return "(\(elements.joined(separator: ", ")))"
  }

  // MARK: - The declaration

  /// The summary, a link to the function with the other text, and the parameters that the counterpart keeps.
  private var documentation: [String] {
    let text = DocumentationText(function.symbol.docComment?.lines.map(\.text) ?? [])
    let summary = text.summary.isEmpty ? [] : text.summary + [""]
    let link = "The \(kind.rawValue) counterpart of ``\(declaration.title())``."
    // The compiler checks nothing in an `UncheckedTransfer`, so the caller has to guarantee this.
    let promise =
      isTransferred
      ? [
        "The value is not `Sendable`. The caller promises that one thread or actor at a time uses it, and that the callback",
        "function has given it away.",
      ] : []
    let lines = summary + [link] + promise + text.parameters(named: parameters.map(\.name))
    return lines.map { $0.isEmpty ? "///" : "/// " + $0 }
  }

  /// Attributes for the function's callers, result or body, which its counterpart does not share; `attributes` adds `@available`.
  private static let attributesOfCallbacks: Set<Substring> = [
    "@objc", "@nonobjc", "@discardableResult", "@inlinable", "@IBAction", "@available", "@preconcurrency",
  ]

  /// The function's availability and attributes, without those above and any `@_`: for example, the C name of `@_cdecl` is taken.
  private var attributes: [String] {
    let kept = declaration.attributes.filter { attribute in
      let name = attribute.prefix { $0 != "(" }
      return !Self.attributesOfCallbacks.contains(name) && !name.hasPrefix("@_")
    }
    return function.symbol.availabilityAttributes + kept
  }

  /// Whether the counterpart's body needs the module Futures.
  var usesFutures: Bool {
    // The wrapper of a handle, `UncheckedTransfer`, is in Futures.
    if case .calls(let call) = function.handle, call.isTransferred { return true }
    return kind == .future
  }

  private var signature: String {
    var words: [String] = []
    let access = function.symbol.access
    // An extension cannot declare an `open` function.
    if access != .internal { words.append(access == .open ? "public" : access.rawValue) }
    if declaration.isStatic { words.append("static") }
    if declaration.modifiers.contains("mutating") { words.append("mutating") }
    // Without an actor of its own, the counterpart runs on the actor of the caller, as before the migration.
    let hasNoActor = declaration.globalActor == nil && !function.isOnActor
    if kind == .async, hasNoActor {
      words.append("nonisolated(nonsending)")
    } else if declaration.isNonisolated {
      words.append("nonisolated")
    }
    words.append("func")
    let name = function.counterpart(kind).name
    let parameters = parameters.map { $0.text(spelling.text($0.type)) }
    var text = words.joined(separator: " ") + " \(name)"
    if !declaration.generics.isEmpty { text += "<\(spelling.text(declaration.generics))>" }
    text += "(\(parameters.joined(separator: ", ")))"
    switch kind {
    case .async:
      text +=
        " async throws\(typedFailure.map { "(\($0.type))" } ?? "")" + (valueType == "()" ? "" : " -> \(valueType)")
    case .future: text += " -> \(futureType)"
    }
    return text + (declaration.requirements.isEmpty ? "" : " " + spelling.text(declaration.requirements))
  }

  // MARK: - The body

  /// The call of the library that makes the future, or that awaits the callback and converts its errors if need be.
  private var body: [String] {
    let title = "\"\(declaration.title())\""
    let start = kind == .future ? "\(future)(\(title))" : "try await withCallback(\(title))"
    let reportsProgress = kind == .future && callbacks.progress != nil
    let progress = reportsProgress ? ["let \(unused("progress")) = \(bridge).progress"] : []
    let content = (progress + catchingErrors(call)).map { "  " + $0 }
    let lines = ["\(start) { \(bridge) in"] + content + ["}"]
    guard kind == .async, let (type, converter) = typedFailure else { return lines }
    // Inside `do`, Swift does not return the value of a single expression, so `return` is explicit.
    let returning = ["return " + lines[0]] + lines.dropFirst()
    return ["do {"] + returning.map { "  " + $0 }
      + ["} catch let error as \(type) {", "  throw error", "} catch {", "  throw \(converter)(error)", "}"]
  }

  /// The error type of the callback, and the function of the configuration that converts other errors to this type.
  private var typedFailure: (type: String, converter: String)? {
    let converter = function.knowledge.values[.failure]
    guard let failure = callbacks.shape.typedFailure, let converter else { return nil }
    return (spelling.text(failure), converter)
  }

  /// Whether the future holds the value in an `UncheckedTransfer`, which the configuration asks for by `transfer`.
  var isTransferred: Bool {
    kind == .future && !allowsAnyValue && function.sendability != .yes && function.knowledge.isListed(in: .transfer)
  }

  /// The name of the promise or the callback in the body.
  var bridge: String { unused(kind == .future ? "promise" : "callback") }

  /// The name, with underscores if a parameter has the same name.
  private func unused(_ name: String) -> String {
    var name = name
    let taken = parameters.map(\.name)
    while taken.contains(name) { name += "_" }
    return name
  }

  /// The lines, in a `do` statement if the function throws: the closure of the bridge cannot throw.
  private func catchingErrors(_ lines: [String]) -> [String] {
    guard declaration.isThrowing else { return lines }
    let failing = kind == .async ? "\(bridge).resume(throwing: error)" : "\(bridge).fail(error)"
    return ["do {"] + lines.map { "  " + $0 } + ["} catch {", "  \(failing)", "}"]
  }

  /// The call of the function with the callback.
  private var call: [String] {
    // A queue whose `argument` is `nil` has a default, so the call leaves the queue out.
    let arguments = declaration.parameters.indices.compactMap { index -> String? in
      let parameter = declaration.parameters[index]
      if let queue = callbacks.queue, queue.index == index, queue.argument == nil { return nil }
      return (parameter.label == "_" ? "" : "\(parameter.label): ") + argument(index)
    }
    // A parameter can hide the name of a function that belongs to no type.
    let isHidden = declaration.parameters.contains { $0.name == declaration.name }
    let qualifier = function.scope.isEmpty ? (isHidden ? "\(module)." : "") : "self."
    let callee = qualifier + declaration.name
    let call = (declaration.isThrowing ? "try " : "") + "\(callee)(\(arguments.joined(separator: ", ")))"
    if case .calls(let cancellation) = function.handle {
      let (handle, task) = (unused("handle"), spelling.text("Task", "s:ScT"))  // a module can have a `Task` of its own
      return [
        "let \(handle) = \(cancellation.isTransferred ? "\(transfer)(\(call))" : call)",
        "\(bridge).onCancel { \(cancellation.text(of: handle, task: task)) }",
      ]
    }
    return [function.returnsValue ? "_ = " + call : call]
  }

  var transfer: String { spelling.text("UncheckedTransfer", "s:7Futures17UncheckedTransferV") }

  /// The argument for the parameter at an index: a handler, a queue, a report of progress, or the counterpart's own parameter.
  private func argument(_ index: Int) -> String {
    let parameter = declaration.parameters[index]
    if index == callbacks.completion { return completion }
    if index == callbacks.failure { return "\(bridge).failureHandler" }
    if let queue = callbacks.queue, queue.index == index, let argument = queue.argument { return argument }
    let isReported = kind == .future && callbacks.progress?.parameter == index  // `async` keeps the parameter
    if isReported, let progress = callbacks.progress { return progressReport(progress.shape) }
    // In the body, an autoclosure parameter is a closure. The function needs an expression, so the argument calls that closure.
    return parameter.specifiers.contains("@autoclosure") ? "\(parameter.reference)()" : parameter.reference
  }

  /// The closure that reports to the promise's progress; without `@Sendable`, the counterpart's actor would isolate it.
  private func progressReport(_ shape: ProgressShape) -> String {
    let progress = unused("progress")  // the variable that `body` declares
    let (double, integer) = (spelling.text("Double", "s:Sd"), spelling.text("Int64", "s:s5Int64V"))
    switch shape {
    case .fraction(let type):
      return "{ @Sendable in \(progress).report(fraction: \(type == "Double" ? "$0" : "\(double)($0)")) }"
    case .counts(isTotalOptional: true):
      return "{ @Sendable in \(progress).report(completed: \(integer)($0), of: $1.map { \(integer)($0) }) }"
    case .counts(isTotalOptional: false):
      return "{ @Sendable in \(progress).report(completed: \(integer)($0), of: \(integer)($1)) }"
    }
  }
}

extension SymbolGraph.Symbol {
  /// The `@available` attributes for the versions of platforms.
  ///
  /// A counterpart is deprecated where its function is, so that it can call the function without a warning.
  var availabilityAttributes: [String] {
    // These two domains are no platforms, but the language and all platforms.
    let items = (availability ?? []).filter { $0.domain != "Swift" && $0.domain != "*" }
    let platforms = items.compactMap { item -> String? in
      guard let domain = item.domain, let version = item.introduced else { return nil }
      return "\(domain) \(version.text)"
    }
    let deprecations = items.compactMap { item -> String? in
      guard let domain = item.domain, let version = item.deprecated else { return nil }
      let message = item.message.map { ", message: \($0.debugDescription)" } ?? ""
      return "@available(\(domain), deprecated: \(version.text)\(message))"
    }
    return (platforms.isEmpty ? [] : ["@available(\(platforms.joined(separator: ", ")), *)"]) + deprecations
  }
}

extension SymbolGraph.Symbol.Availability.Version {
  /// The version with its minor part, and with its patch unless that is 0.
  fileprivate var text: String {
    let parts = [major, minor ?? 0] + (patch.map { $0 > 0 ? [$0] : [] } ?? [])
    return parts.map(String.init).joined(separator: ".")
  }
}
