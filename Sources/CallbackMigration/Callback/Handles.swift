/// Finds out how a handle that a function returns cancels the work.
struct Handles {
  /// The methods of each type that end work, and that need no arguments, by their names.
  private var methods: [String: [String: CancelMethod]] = [:]

  /// The method of each type that begins work, and that needs no arguments.
  private var starts: [String: String] = [:]

  /// The types with a method that cancels by an argument, such as `cancel(id:)`.
  private var cancelByArgument: Set<String> = []

  private let types: TypeRelations
  private let aliases: TypeAliases
  private let facts: TypeFacts

  private static let beginnings: Set<String> = [
    "resume()", "start()", "run()", "begin()", "activate()", "launch()", "execute()",
  ]

  /// The prefixes of the names of methods that end work.
  private static let endings = [
    "cancel", "stop", "abort", "invalidate", "dispose", "terminate", "unsubscribe", "remove", "close",
  ]

  /// Collects the methods that begin or end work, without private ones, which counterparts cannot call.
  init(_ graph: SymbolGraph, _ types: TypeRelations, _ aliases: TypeAliases, _ facts: TypeFacts) {
    self.types = types
    self.aliases = aliases
    self.facts = facts
    let actors = Set(graph.relationships.filter { $0.targetFallback == "_Concurrency.Actor" }.map(\.source))
    for symbol in graph.symbols where symbol.access >= .internal {
      guard let owner = types.owners[symbol.identifier.precise], let name = symbol.pathComponents.last else { continue }
      if Self.beginnings.contains(name), symbol.kind.identifier == "swift.method" { starts[owner] = name }
      guard Self.endings.contains(where: { name.hasPrefix($0) }),
        let declaration = Declaration(symbol.tokens), !declaration.isStatic
      else { continue }
      if declaration.parameters.allSatisfy({ $0.defaultValue != nil }) {
        let method = CancelMethod(declaration: declaration, isOnActor: actors.contains(owner))
        methods[owner, default: [:]][declaration.plainName] = method
      } else {
        cancelByArgument.insert(owner)
      }
    }
  }

  /// Returns how the handle that a function returns cancels its work; called for each function that takes a callback.
  ///
  /// The configuration decides first. A function whose handle needs a start is refused, unless the work runs. `cancel()` ends the
  /// work. A handle that no method ends is dropped if its work runs or callers can ignore it (but see `isToken`).
  func cancellation(
    of declaration: Declaration,
    in owner: SymbolGraph.Symbol?,
    _ genericSendables: Set<String>,
    _ knowledge: FunctionKnowledge,
    bodies: [[FunctionBody]] = []  // of the function and its implementations; empty if the source was not found
  ) -> HandleCancellation {
    let title = knowledge.title
    let type = aliases.resolve(declaration.returnType)
    guard !type.isEmpty, !CallbackShape.isVoid(type), knowledge.values[.handle] != "none" else { return .none }
    let bare = aliases.resolve(aliases.wrapped(type) ?? type)
    let isSendable = facts.sendability(of: bare, genericSendables) == .yes
    var reader = TokenReader(bare)
    while reader.take("any") || reader.take("some") {}  // Skips both words.
    let names = reader.takeTypeName().names
    let name = reader.isAtEnd ? names.last : nil  // tokens are left if the type has no single name, as in `A & B`
    let isSelf = bare.text == "Self"  // counts as the object of the call, which callers have and so can ignore
    let identifier = isSelf ? owner?.identifier.precise : name?.type
    let endings = identifier.map(methods(of:)) ?? [:]
    // Calls `method` as its declaration says. A method that was not found counts as synchronous, without an error or a value.
    func call(_ method: String) -> HandleCancellation {
      let declared = endings[String(method.prefix { $0 != "(" })]
      return .calls(
        HandleCall(
          method: method,
          isOptional: aliases.isOptional(type),
          isTransferred: !isSendable,
          isAwaited: declared?.isAwaited == true,
          isThrowing: declared?.declaration.isThrowing == true,
          returnsValue: declared?.returnsValue == true
        )
      )
    }
    if let method = knowledge.values[.handle] { return call(method) }
    let canIgnore = isSelf || declaration.attributes.contains("@discardableResult")
    // A method that returns its own type is called on work that runs already. Another handle might need a start.
    let isOwner = isSelf || identifier != nil && identifier == owner?.identifier.precise
    let foundationStart = name.flatMap(systemStart)  // these handles of Foundation end by `cancel()`
    if !isOwner, let start = foundationStart ?? identifier.flatMap(start(of:)) {
      let end = foundationStart == nil ? Self.ending(among: endings) : "cancel()"
      // The work runs if each body starts it, or if callers can ignore the handle and no body leaves a new one unstarted.
      let isStarted = !bodies.isEmpty && bodies.allSatisfy { $0.contains { $0.starts(by: start) } }
      let isUnstarted = bodies.joined().contains { $0.makes(bare.text, withoutStarting: start) }
      let isRunning = isStarted || canIgnore && !isUnstarted
      if isRunning {
        return end.map(call) ?? .dropped(.dropsResult(type.text, title))  // the work runs, and no usable call ends it
      }
      return .refused(.mightNotRun(bare.text, start: start, end: end, title))
    }
    if let name, isTaskOrProgress(name) {  // both are `Sendable`, and their `cancel()` needs no `await` and no `try`
      return .calls(HandleCall(method: "cancel()", isOptional: aliases.isOptional(type)))
    }
    if let method = endings["cancel"] {
      guard let obstacle = method.obstacle else { return call("cancel()") }
      return .refused(.cannotCancel(bare.text, because: obstacle, title))
    }
    if let other = endings.keys.min() { return .refused(.mightCancel(bare.text, "\(other)()", title)) }
    // No method that ends work is known, which is certain only for a type of the module. A `Sendable` type counts as a plain
    // value. Any other type can have a method that the graph does not show.
    let isValue = isSendable || identifier.flatMap { types.symbols[$0] }?.isType == true
    if !isValue {
      let unknown = Refusal.unknownHandle(bare.text, title)
      return canIgnore ? .dropped(unknown) : .refused(unknown)
    }
    // Such a value might be a token for a method such as `cancel(id:)` of the owner.
    let isToken = owner.map { cancelByArgument.contains($0.identifier.precise) } == true && !isSelf
    if canIgnore, !isToken { return .dropped(.dropsResult(type.text, title)) }
    return .refused(.returnsValue(type.text, title))
  }

