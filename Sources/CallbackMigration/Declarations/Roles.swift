/// The relation of a function to a protocol or a superclass, as far as it matters for counterparts.
enum FunctionRole: Equatable {
  case plain
  case requirement

  /// The function implements a requirement of a protocol.
  case witness(protocol: String)

  /// Other code calls the function, as the system calls the methods of a delegate.
  case delegateMethod(protocol: String)

  /// The function overrides a method of the module.
  case override
}

/// Finds the role of each function.
struct Roles {
  private var overriding: Set<String> = []  // the functions that override a method of this module
  private var requirements: Set<String> = []

  /// The requirement that a member implements, with the protocol's name, such as `Store.load(completion:)`.
  private var implementedRequirements: [String: String] = [:]

  /// The names of protocols, also of other modules.
  private var protocolNames: [String: String] = [:]

  /// The titles of the requirements of each protocol of the module.
  private var requirementTitles: [String: Set<String>] = [:]
  private let relations: TypeRelations

  init(_ graph: SymbolGraph, _ relations: TypeRelations) {
    self.relations = relations
    for symbol in graph.symbols where symbol.kind.identifier == "swift.protocol" {
      protocolNames[symbol.identifier.precise] = symbol.title
    }
    for relation in graph.relationships {
      switch relation.kind {
      case "overrides" where relations.symbols[relation.target] != nil: overriding.insert(relation.source)
      case "conformsTo":
        // The graph has no symbol of another module's protocol, only its name, such as `Foundation.URLSessionDelegate`.
        if protocolNames[relation.target] == nil, let name = relation.targetFallback?.split(separator: ".").last {
          protocolNames[relation.target] = String(name)
        }
      case "requirementOf":
        requirements.insert(relation.source)
        if let title = relations.symbols[relation.source]?.pathComponents.last {
          requirementTitles[relation.target, default: []].insert(title)
        }
      case "memberOf": implementedRequirements[relation.source] = relation.sourceOrigin?.displayName
      default: break
      }
    }
  }

  /// The role of a function; if several fit, the first of requirement, override, method of a delegate and witness.
  func role(of symbol: SymbolGraph.Symbol, _ declaration: Declaration) -> FunctionRole {
    let identifier = symbol.identifier.precise
    let owner = relations.owners[identifier]
    if requirements.contains(identifier) {
      guard let name = owner.flatMap({ protocolNames[$0] }), isDelegate(name) else { return .requirement }
      return .delegateMethod(protocol: name)
    }
    if overriding.contains(identifier) { return .override }
    let namedProtocol = implementedRequirements[identifier]?.split(separator: ".").dropLast().last.map(String.init)
    if let namedProtocol, isDelegate(namedProtocol) { return .delegateMethod(protocol: namedProtocol) }
    // The graph does not name every implemented requirement, so the labels decide in a type that is a delegate.
    let ancestors = ancestors(ofOwnerOf: symbol)
    let delegate = ancestors.compactMap { protocolNames[$0] }.first(where: isDelegate)
    if let delegate, looksLikeDelegateMethod(declaration) { return .delegateMethod(protocol: delegate) }
    let title = declaration.title()
    // The owner counts, too: a default implementation is in an extension of the protocol itself.
    let local = ([owner].compactMap(\.self) + ancestors).first { requirementTitles[$0]?.contains(title) == true }
    let name = local.flatMap { protocolNames[$0] } ?? namedProtocol  // only a local requirement can have a counterpart
    return name.map { .witness(protocol: $0) } ?? .plain
  }

  /// The names of the module's protocols to which the type of a member conforms.
  func protocolScopes(of symbol: SymbolGraph.Symbol) -> [String] {
    ancestors(ofOwnerOf: symbol).compactMap { relations.symbols[$0] }.filter { $0.kind.identifier == "swift.protocol" }
      .map(\.title)
  }

  /// The names of the types that inherit a member of a protocol or a superclass.
  func conformers(of symbol: SymbolGraph.Symbol) -> [String] {
    guard let owner = relations.owners[symbol.identifier.precise] else { return [] }
    let conformers = relations.parents.keys.filter { ancestors(of: $0).contains(owner) }
    return conformers.compactMap { relations.symbols[$0]?.title }.sorted()  // callers report the first body at fault
  }

  /// The superclasses and protocols of the type that has a member; none for a function outside types.
  private func ancestors(ofOwnerOf symbol: SymbolGraph.Symbol) -> [String] {
    relations.owners[symbol.identifier.precise].map(ancestors(of:)) ?? []
  }

  /// The superclasses and protocols of a type, without the type, in an order that does not depend on the graph's.
  private func ancestors(of type: String) -> [String] { relations.family(of: type).dropFirst().sorted() }

  private func isDelegate(_ name: String) -> Bool { name.hasSuffix("Delegate") || name.hasSuffix("DataSource") }

  /// Whether the labels are those of a delegate's method, as in `urlSession(_:task:didReceive:completionHandler:)`.
  private func looksLikeDelegateMethod(_ declaration: Declaration) -> Bool {
    // A sender without a label, at least one value with the event's label, and a callback.
    guard declaration.parameters.first?.label == "_", declaration.parameters.count > 2 else { return false }
    return declaration.parameters.dropFirst().contains { parameter in
      ["did", "will", "should", "need"].contains { CallbackNames.words(parameter.label).first == $0 }
    }
  }
}
