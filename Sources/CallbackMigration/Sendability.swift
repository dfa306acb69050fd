/// Whether values of a type may be shared among threads, as far as a symbol graph tells.
enum Sendability: String {
  case yes, no, unknown
}

/// What a module's symbol graph says of its types.
struct TypeFacts {
  private var sendable: Set<String> = []
  private var own: Set<String> = []
  private var superclasses: [String: String] = [:]

  /// The `cancel()` of each type that has it.
  private var cancels: [String: Cancel] = [:]
  private let aliases: TypeAliases

  init(_ graph: SymbolGraph, _ aliases: TypeAliases) {
    self.aliases = aliases
    let kinds = ["swift.class", "swift.struct", "swift.enum", "swift.protocol"]
    for symbol in graph.symbols where kinds.contains(symbol.kind.identifier) { own.insert(symbol.identifier.precise) }
    var isFree: [String: Cancel] = [:]
    for symbol in graph.symbols where symbol.pathComponents.last == "cancel()" && symbol.access >= .internal {
      guard let declaration = Declaration([Token](symbol.declarationFragments)), !declaration.isStatic else { continue }
      isFree[symbol.identifier.precise] = Cancel(declaration)
    }
    for relation in graph.relationships {
      switch relation.kind {
      case "conformsTo" where relation.targetFallback == "Swift.Sendable": sendable.insert(relation.source)
      case "inheritsFrom": superclasses[relation.source] = relation.target
      case "memberOf", "requirementOf":
        if let isFree = isFree[relation.source] { cancels[relation.target] = isFree }
      default: break
      }
    }
    for relation in graph.relationships where relation.targetFallback == "_Concurrency.Actor" {
      cancels[relation.source]?.isOnActor = true
    }
    for symbol in graph.symbols where symbol.kind.identifier == "swift.associatedtype" {
      var reader = TokenReader([Token](symbol.declarationFragments))
      _ = reader.take(upTo: [":"])
      let protocols = reader.take(":") ? reader.rest.compactMap(\.type) : []
      own.insert(symbol.identifier.precise)
      if protocols.contains(where: isSendable(protocol:)) { sendable.insert(symbol.identifier.precise) }
    }
  }

  /// Whether what conforms to a protocol is `Sendable`.
  private func isSendable(protocol type: String) -> Bool {
    ["s:s8SendableP", "s:s5ErrorP", "s:ScA"].contains(type) || sendable.contains(type)
  }

  /// The types that a function or what it is in says are `Sendable`, as it names them.
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

  /// Whether `type` is `Sendable`, in a function whose generic parameters in `genericSendables` are.
  func sendability(of type: ArraySlice<Token>, _ genericSendables: Set<String>) -> Sendability {
    let type = aliases.resolve(type)
    if let wrapped = aliases.wrapped(type) { return sendability(of: wrapped, genericSendables) }
    if type.first?.text == "@Sendable" { return .yes }
    var reader = TokenReader(type)
    if let inside = reader.takeBracketed("(", ")") {
      guard reader.isAtEnd else { return .no }  // a closure
      return all(inside.elements.map(Self.withoutLabel), genericSendables)
    }
    if let inside = reader.takeBracketed("[", "]"), reader.isAtEnd {
      var parts = TokenReader(inside)
      let first = parts.take(upTo: [":"])
      return all(parts.take(":") ? [first, parts.rest] : [first], genericSendables)
    }
    if genericSendables.contains(type.text) { return .yes }
    reader = TokenReader(type)
    _ = reader.take("any")
    var name = reader.take()
    while reader.take(".") { name = reader.take() }
    let arguments = reader.takeBracketed("<", ">")?.elements ?? []
    guard reader.isAtEnd, let name else { return .unknown }
    let isSendable =
      if let type = name.type, own.contains(type) {
        sendable.contains(type)
      } else if name.type != nil, Self.known.contains(name.text) {
        true
      } else { false }
    guard isSendable else { return name.type.map(own.contains) == true ? .no : .unknown }
    return all(arguments, genericSendables)
  }

