/// A function that takes a callback.
package struct CallbackFunction {
  let symbol: SymbolGraph.Symbol
  let declaration: Declaration
  package let callbacks: Callbacks
  let knowledge: FunctionKnowledge

  /// The type that has the function, if the module declares that type.
  let owner: SymbolGraph.Symbol?
  let file: String
  let path: String
  package let sendability: Sendability
  package let handle: HandleCancellation  // how a counterpart ends the work, by the object that the function returns

  /// The types whose members the body of a counterpart can name, the nearest first.
  let visibleScopes: [String]

  private let asyncCounterpart: ExpectedCounterpart
  private let futureCounterpart: ExpectedCounterpart

  /// The title of an existing declaration that a call of the async counterpart could also mean; `nil` if there is none.
  let rival: String?

  /// Why the async counterpart does not have the name of the function; `nil` if it has.
  let reasonForOtherName: Refusal.OtherName?

  /// The evidence in a body that the callback might come several times, much later, or never; `nil` without evidence.
  let bodyRefusal: Refusal?
  let role: FunctionRole

  /// The names of the type that has the function, and of its superclasses.
  let scopes: [String]

  /// The lower one of the function's own access level and that of the enclosing types.
  let visibility: AccessLevel

  /// Reads a symbol of a module; `nil` if the symbol stands in no file, or is no function with a callback.
  init?(_ symbol: SymbolGraph.Symbol, in module: ModuleFacts) {
    guard let path = symbol.location?.path, let declaration = Declaration(symbol.tokens) else { return nil }
    let knowledge = module.configuration.knowledge(of: symbol.title)
    let documentation = symbol.docComment?.lines.map(\.text).joined(separator: " ") ?? ""
    // `Callbacks` passes the indices of callbacks to this closure, which returns the bodies that get these callbacks.
    let callbacks = Callbacks(declaration, module.aliases, module.types, documentation: documentation, knowledge) {
      module.bodies.implementations(of: symbol, $0).flatMap(\.self)
    }
    guard let callbacks else { return nil }
    self.symbol = symbol
    self.declaration = declaration
    self.callbacks = callbacks
    self.knowledge = knowledge
    self.path = path
    file = module.relativePath(path)
    owner = module.relations.owner(of: symbol)
    visibility = min(symbol.access, module.relations.access(around: symbol))
    scopes = module.relations.scopes(of: symbol)
    role = module.roles.role(of: symbol, declaration)
    // A type also has the members of its protocols, such as the counterpart of a requirement.
    visibleScopes = scopes + module.roles.protocolScopes(of: symbol)
    let sendables = module.types.sendables(in: symbol, of: owner)
    sendability = callbacks.shape.values.map { module.types.weakest(of: $0, sendables) } ?? .unknown
    let bodies = module.bodies.implementations(of: symbol, callbacks.indices)
    handle = module.handles.cancellation(of: declaration, in: owner, sendables, knowledge, bodies: bodies)
    bodyRefusal = bodies.joined().lazy.compactMap { $0.refusal(symbol.title) }.first
    let renamed = knowledge.newName(of: declaration.plainName)
    let heirs = module.roles.conformers(of: symbol)  // they inherit the counterpart, so their members can be rivals
    let counterparts = module.counterparts
    let isClass = owner?.kind.identifier == "swift.class"
    let named = counterparts.named(declaration, callbacks, renamed: renamed, in: visibleScopes, heirs, isClass: isClass)
    asyncCounterpart = named.counterpart
    reasonForOtherName = named.reasonForOtherName
    rival = named.rival  // the future counterpart is not checked: few existing names end with `Future`
    futureCounterpart =
      counterparts.counterpart(.future, of: declaration, callbacks, renamed: renamed, in: visibleScopes)
  }

  /// The name without the enclosing types: `user(id:completion:)`.
  var name: String { symbol.pathComponents.last ?? "" }

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

  var line: Int { symbol.location?.line ?? 1 }

  /// The number of characters before the name in its line.
  var column: Int { symbol.location?.position.character ?? 0 }

  /// The name with the enclosing types: `Store.user(id:completion:)`.
  var title: String { symbol.title }

  private var availability: [SymbolGraph.Symbol.Availability] { symbol.availability ?? [] }

  var isDeprecated: Bool { availability.contains { $0.isUnconditionallyDeprecated == true } }

  /// Whether the function is deprecated in favor of its counterpart, as `--deprecate` annotates it.
  var isRenamedToCounterpart: Bool {
    availability.contains { item in
      item.isUnconditionallyDeprecated == true
        && (item.renamed == asyncCounterpart.title || item.renamed == futureCounterpart.title)
    }
  }

  var isUnavailable: Bool { availability.contains { $0.isUnconditionallyUnavailable == true } }

  /// Whether the function is an isolated member of an actor.
  var isOnActor: Bool { owner?.isActor == true && !declaration.isNonisolated && !declaration.isStatic }
}

/// The facts about a module that the tool reads before the functions.
struct ModuleFacts {
  let configuration: MigrationConfiguration
  let aliases: TypeAliases
  let types: TypeFacts
  let relations: TypeRelations
  let roles: Roles
  let handles: Handles
  let counterparts: Counterparts
  let bodies: FunctionBodies

  /// The folder of the package, with a slash.
  let root: String

  /// A path without the package's folder, for the locations that reports print; called when a function is read.
  func relativePath(_ path: String) -> String { path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path }
}

extension SymbolGraph.Symbol {
  var access: AccessLevel { AccessLevel(rawValue: accessLevel) ?? .private }

  /// Whether the symbol is an actor, which the graph lists as a class.
  var isActor: Bool { declarationFragments.contains { $0.spelling == "actor" } }

  /// Whether the symbol is a class, a struct, an enum or a protocol.
  var isType: Bool {
    ["swift.class", "swift.struct", "swift.enum", "swift.protocol"].contains(kind.identifier)
  }
}
