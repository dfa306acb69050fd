/// The relation of a function to a protocol or a superclass, if it decides about a counterpart.
enum FunctionRole: Equatable {
  case plain

  /// A requirement of a protocol.
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
  private var overriding: Set<String> = []
  private var requirements: Set<String> = []
  private var origins: [String: String] = [:]

  /// The names of protocols, also of other modules.
  private var protocols: [String: String] = [:]

  /// The requirements of each protocol of the module.
  private var titles: [String: Set<String>] = [:]
  private let types: TypeRelations

  init(_ graph: SymbolGraph, _ types: TypeRelations) {
    self.types = types
    for symbol in graph.symbols where symbol.kind.identifier == "swift.protocol" {
      protocols[symbol.identifier.precise] = symbol.pathComponents.joined(separator: ".")
    }
    for relation in graph.relationships {
      switch relation.kind {
      case "overrides" where types.symbols[relation.target] != nil: overriding.insert(relation.source)
      case "conformsTo":
        if protocols[relation.target] == nil, let name = relation.targetFallback?.split(separator: ".").last {
          protocols[relation.target] = String(name)
        }
      case "requirementOf":
        requirements.insert(relation.source)
        if let title = types.symbols[relation.source]?.pathComponents.last {
          titles[relation.target, default: []].insert(title)
        }
      case "memberOf": origins[relation.source] = relation.sourceOrigin?.displayName
      default: break
      }
    }
  }

  func role(of symbol: SymbolGraph.Symbol, _ declaration: Declaration) -> FunctionRole {
    let identifier = symbol.identifier.precise
    let owner = types.owners[identifier]
    let isRequirement = requirements.contains(identifier)
    if isRequirement, let name = owner.flatMap({ protocols[$0] }), isDelegate(name) {
      return .delegateMethod(protocol: name)
    }
    if isRequirement { return .requirement }
    if overriding.contains(identifier) { return .override }
    let ancestors = owner.map(ancestors(of:)) ?? []
    let origin = origins[identifier]?.split(separator: ".").dropLast().last.map(String.init)
    if let origin, isDelegate(origin) { return .delegateMethod(protocol: origin) }
    if let delegate = ancestors.compactMap({ protocols[$0] }).first(where: isDelegate), isDelegateMethod(declaration) {
      return .delegateMethod(protocol: delegate)
    }
    let title = declaration.title()
    // A default implementation is in an extension of the protocol itself.
    let witnessed = ((owner.map { [$0] } ?? []) + ancestors).first { titles[$0]?.contains(title) == true }
    let name = witnessed.flatMap { protocols[$0] } ?? origin
    return name.map { .witness(protocol: $0) } ?? .plain
  }

  /// The names of the module's protocols to which the type of a member conforms.
  func protocolScopes(of symbol: SymbolGraph.Symbol) -> [String] {
    let ancestors = types.owners[symbol.identifier.precise].map(ancestors(of:)) ?? []
    return ancestors.filter { types.symbols[$0]?.kind.identifier == "swift.protocol" }.compactMap { protocols[$0] }
  }

  /// The types that inherit a member of a protocol or a superclass.
  func conformers(of symbol: SymbolGraph.Symbol) -> [String] {
    guard let owner = types.owners[symbol.identifier.precise] else { return [] }
    return types.parents.keys.filter { ancestors(of: $0).contains(owner) }
      .compactMap { types.symbols[$0]?.pathComponents.joined(separator: ".") }
  }

  /// The superclasses and protocols of a type, without the type.
  private func ancestors(of type: String) -> [String] { types.family(of: type).dropFirst().sorted() }

  private func isDelegate(_ name: String) -> Bool { name.hasSuffix("Delegate") || name.hasSuffix("DataSource") }

  /// Whether the function looks like a delegate method, such as `urlSession(_:task:didReceive:completionHandler:)`.
  private func isDelegateMethod(_ declaration: Declaration) -> Bool {
    guard declaration.parameters.first?.label == "_", declaration.parameters.count > 2 else { return false }
    return declaration.parameters.dropFirst().contains { parameter in
      ["did", "will", "should", "need"].contains { CallbackNames.words(parameter.label).first == $0 }
    }
  }
}