  /// The least of them.
  func all(_ types: [ArraySlice<Token>], _ genericSendables: Set<String>) -> Sendability {
    let each = types.map { sendability(of: $0, genericSendables) }
    return each.contains(.no) ? .no : each.contains(.unknown) ? .unknown : .yes
  }

  private static func withoutLabel(_ element: ArraySlice<Token>) -> ArraySlice<Token> {
    var reader = TokenReader(element)
    _ = reader.take(upTo: [":"])
    return reader.take(":") ? reader.rest : element
  }

  /// Types of the standard library, Dispatch and Foundation that are `Sendable`, if what they contain is.
  private static let known: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128",
    "Float",
    "Double", "CGFloat", "Bool", "String", "Substring", "Character", "StaticString", "Void", "Never", "Error",
    "Sendable",
    "Array", "ArraySlice", "Set", "Dictionary", "Result", "Range", "ClosedRange", "Duration", "Data", "Date", "URL",
    "URLRequest", "URLResponse", "HTTPURLResponse", "UUID", "Decimal", "Locale", "TimeZone", "Calendar",
    "DateComponents",
    "DateInterval", "IndexPath", "IndexSet", "CharacterSet", "TimeInterval", "URLComponents", "CGPoint", "CGSize",
    "CGRect",
    "NSError", "URLError", "CocoaError", "DispatchTime",
  ]

  /// How work is cancelled whose handle is of this type.
  func cancellation(of handle: ArraySlice<Token>, _ genericSendables: Set<String>) -> HandleCancellation {
    let type = aliases.resolve(handle)
    guard !type.isEmpty, !CallbackShape.isVoid(type) else { return .none }
    let isOptional = aliases.isOptional(type)
    let bare = aliases.wrapped(type) ?? type
    var reader = TokenReader(bare)
    while reader.take("any") || reader.take("some") {}
    var name = reader.take()
    while reader.take(".") { name = reader.take() }
    _ = reader.takeBracketed("<", ">")
    guard reader.isAtEnd, let name else { return .none }
    let call = isOptional ? "?.cancel()" : ".cancel()"
    if name.type == "s:ScT" || name.type?.hasPrefix("c:") != false && Self.cancellable.contains(name.text)
      || name.type?.contains("10Foundation") == true && Self.cancellable.contains(name.text)
    {
      return .calls(call)
    }
    var owner = name.type
    while let type = owner, cancels[type] == nil { owner = superclasses[type] }
    guard let owner, let cancel = cancels[owner] else { return .none }
    if let reason = cancel.refusal { return .refused("`\(name.text).cancel()` \(reason)") }
    guard sendability(of: bare, genericSendables) == .yes else { return .refused("`\(name.text)` is not Sendable") }
    return .calls(call)
  }

  /// Foundation's handles, which are `Sendable` and have `cancel()`.
  private static let cancellable: Set<String> = [
    "URLSessionTask", "URLSessionDataTask", "URLSessionUploadTask", "URLSessionDownloadTask", "Progress", "Operation",
    "BlockOperation",
  ]
}

/// How work is cancelled by what its function returns.
enum HandleCancellation {
  /// It returns nothing that cancels.
  case none

  /// By this call on it.
  case calls(String)

  /// It could be, but not from any thread; why.
  case refused(String)
}

/// How a type of the module cancels.
private struct Cancel {
  private let declaration: Declaration
  var isOnActor = false

  init(_ declaration: Declaration) { self.declaration = declaration }

  /// Why it cannot be called from anywhere.
  var refusal: String? {
    let isIsolated = declaration.attributes.contains { $0 != "@objc" && $0 != "@discardableResult" }
    if isIsolated || isOnActor && !declaration.modifiers.contains("nonisolated") { return "is isolated" }
    if declaration.isAsync { return "is async" }
    if declaration.isThrowing { return "throws" }
    if declaration.modifiers.contains("mutating") { return "changes its handle" }
    if declaration.modifiers.contains("consuming") { return "uses its handle up" }
    let isIgnored = declaration.returnType.isEmpty || CallbackShape.isVoid(declaration.returnType)
    return isIgnored || declaration.attributes.contains("@discardableResult") ? nil : "returns something"
  }
}
