/// Whether a type is `Sendable`, by the symbol graph.
package enum Sendability: String {
  case yes, no, unknown
}

/// Facts about types, from the symbol graphs of a module and of the modules of its package that it depends on.
struct TypeFacts {
  /// The types that are declared `Sendable`.
  private var sendable: Set<String>

  /// The types of the module, and of the modules of its package that it depends on.
  private var own: Set<String>

  /// The classes and protocols among them.
  private let references: Set<String>

  /// The functions that lend values of each type to a closure, as `read(_:)` lends a database.
  private var lenders: [String: String] = [:]
  private let aliases: TypeAliases
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
    // An associated type counts as a type of the module: it is `Sendable` only if its declaration says so.
    for symbol in graph.symbols where symbol.kind.identifier == "swift.associatedtype" {
      var reader = TokenReader(symbol.tokens)
      _ = reader.take(upTo: [":"])
      let protocols = reader.take(":") ? reader.take(upTo: ["=", "where"]).compactMap(\.type) : []
      own.insert(symbol.identifier.precise)
      if protocols.contains(where: isSendable(protocol:)) { sendable.insert(symbol.identifier.precise) }
    }
  }

  /// Whether all types that conform to a protocol are `Sendable`, as with `Sendable`, `Error` and `Actor`.
  private func isSendable(protocol type: String) -> Bool {
    ["s:s8SendableP", "s:s5ErrorP", "s:ScA"].contains(type) || sendable.contains(type)
  }

  /// The names of the generic parameters that are `Sendable` in a function, and `Self` if `owner` is.
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

  /// Whether `type` is `Sendable`, if the generic parameters in `genericSendables` are; often `unknown` for a foreign type.
  func sendability(of type: ArraySlice<Token>, _ genericSendables: Set<String>) -> Sendability {
    let type = aliases.resolve(type)
    if let wrapped = aliases.wrapped(type) { return sendability(of: wrapped, genericSendables) }
    if type.first?.text == "@Sendable" { return .yes }
    var reader = TokenReader(type)
    if let inside = reader.takeBracketed("(", ")") {
      guard reader.isAtEnd else { return .no }  // a function type
      return weakest(of: inside.elements.map(FunctionType.withoutLabel), genericSendables)  // a tuple, or `(any P)`
    }
    if let inside = reader.takeBracketed("[", "]"), reader.isAtEnd {  // an array or a dictionary
      var parts = TokenReader(inside)
      let first = parts.take(upTo: [":"])
      return weakest(of: parts.take(":") ? [first, parts.rest] : [first], genericSendables)
    }
    if genericSendables.contains(type.text) { return .yes }
    // `genericSendables` has an associated type as `Self.Element`. A graph that `swiftc` writes has the type as `Element`.
    if type.count == 1, type.allSatisfy(isAssociated), genericSendables.contains("Self." + type.text) { return .yes }
    reader = TokenReader(type)
    _ = reader.take("any")
    let (names, arguments) = reader.takeTypeName()
    guard reader.isAtEnd, let name = names.last, let identifier = name.type else { return .unknown }
    if own.contains(identifier) {
      guard sendable.contains(identifier) else { return .no }
    } else if !Self.knownSendables.contains(name.text) {
      return .unknown
    }
    return weakest(of: arguments, genericSendables)
  }

  /// Finds the functions that lend values of a class or protocol to a closure, as `read(_:)` lends a database until it returns.
  ///
  /// `ShapeReader` then refuses each callback of the module that gets such a value: it might not be valid after the call.
  mutating func addLenders(of graph: SymbolGraph) {
    for symbol in graph.symbols {
      guard let declaration = Declaration(symbol.tokens),
        CallbackNames.lendsValues(function: declaration.plainName)
      else { continue }
      for parameter in declaration.parameters {
        guard let closure = aliases.functionType(of: parameter.type) else { continue }
        // A completion, which comes at the end of the work, lends nothing. An optional closure always escapes.
        let isEscaping = parameter.specifiers.contains("@escaping") || aliases.isOptional(parameter.type)
        let mightBeCompletion = isEscaping && closure.returnsNothing && closure.effects.isEmpty
        if mightBeCompletion { continue }
        for token in closure.parameters.flatMap({ aliases.resolve($0) }) where isUnsharedReference(token) {
          guard let type = token.type else { continue }
          // Keeps the first of several lenders by name, so that the order of the graph does not matter.
          lenders[type] = min(lenders[type] ?? declaration.title(), declaration.title())
        }
      }
    }
  }

  /// The title of a function that lends values of a token's type to its closure; `nil` if there is none.
  func lender(of token: Token) -> String? { token.type.flatMap { lenders[$0] } }

  /// Whether a token names a type of the module, or of a module of its package that it depends on.
  func isOwn(_ token: Token) -> Bool { token.type.map(own.contains) == true }

  /// Whether a token names a class or a protocol that is not known to be `Sendable`.
  func isUnsharedReference(_ token: Token) -> Bool { isReference(token) && sendability(of: [token], []) != .yes }

  /// Whether a token names a class or a protocol, or another module's alias, whose type is unknown here.
  private func isReference(_ token: Token) -> Bool {
    guard let type = token.type else { return false }
    if own.contains(type) { return references.contains(type) }
    if type.hasPrefix("c:objc") { return true }  // of Objective-C
    // An identifier ends in its kind: class, protocol or alias. An array (`s:Sa`) and an associated type (`…Qa`) end in `a`, too.
    return namesModule(type) && ["C", "P", "a"].contains(type.last) && !isAssociated(token)
  }

  /// Whether an identifier names a module: the length of the name follows `s:`, except in the standard library.
  private func namesModule(_ type: String) -> Bool {
    type.hasPrefix("s:") && type.dropFirst(2).first?.isNumber == true
  }

  /// Whether a token names an associated type, by the end of its identifier.
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

  /// Whether a token names a Swift type outside this package, the standard library and Foundation: only its name is known here.
  private func isForeign(_ token: Token) -> Bool {
    guard let type = token.type, !own.contains(type) else { return false }
    return namesModule(type) && !type.contains("Foundation")  // `contains`: Foundation has several modules
  }

  /// The weakest sendability of several types.
  func weakest(of types: [ArraySlice<Token>], _ genericSendables: Set<String>) -> Sendability {
    let each = types.map { sendability(of: $0, genericSendables) }
    return each.contains(.no) ? .no : each.contains(.unknown) ? .unknown : .yes
  }

  /// Types of the standard library, Dispatch and Foundation that are `Sendable` if their content is.
  private static let knownSendables: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128",
    "Float", "Double", "CGFloat", "Bool", "String", "Substring", "Character", "StaticString", "Void", "Never", "Error",
    "Sendable", "Array", "ArraySlice", "Set", "Dictionary", "Result", "Range", "ClosedRange", "Duration", "Data",
    "Date", "URL", "URLRequest", "URLResponse", "HTTPURLResponse", "UUID", "Decimal", "Locale", "TimeZone", "Calendar",
    "DateComponents", "DateInterval", "IndexPath", "IndexSet", "CharacterSet", "TimeInterval", "URLComponents",
    "CGPoint", "CGSize", "CGRect", "NSError", "URLError", "CocoaError", "DispatchTime",
  ]
}
