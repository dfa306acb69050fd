/// The callback counterpart of an async function, such as `load(id:completion:)` for `load(id:) async`.
struct CallbackForm {
  /// The async function.
  let declaration: Declaration

  /// A function of the module that already serves as this counterpart; `nil` if there is none.
  let existing: SymbolGraph.Symbol?

  /// Whether the file that the tool replaces has this counterpart.
  let wasWritten: Bool

  /// The reason why the tool cannot write the counterpart: a similar function, or a type that is not `Sendable`.
  let refusal: Refusal?
}

/// Makes symbols for the callback counterparts of a module's async functions.
///
/// The tool then reads such a symbol like that of a function in the source.
struct CallbackForms {
  private let graph: SymbolGraph
  private let aliases: TypeAliases
  private let facts: TypeFacts

  /// The functions that are not async, by the path of their type, their base name and whether they are static.
  private var others: [[String]: [(symbol: SymbolGraph.Symbol, declaration: Declaration)]] = [:]

  /// The files that the tool replaces.
  private let replaced: Set<String>

  init(
    _ graph: SymbolGraph,
    _ clients: [SymbolGraph],
    _ aliases: TypeAliases,
    _ facts: TypeFacts,
    _ configuration: MigrationConfiguration,
    _ replaced: Set<String>
  ) {
    self.graph = graph
    self.aliases = aliases
    self.facts = facts
    self.replaced = replaced
    for symbol in graph.symbols + clients.flatMap(\.symbols) {
      guard let declaration = Declaration([Token](symbol.declarationFragments)), !declaration.isAsync else { continue }
      let scope = symbol.pathComponents.dropLast().joined(separator: ".")
      let knowledge = configuration.knowledge(of: symbol.pathComponents.joined(separator: "."))
      for name in Set([declaration.plainName, knowledge.newName(of: declaration.plainName) ?? declaration.plainName]) {
        others[Self.key(scope, name, declaration), default: []].append((symbol, declaration))
      }
    }
  }

  private static func key(_ scope: String, _ name: String, _ declaration: Declaration) -> [String] {
    [scope, name, declaration.isStatic ? "static" : ""]
  }

  /// The symbols of the callback counterparts, each with the declaration of its async function.
  var symbols: [(form: SymbolGraph.Symbol, declaration: Declaration?)] {
    graph.symbols.compactMap { symbol in
      let tokens = [Token](symbol.declarationFragments)
      guard let declaration = Declaration(tokens), declaration.isAsync, declaration.keyword == "func" else {
        return nil
      }
      return (Self.form(of: symbol, declaration, tokens), declaration)
    }
  }

  /// Describes the callback counterpart of an async function.
  /// - Parameters:
  ///   - symbol: The symbol of the counterpart.
  ///   - declaration: The async function.
  ///   - owner: The type that has the function, if the module declares that type.
  ///   - scopes: The names of that type, of its superclasses and of its protocols.
  /// - Returns: The facts that decide whether the tool writes the counterpart.
  func form(
    of symbol: SymbolGraph.Symbol,
    _ declaration: Declaration,
    owner: SymbolGraph.Symbol?,
    scopes: [String]
  ) -> CallbackForm {
    let found = scopes.flatMap { others[Self.key($0, declaration.plainName, declaration)] ?? [] }
    let alike = found.map { ($0.symbol, likeness(of: $0.declaration, to: declaration)) }.filter { $0.1 != .none }
    let kept = alike.filter { symbol, _ in symbol.location?.path.map(replaced.contains) != true }
    let hidden = kept.first.map { symbol, _ in
      Refusal("`\(symbol.pathComponents.last ?? "")` is there, and calls of it could get the new one")
    }
    return CallbackForm(
      declaration: declaration,
      existing: kept.first { $0.1 == .form }?.0,
      wasWritten: alike.count > kept.count,
      refusal: hidden ?? refusal(of: symbol, declaration, owner)
    )
  }

  private enum Likeness {
    case none

    /// The other function has the same labels, and at least one more closure.
    case similar

    /// The other function also has the same types, and adds only closures and at most their queue.
    case form
  }

  private func likeness(of other: Declaration, to declaration: Declaration) -> Likeness {
    guard other.parameters.count > declaration.parameters.count else { return .none }
    var rest = declaration.parameters[...]
    var hasSameTypes = true
    for parameter in other.parameters where parameter.label == rest.first?.label {
      let types = [(parameter, other), (rest.removeFirst(), declaration)].map {
        aliases.plainText(of: $0.type, $1.genericParameters)
      }
      hasSameTypes = hasSameTypes && types[0] == types[1]
    }
    let closures = other.parameters.compactMap { aliases.functionType(of: $0.type) }
    let added = closures.count - declaration.parameters.count { aliases.functionType(of: $0.type) != nil }
    guard rest.isEmpty, added > 0 else { return .none }
    let queues = other.parameters.count { aliases.resolve($0.type).text.hasSuffix("Queue") }
    let others = other.parameters.count - declaration.parameters.count - added
    return hasSameTypes && others <= min(queues, 1) && closures.contains(where: \.returnsNothing) ? .form : .similar
  }

  // MARK: Other threads

