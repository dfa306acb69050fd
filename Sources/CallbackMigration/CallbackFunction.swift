/// A function that takes a callback.
struct CallbackFunction {
  let symbol: SymbolGraph.Symbol
  let declaration: Declaration
  let callbacks: Callbacks

  /// The type that it is a member of, if that is of the module.
  let owner: SymbolGraph.Symbol?
  let file: String
  let path: String
  let line: Int
  let sendability: Sendability
  let handle: HandleCancellation

  /// The files in which its twins are.
  let asyncTwinFile: String?
  let futureTwinFile: String?

  /// Whether there is a function that differs from the async twin in not being async.
  let hasPlainTwin: Bool

  init(
    symbol: SymbolGraph.Symbol,
    declaration: Declaration,
    callbacks: Callbacks,
    owner: SymbolGraph.Symbol?,
    scopeAccess: AccessLevel,
    scopes: [String],
    facts: TypeFacts,
    twins: Twins,
    file: String,
    path: String,
    line: Int
  ) {
    self.symbol = symbol
    self.declaration = declaration
    self.callbacks = callbacks
    self.owner = owner
    self.file = file
    self.path = path
    self.line = line
    visibility = min(symbol.access, scopeAccess)
    self.scopes = scopes
    let sendables = facts.sendables(in: symbol, of: owner)
    sendability = callbacks.shape.values.map { facts.all($0, sendables) } ?? .unknown
    handle = facts.cancellation(of: declaration.returnType, sendables)
    asyncTitle = declaration.title(without: callbacks.omitted)
    let omitted = callbacks.omitted.union(callbacks.progress.map { [$0.parameter] } ?? [])
    futureTitle = declaration.futureTitle(without: omitted)
    asyncKey = twins.key(asyncTitle, declaration, without: callbacks.omitted)
    futureKey = twins.key(futureTitle, declaration, without: omitted)
    asyncTwinFile = twins.file(asyncKey, in: scopes, isAsync: true)
    futureTwinFile = twins.file(futureKey, in: scopes, isAsync: false)
    hasPlainTwin = twins.file(asyncKey, in: scopes, isAsync: false) != nil
    wasAsyncTwinWritten = twins.wasWritten(asyncKey, in: scopes, isAsync: true)
    wasFutureTwinWritten = twins.wasWritten(futureKey, in: scopes, isAsync: false)
  }

  /// As the async twin is called in documentation.
  let asyncTitle: String

  /// As the future twin is.
  let futureTitle: String

  /// The titles, with the types of the parameters.
  let asyncKey: String
  let futureKey: String

  /// Whether the file that is to be written again has the twins.
  let wasAsyncTwinWritten: Bool
  let wasFutureTwinWritten: Bool

  /// The type that it is in, and its superclasses.
  let scopes: [String]

  var hasAsyncTwin: Bool { asyncTwinFile != nil }
  var hasFutureTwin: Bool { futureTwinFile != nil }

  /// Whether it returns something at once.
  var returnsValue: Bool { !declaration.returnType.isEmpty && !CallbackShape.isVoid(declaration.returnType) }

  /// The names of the types in which it is.
  var scope: [String] { Array(symbol.pathComponents.dropLast()) }

  /// How many characters of its line stand before its name.
  var column: Int { symbol.location?.position.character ?? 0 }

  /// With the types in which it is: `Store.user(id:completion:)`.
  var title: String { symbol.pathComponents.joined(separator: ".") }

  /// As it is declared.
  var access: AccessLevel { symbol.access }

  /// Who sees it, which is nobody who does not see the types that it is in.
  let visibility: AccessLevel

  var isDeprecated: Bool { symbol.availability?.contains { $0.isUnconditionallyDeprecated == true } == true }

  /// Whether `--deprecate` has annotated it, or somebody in the same way.
  var isRenamedToTwin: Bool {
    symbol.availability?.contains { item in
      item.isUnconditionallyDeprecated == true && (item.renamed == asyncTitle || item.renamed == futureTitle)
    } == true
  }

  var isUnavailable: Bool { symbol.availability?.contains { $0.isUnconditionallyUnavailable == true } == true }

  /// Whether it is an actor's, and runs on it.
  var isOnActor: Bool {
    owner?.declarationFragments.contains { $0.spelling == "actor" } == true && !isNonisolated && !declaration.isStatic
  }

  /// The global actor on which it runs.
  var globalActor: String? {
    declaration.attributes.first { attribute in
      attribute.dropFirst().first?.isUppercase == true && attribute != "@Sendable" && !attribute.hasPrefix("@IB")
    }
  }

  var isNonisolated: Bool { declaration.modifiers.contains("nonisolated") }

  /// How reports name its isolation.
  var isolation: String { globalActor ?? (isOnActor ? "actor" : "nonisolated") }
}

extension SymbolGraph.Symbol {
  var access: AccessLevel { AccessLevel(rawValue: accessLevel) ?? .private }
}

extension Declaration {
  /// `user(id:completion:)` becomes `userFuture(id:)`.
  fileprivate func futureTitle(without omitted: Set<Int>) -> String {
    futureName + title(without: omitted).dropFirst(plainName.count)
  }

  var futureName: String { plainName + "Future" }
}

extension StringProtocol {
  var trimmed: String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
