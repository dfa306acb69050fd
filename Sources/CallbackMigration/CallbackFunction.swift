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
    let sendables = Self.sendableParameters(declaration)
    sendability = callbacks.shape.values.map { facts.all($0, sendables) } ?? .unknown
    handle = facts.cancellation(of: declaration.returnType, sendables)
    let scope = Array(symbol.pathComponents.dropLast())
    let asyncTitle = declaration.title(without: callbacks.omitted)
    asyncTwinFile = twins.file(asyncTitle, in: scope, isAsync: true)
    let omitted = callbacks.omitted.union(callbacks.progress.map { [$0.parameter] } ?? [])
    futureTitle = declaration.futureTitle(without: omitted)
    futureTwinFile = twins.file(futureTitle, in: scope, isAsync: false)
    hasPlainTwin = twins.file(asyncTitle, in: scope, isAsync: false) != nil
    self.asyncTitle = asyncTitle
  }

  /// As the async twin is called in documentation.
  let asyncTitle: String

  /// As the future twin is.
  let futureTitle: String

  var hasAsyncTwin: Bool { asyncTwinFile != nil }
  var hasFutureTwin: Bool { futureTwinFile != nil }

  /// The names of the types in which it is.
  var scope: [String] { Array(symbol.pathComponents.dropLast()) }

  /// How many characters of its line stand before its name.
  var column: Int { symbol.location?.position.character ?? 0 }

  /// With the types in which it is: `Store.user(id:completion:)`.
  var title: String { symbol.pathComponents.joined(separator: ".") }

  var access: AccessLevel { AccessLevel(rawValue: symbol.accessLevel) ?? .private }

  var isDeprecated: Bool { symbol.availability?.contains { $0.isUnconditionallyDeprecated == true } == true }
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

  /// The generic parameters that the function says are `Sendable`.
  private static func sendableParameters(_ declaration: Declaration) -> Set<String> {
    let clauses =
      declaration.genericClause.dropFirst().dropLast() + "," + declaration.whereClause.dropFirst("where".count)
    return Set(
      clauses.split(separator: ",").compactMap { clause in
        let sides = clause.split(separator: ":").map { $0.trimmed }
        return sides.count == 2 && sides[1].split(separator: "&").map(\.trimmed).contains("Sendable") ? sides[0] : nil
      }
    )
  }
}

extension Declaration {
  /// `user(id:completion:)` becomes `userFuture(id:)`.
  fileprivate func futureTitle(without omitted: Set<Int>) -> String {
    futureName + title(without: omitted).dropFirst(name.count)
  }

  var futureName: String { name.filter { $0 != "`" } + "Future" }
}

extension StringProtocol {
  var trimmed: String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
