extension CallbackFunction {
  /// Where the callback of a new function comes, as the argument of `forward(on:to:)`.
  private var newContext: String { knowledge.value(.context) ?? ".main" }

  /// The sentence of the documentation that names this place.
  var contextText: String {
    let place = [".main": "on the main queue", ".global()": "on a global queue"][newContext] ?? "on `\(newContext)`"
    return "Calls back \(place)."
  }

  /// The body of the callback counterpart of an async function.
  func wrapper(in inventory: Inventory) throws(CallRefusal) -> [String] {
    guard let form else { return [] }
    return try WrapperText(self, form.declaration, context: newContext, usesFutures: true, in: inventory).lines()
  }
}

/// Where the callback of a function comes, by the facts that show it.
struct WrapperContext {
  /// The argument of `forward(on:to:)`.
  let text: String

  /// - Parameters:
  ///   - function: The callback function.
  ///   - body: The old body of the function.
  ///   - inventory: The module of the function.
  /// - Throws: A refusal if nothing shows where the callback comes.
  init(_ function: CallbackFunction, _ body: OldBody, _ inventory: Inventory) throws(CallRefusal) {
    let declaration = function.declaration
    let callbacks = function.callbacks
    let types = callbacks.indices.map { declaration.parameters[$0].type }
    if let reason = body.refusal { throw CallRefusal(reason) }
    if let line = body.lineOfQueuedProgress {
      throw CallRefusal("line \(line) reports progress on a queue, and its counterpart might not")
    }
    let queue = callbacks.queue.map { declaration.parameters[$0.index] }
    if types.allSatisfy({ inventory.aliases.attributes(ofClosure: $0).contains("@MainActor") }) {
      text = ".main"
    } else if let queue, inventory.aliases.resolve(queue.type).text.hasSuffix("DispatchQueue") {
      text = ".queue(\(queue.reference))"
    } else if let said = function.knowledge.value(.context) {
      text = said
    } else if let queue {
      let reason = "a wrapper needs a `DispatchQueue` for its callback, and `\(queue.name)` is none"
      throw CallRefusal(Refusal(reason, .context, function.title, ".main"))
    } else if let queue = body.queue {
      text = queue
    } else if body.isInline && function.globalActor == "@MainActor" || Self.saysMain(function) {
      text = ".main"
    } else {
      let reason = "nothing says on which queue its callback comes"
      throw CallRefusal(Refusal(reason, .context, function.title, ".main"))
    }
  }

  /// Whether a sentence of the documentation says that the callback comes on the main queue.
  private static func saysMain(_ function: CallbackFunction) -> Bool {
    let text = (function.symbol.docComment?.lines.map(\.text) ?? []).joined(separator: " ").lowercased()
    let names = function.callbacks.indices.map { function.declaration.parameters[$0].name.lowercased() }
    return text.split(separator: ".").contains { sentence in
      let isOfCallback = (names + ["callback", "calls back", "called back"]).contains { sentence.contains($0) }
      let isNegative = ["not ", "n't ", "never ", "unless "].contains { sentence.contains($0) }
      let isMain = ["main queue", "main thread", "main actor"].contains { sentence.contains("on the \($0)") }
      return isOfCallback && isMain && !isNegative
    }
  }
}

/// The async counterpart that a wrapper calls.
struct WrappedCounterpart {
  let symbol: SymbolGraph.Symbol
  let declaration: Declaration

  /// - Parameters:
  ///   - function: The callback function.
  ///   - inventory: The module of the function.
  /// - Throws: The reason why the function cannot call its counterpart.
  init(of function: CallbackFunction, in inventory: Inventory) throws(CallRefusal) {
    guard let symbol = function.counterpart(.async).symbol, let location = symbol.location, let path = location.path,
      let declaration = Declaration([Token](symbol.declarationFragments))
    else { throw CallRefusal("its counterpart is not found") }
    self.symbol = symbol
    self.declaration = declaration
    if function.role == .requirement { throw CallRefusal("it is a requirement of a protocol, and has no body") }
    if function.declaration.keyword == "init" { throw CallRefusal("an initializer cannot wait for its counterpart") }
    if function.declaration.isThrowing { throw CallRefusal("it throws before its callback comes") }
    if inventory.isElsewhere(path) { throw CallRefusal("its counterpart is in another module, \(path)") }
    guard symbol.pathComponents.dropLast() == function.symbol.pathComponents.dropLast() else {
      throw CallRefusal("its counterpart belongs to `\(symbol.pathComponents.dropLast().joined(separator: "."))`")
    }
    guard AvailabilityText(symbol.availability).attributes == AvailabilityText(function.symbol.availability).attributes,
      SourceFile(path: path).condition(ofLine: location.position.line + 1)
        == SourceFile(path: function.path).condition(ofLine: function.line)
    else { throw CallRefusal("its counterpart is there for other platforms or conditions") }
    // A function of the module can be isolated to the main actor although nothing says so.
    if inventory.isMainActorTheDefault, function.scope.isEmpty, function.globalActor == nil, !function.isNonisolated {
      throw CallRefusal("nothing here says whether it belongs to the main actor; add `@MainActor` or `nonisolated`")
    }
  }
}

extension CallRefusal {
  /// Makes a refusal whose reason ends with the entry of the configuration that would settle it.
  init(_ refusal: Refusal) { self.init(refusal.reason + (refusal.setting.map { ": \($0)" } ?? "")) }
}
