/// Whether a type is `Sendable`, by the symbol graph.
package enum Sendability: String {
  case yes, no, unknown
}

/// Facts about types, from the symbol graph of a module.
struct TypeFacts {
  private var sendable: Set<String>
  private var own: Set<String>
  private let references: Set<String>

  /// The functions that lend values of each type to a closure, as `read(_:)` lends a database.
  private var lenders: [String: String] = [:]
  private let aliases: TypeAliases

  /// The members of the module's types.
  let members: TypeMembers

  init(_ graph: SymbolGraph, _ aliases: TypeAliases) {
    self.aliases = aliases
    members = TypeMembers(graph)
    own = Set(graph.symbols.filter(\.isType).map(\.identifier.precise))
    references = Set(
      graph.symbols.filter { ["swift.class", "swift.protocol"].contains($0.kind.identifier) }.map(\.identifier.precise)
    )
    let conformances = graph.relationships.filter { $0.kind == "conformsTo" && $0.targetFallback == "Swift.Sendable" }
    sendable = Set(conformances.map(\.source))
    for symbol in graph.symbols where symbol.kind.identifier == "swift.associatedtype" {
      var reader = TokenReader([Token](symbol.declarationFragments))
      _ = reader.take(upTo: [":"])
      let protocols = reader.take(":") ? reader.rest.compactMap(\.type) : []
      own.insert(symbol.identifier.precise)
      if protocols.contains(where: isSendable(protocol:)) { sendable.insert(symbol.identifier.precise) }
    }
  }

  /// Whether all types that conform to a protocol are `Sendable`.
  private func isSendable(protocol type: String) -> Bool {
    ["s:s8SendableP", "s:s5ErrorP", "s:ScA"].contains(type) || sendable.contains(type)
  }

  /// The types that the generic requirements of a function or its type make `Sendable`.
  func sendables(in symbol: SymbolGraph.Symbol, of owner: SymbolGraph.Symbol?) -> Set<String> {
    let constraints = (symbol.swiftGenerics?.constraints ?? []) + (symbol.swiftExtension?.constraints ?? [])
    var names = Set(
      constraints.compactMap { constraint in
        constraint.rhsPrecise.map(isSendable(protocol:)) == true ? constraint.lhs : nil
      }
    )
    if let owner, sendable.contains(owner.identifier.precise) { names.insert("Self") }
    return names
  }

  /// Whether `type` is `Sendable`, if the generic parameters in `genericSendables` are.
  func sendability(of type: ArraySlice<Token>, _ genericSendables: Set<String>) -> Sendability {
    let type = aliases.resolve(type)
    if let wrapped = aliases.wrapped(type) { return sendability(of: wrapped, genericSendables) }
    if type.first?.text == "@Sendable" { return .yes }
    var reader = TokenReader(type)
    if let inside = reader.takeBracketed("(", ")") {
      guard reader.isAtEnd else { return .no }  // a closure
      return all(inside.elements.map(FunctionType.withoutLabel), genericSendables)
    }
    if let inside = reader.takeBracketed("[", "]"), reader.isAtEnd {
      var parts = TokenReader(inside)
      let first = parts.take(upTo: [":"])
      return all(parts.take(":") ? [first, parts.rest] : [first], genericSendables)
    }
    if genericSendables.contains(type.text) { return .yes }
    // In a graph that `swiftc` writes the name is `Element`, and in one that is made from a module `Self.Element`.
    if type.count == 1, type.allSatisfy(isAssociated), genericSendables.contains("Self." + type.text) { return .yes }
    reader = TokenReader(type)
    _ = reader.take("any")
    let (names, arguments) = reader.takeTypeName()
    guard reader.isAtEnd, let name = names.last else { return .unknown }
    let isSendable =
      if let type = name.type, own.contains(type) {
        sendable.contains(type)
      } else if name.type != nil, Self.known.contains(name.text) {
        true
      } else { false }
    guard isSendable else { return name.type.map(own.contains) == true ? .no : .unknown }
    return all(arguments, genericSendables)
  }