  private func refusal(
    of symbol: SymbolGraph.Symbol,
    _ declaration: Declaration,
    _ owner: SymbolGraph.Symbol?
  ) -> Refusal? {
    let sendables = facts.sendables(in: symbol, of: owner)
    let isMember = symbol.pathComponents.count > 1
    if isMember, !isSendable(owner, sendables, isStatic: declaration.isStatic) {
      let type = symbol.pathComponents.dropLast().joined(separator: ".")
      return Refusal("nothing here says that `\(type)` is Sendable, and a task of its own would call the function")
    }
    for parameter in declaration.parameters {
      let isClosure = aliases.functionType(of: parameter.type) != nil
      if parameter.specifiers.contains("@autoclosure") { return Refusal("`\(parameter.name)` is an autoclosure") }
      if isClosure, !parameter.specifiers.contains("@escaping"), !aliases.isOptional(parameter.type) {
        return Refusal("`\(parameter.name)` does not escape, and the task would keep it")
      }
      let isSendable =
        isClosure
        ? !aliases.attributes(ofClosure: parameter.type).isDisjoint(with: ["@Sendable", "@MainActor"])
        : facts.sendability(of: parameter.type, sendables) == .yes
      if !isSendable { return Refusal("nothing here says that `\(parameter.type.text)` is Sendable") }
    }
    return nil
  }

  /// Whether a task can use the value on which it calls the function, or the type of a static function.
  private func isSendable(_ owner: SymbolGraph.Symbol?, _ sendables: Set<String>, isStatic: Bool) -> Bool {
    guard let owner else { return sendables.contains("Self") }
    if [Token](owner.declarationFragments).contains(where: { $0.text == "actor" }) { return true }
    let parameters = owner.swiftGenerics?.parameters?.map(\.name).filter { $0 != "Self" } ?? []
    if isStatic, parameters.isEmpty, owner.kind.identifier != "swift.protocol" { return true }
    let token = Token(text: owner.pathComponents.last ?? "", hasSpaceBefore: false, type: owner.identifier.precise)
    return facts.sendability(of: [token], sendables) == .yes && parameters.allSatisfy(sendables.contains)
  }

  // MARK: The declaration

  private static func form(
    of symbol: SymbolGraph.Symbol,
    _ declaration: Declaration,
    _ tokens: [Token]
  ) -> SymbolGraph.Symbol {
    var fragments = Fragments()
    fragments.add((declaration.attributes + declaration.modifiers + ["func", declaration.name]).joined(separator: " "))
    if !declaration.generics.isEmpty {
      fragments.add("<")
      fragments.add(declaration.generics)
      fragments.add(">")
    }
    fragments.add("(")
    for parameter in declaration.parameters {
      let names = parameter.label == parameter.name ? parameter.name : "\(parameter.label) \(parameter.name)"
      fragments.add("\(names): ")
      fragments.add(parameter.type)
      if parameter.isVariadic { fragments.add("...") }
      if let value = parameter.defaultValue {
        fragments.add(" = ")
        fragments.add(value)
      }
      fragments.add(", ")
    }
    let name = callbackName(declaration)
    fragments.add("\(name): @escaping @Sendable (")
    fragments.addArguments(of: declaration, failure: failure(declaration, tokens))
    fragments.add(") -> ")
    fragments.add("Void", "s:s4Voida")
    fragments.add(") ")
    fragments.add(declaration.requirements)
    var form = symbol
    form.declarationFragments = fragments.all
    let labels = declaration.parameters.map { $0.label + ":" } + [name + ":"]
    form.pathComponents[form.pathComponents.count - 1] = "\(declaration.plainName)(\(labels.joined()))"
    return form
  }

  private static func callbackName(_ declaration: Declaration) -> String {
    declaration.parameters.contains { [$0.label, $0.name].contains("completion") } ? "completionHandler" : "completion"
  }

  /// The error type; `nil` if the function does not throw, and empty for any error.
  private static func failure(_ declaration: Declaration, _ tokens: [Token]) -> ArraySlice<Token>? {
    guard let effect = declaration.effects.first(where: { $0.hasPrefix("throws") }), effect != "throws(Never)" else {
      return nil
    }
    var reader = TokenReader(tokens)
    _ = reader.take(upTo: ["throws"])
    _ = reader.take()
    let type = reader.takeBracketed("(", ")") ?? []
    return ["any Error", "any Swift.Error"].contains(type.text) ? [] : type
  }

  /// The text of a declaration, with the identifiers of its types.
  private struct Fragments {
    private(set) var all: [SymbolGraph.Symbol.Fragment] = []

    mutating func add(_ text: String, _ type: String? = nil) {
      let kind = type == nil ? "text" : "typeIdentifier"
      all.append(SymbolGraph.Symbol.Fragment(kind: kind, spelling: text, preciseIdentifier: type))
    }

    mutating func add(_ tokens: ArraySlice<Token>) {
      for (index, token) in tokens.enumerated() {
        if index > 0, token.hasSpaceBefore { add(" ") }
        add(token.text, token.type)
      }
    }

    /// Adds the parameters of the callback.
    mutating func addArguments(of declaration: Declaration, failure: ArraySlice<Token>?) {
      let value = declaration.returnType
      guard let failure else { return CallbackShape.isVoid(value) ? () : add(value) }
      add("Result", "s:s6ResultO")
      add("<")
      if value.isEmpty { add("Void", "s:s4Voida") } else { add(value) }
      add(", ")
      if failure.isEmpty {
        add("any ")
        add("Error", "s:s5ErrorP")
      } else {
        add(failure)
      }
      add(">")
    }
  }
}

extension CallbackForm {
  /// Whether a callback of this shape gets all that the async function returns, and nothing else.
  func hasShape(_ shape: CallbackShape) -> Bool {
    switch shape {
    case .result: declaration.isThrowing && !declaration.effects.contains("throws(Never)")
    case .values(let values):
      values.count == (CallbackShape.isVoid(declaration.returnType) || declaration.returnType.isEmpty ? 0 : 1)
        && (!declaration.isThrowing || declaration.effects.contains("throws(Never)"))
    default: false
    }
  }
}