  /// The call that ends the work: `cancel()`, or else the first of the usable methods by name; `nil` if there is none.
  private static func ending(among methods: [String: CancelMethod]) -> String? {
    let usable = methods.filter { $0.value.obstacle == nil }.keys
    return (usable.contains("cancel") ? "cancel" : usable.min()).map { "\($0)()" }
  }

  /// The methods that end work, by name, of a type, its superclasses and protocols; the nearest of each name counts.
  private func methods(of type: String) -> [String: CancelMethod] {
    types.family(of: type).reduce(into: [:]) { found, type in
      found.merge(methods[type] ?? [:]) { first, _ in first }
    }
  }

  /// The method that starts a handle of this type; `nil` if the module shows none.
  private func start(of type: String) -> String? { types.family(of: type).lazy.compactMap { starts[$0] }.first }

  /// Whether a token names `Task` or Foundation's `Progress`, which are `Sendable`, have `cancel()`, and need no start.
  private func isTaskOrProgress(_ name: Token) -> Bool {
    name.type == "s:ScT" || isOfFoundation(name) && name.text == "Progress"
  }

  /// The method that starts one of Foundation's handles; `nil` if the token names none that has to be started.
  private func systemStart(_ name: Token) -> String? {
    guard isOfFoundation(name) else { return nil }
    if Self.urlTasks.contains(name.text) { return "resume()" }
    return ["Operation", "BlockOperation"].contains(name.text) ? "start()" : nil
  }

  /// Whether a token can name a type of Foundation: its identifier is of C or of a Foundation module, or is missing.
  private func isOfFoundation(_ name: Token) -> Bool {
    guard let type = name.type else { return true }
    // The length of the name precedes the module's name: `Foundation`, or `FoundationEssentials` and the like.
    return type.hasPrefix("c:") || type.contains("10Foundation") || type.contains("20Foundation")
  }

  private static let urlTasks: Set<String> = [
    "URLSessionTask", "URLSessionDataTask", "URLSessionUploadTask", "URLSessionDownloadTask", "URLSessionWebSocketTask",
    "URLSessionStreamTask",
  ]
}

/// How a returned handle cancels the work.
package enum HandleCancellation {
  /// The function returns nothing, or only what the package's configuration does without.
  case none

  /// The counterpart drops what the function returns, and says so by this difference.
  case dropped(Refusal)

  /// A call of the handle ends the work.
  case calls(HandleCall)

  /// A counterpart could not cancel the work.
  case refused(Refusal)
}

/// The call that cancels work.
package struct HandleCall {
  /// The call with its arguments, such as `cancel()`.
  let method: String
  let isOptional: Bool

  /// Whether the handle is not `Sendable`, so that it needs a wrapper on its way to the thread that cancels.
  var isTransferred = false

  /// Whether the call of the handle is isolated or async, and so needs an await.
  var isAwaited = false
  var isThrowing = false
  var returnsValue = false

  /// The call on a handle of this name, in a task if it is awaited; `task` is the spelling of the type `Task`.
  package func text(of handle: String, task: String = "Task") -> String {
    let words = [returnsValue ? "_ =" : "", isThrowing ? "try?" : "", isAwaited ? "await" : ""].filter { !$0.isEmpty }
    let call = "\(handle)\(isTransferred ? ".value" : "")\(isOptional ? "?" : "").\(method)"
    let text = (words + [call]).joined(separator: " ")
    return isAwaited ? "\(task) { \(text) }" : text
  }
}

/// A method that ends the work of a handle.
private struct CancelMethod {
  let declaration: Declaration
  let isOnActor: Bool

  /// Whether a call of the method from outside its actor needs an await.
  var isAwaited: Bool {
    declaration.isAsync || declaration.globalActor != nil || isOnActor && !declaration.isNonisolated
  }

  /// Whether the compiler would warn of a call whose result is not used.
  var returnsValue: Bool {
    let isVoid = declaration.returnType.isEmpty || CallbackShape.isVoid(declaration.returnType)
    return !isVoid && !declaration.attributes.contains("@discardableResult")
  }

  /// The reason why a counterpart cannot call the method on a handle that it stores; `nil` if it can.
  var obstacle: String? {
    if declaration.modifiers.contains("mutating") { return "changes its handle" }
    if declaration.modifiers.contains("consuming") { return "uses its handle up" }
    return nil
  }
}