  /// Finds the functions that lend values.
  ///
  /// A lent type counts as lent in the whole module.
  mutating func addLenders(of graph: SymbolGraph) {
    for symbol in graph.symbols {
      guard let declaration = Declaration([Token](symbol.declarationFragments)),
        CallbackNames.isScoped(function: declaration.plainName)
      else { continue }
      for parameter in declaration.parameters {
        guard let closure = aliases.functionType(of: parameter.type) else { continue }
        // Other closures can be completion handlers.
        let isEscaping = parameter.specifiers.contains("@escaping") || aliases.isOptional(parameter.type)
        guard !isEscaping || !closure.returnsNothing || !closure.effects.isEmpty else { continue }
        for token in closure.parameters.flatMap({ aliases.resolve($0) }) where isUnsharedReference(token) {
          if let type = token.type, lenders[type].map({ $0 > declaration.title() }) != false {
            lenders[type] = declaration.title()
          }
        }
      }
    }
  }

  /// The function that lends values of a type.
  func lender(of token: Token) -> String? { token.type.flatMap { lenders[$0] } }

  /// Whether a token names a type of the module.
  func isOwn(_ token: Token) -> Bool { token.type.map(own.contains) == true }

  /// Whether a token names a class, or a protocol, of which nothing says that it is `Sendable`.
  func isUnsharedReference(_ token: Token) -> Bool { isReference(token) && sendability(of: [token], []) != .yes }

  /// Whether a token names a class or a protocol.
  func isReference(_ token: Token) -> Bool {
    guard let type = token.type else { return false }
    // The compiler's identifiers end in the kind of the type. The standard library's own are short.
    let isForeign =
      !own.contains(type)
      && (type.hasPrefix("c:objc")
        || type.hasPrefix("s:") && type.dropFirst(2).first?.isNumber == true
          && ["C", "P", "a"].contains(type.last) && !isAssociated(token))
    return references.contains(type) || isForeign
  }

  private func isAssociated(_ token: Token) -> Bool { token.type?.hasSuffix("Qa") == true }

  /// Whether a token names a type of another package that might be an error, by its name.
  func isForeignError(_ token: Token) -> Bool {
    isForeign(token) && ["Error", "Failure", "Exception"].contains { token.text.hasSuffix($0) }
  }

  /// Whether a token names a type of another package that might hold a failure, by its name.
  func isForeignResponse(_ token: Token) -> Bool {
    isForeign(token)
      && ["Result", "Response", "Outcome", "Either", "Completion", "Reply"].contains { token.text.hasSuffix($0) }
  }

  private func isForeign(_ token: Token) -> Bool {
    guard let type = token.type, !own.contains(type), type.hasPrefix("s:") else { return false }
    return type.dropFirst(2).first?.isNumber == true && !type.contains("Foundation")
  }

  /// The weakest sendability of several types.
  func all(_ types: [ArraySlice<Token>], _ genericSendables: Set<String>) -> Sendability {
    let each = types.map { sendability(of: $0, genericSendables) }
    return each.contains(.no) ? .no : each.contains(.unknown) ? .unknown : .yes
  }

  /// Types of the standard library, Dispatch and Foundation that are `Sendable` if their content is.
  private static let known: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128",
    "Float", "Double", "CGFloat", "Bool", "String", "Substring", "Character", "StaticString", "Void", "Never", "Error",
    "Sendable", "Array", "ArraySlice", "Set", "Dictionary", "Result", "Range", "ClosedRange", "Duration", "Data",
    "Date", "URL", "URLRequest", "URLResponse", "HTTPURLResponse", "UUID", "Decimal", "Locale", "TimeZone", "Calendar",
    "DateComponents", "DateInterval", "IndexPath", "IndexSet", "CharacterSet", "TimeInterval", "URLComponents",
    "CGPoint", "CGSize", "CGRect", "NSError", "URLError", "CocoaError", "DispatchTime",
  ]
}
