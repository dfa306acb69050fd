/// A function that takes a callback.
package struct CallbackFunction {
  let symbol: SymbolGraph.Symbol
  let declaration: Declaration
  package let callbacks: Callbacks

  /// The package's configuration for the function.
  let knowledge: FunctionKnowledge

  /// The type that has the function, if the module declares that type.
  let owner: SymbolGraph.Symbol?
  let file: String
  let path: String
  package let sendability: Sendability
  package let handle: HandleCancellation

  /// The types whose members the body of a counterpart can name, the nearest first.
  let visibleScopes: [String]

  private let asyncCounterpart: ExpectedCounterpart
  private let futureCounterpart: ExpectedCounterpart

  /// A declaration that a call of the async counterpart could mean, whatever name that has; `nil` for none.
  let rival: Refusal.OtherName?

  /// Why the async counterpart has not the name of the function; `nil` if it has.
  let reasonOfOtherName: Refusal.OtherName?

  /// The reason why the callback might come several times, much later, or never, by the bodies that can run.
  let bodyRefusal: Refusal?

  init(
    symbol: SymbolGraph.Symbol,
    declaration: Declaration,
    callbacks: Callbacks,
    knowledge: FunctionKnowledge,
    relations: TypeRelations,
    roles: Roles,
    facts: TypeFacts,
    handles: Handles,
    counterparts: Counterparts,
    file: String,
    path: String,
    implementations: [[FunctionBody]]
  ) {
    self.symbol = symbol
    self.declaration = declaration
    self.callbacks = callbacks
    self.knowledge = knowledge
    owner = relations.owner(of: symbol)
    self.file = file
    self.path = path
    visibility = min(symbol.access, relations.access(around: symbol))
    scopes = relations.scopes(of: symbol)
    role = roles.role(of: symbol, declaration)
    // The counterpart of a requirement serves all types that conform.
    visibleScopes = scopes + roles.protocolScopes(of: symbol)
    let sendables = facts.sendables(in: symbol, of: owner)
    sendability = callbacks.shape.values.map { facts.all($0, sendables) } ?? .unknown
    handle = handles.cancellation(of: declaration, in: owner, sendables, knowledge, bodies: implementations)
    bodyRefusal = implementations.joined().lazy.compactMap { $0.refusal(knowledge.title) }.first
    let renamed = knowledge.newName(of: declaration.plainName)
    let all = visibleScopes
    let conformers = roles.conformers(of: symbol)
    let named = counterparts.named(declaration, callbacks, renamed: renamed, in: all, conformers: conformers)
    asyncCounterpart = named.counterpart
    reasonOfOtherName = named.otherName
    rival = named.rival
    futureCounterpart = counterparts.counterpart(.future, of: declaration, callbacks, renamed: renamed, in: all)
  }

  let role: FunctionRole

  /// The name without the enclosing types: `user(id:completion:)`.
  var name: String { symbol.pathComponents.last ?? "" }

  /// The names of the type that has the function, and of its superclasses.
  let scopes: [String]

  /// The counterpart of a kind that the function has, or would have.
  func counterpart(_ kind: Counterpart.Kind) -> ExpectedCounterpart {
    switch kind {
    case .async: asyncCounterpart
    case .future: futureCounterpart
    }
  }

  var hasAsyncCounterpart: Bool { asyncCounterpart.exists }

  /// Whether the function returns a value and also calls back.
  var returnsValue: Bool { !declaration.returnType.isEmpty && !CallbackShape.isVoid(declaration.returnType) }

  /// The names of the enclosing types.
  var scope: [String] { Array(symbol.pathComponents.dropLast()) }

  var line: Int { (symbol.location?.position.line ?? 0) + 1 }

  /// The number of characters before the name in its line.
  var column: Int { symbol.location?.position.character ?? 0 }

  /// The name with the enclosing types: `Store.user(id:completion:)`.
  var title: String { symbol.pathComponents.joined(separator: ".") }

  /// The access level of the declaration itself.
  var access: AccessLevel { symbol.access }

  /// The lower one of the function's own access level and that of the enclosing types.
  let visibility: AccessLevel

  var isDeprecated: Bool { symbol.availability?.contains { $0.isUnconditionallyDeprecated == true } == true }

  /// Whether the function has the annotation of `--deprecate`.
  var isRenamedToCounterpart: Bool {
    symbol.availability?.contains { item in
      item.isUnconditionallyDeprecated == true
        && (item.renamed == asyncCounterpart.title || item.renamed == futureCounterpart.title)
    } == true
  }

  var isUnavailable: Bool { symbol.availability?.contains { $0.isUnconditionallyUnavailable == true } == true }

  /// Whether the function is an isolated member of an actor.
  var isOnActor: Bool {
    owner?.declarationFragments.contains { $0.spelling == "actor" } == true && !declaration.isNonisolated
      && !declaration.isStatic
  }
}

extension SymbolGraph.Symbol {
  var access: AccessLevel { AccessLevel(rawValue: accessLevel) ?? .private }

  /// Whether the symbol is a class, a struct, an enum or a protocol.
  var isType: Bool {
    ["swift.class", "swift.struct", "swift.enum", "swift.protocol"].contains(kind.identifier)
  }
}
