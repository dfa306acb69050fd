/// Spells the types of a counterpart: a type that another declaration hides gets its module, as in `Swift.Result`.
struct TypeSpelling {
  /// The compiler's identifier of the type that each name means in the counterpart; empty for a generic parameter.
  private var nearest: [String: String] = [:]

  /// Takes the identifiers of the module's types, by the path of the enclosing type (empty outside types) and by name.
  ///
  /// `scopes` are the paths of the types whose members the counterpart sees, the nearest first.
  init(_ declarations: [String: [String: String]], scopes: [String], generics: [String]) {
    for scope in [""] + scopes.reversed() {
      nearest.merge(declarations[scope] ?? [:]) { _, nearer in nearer }
    }
    for name in generics { nearest[name] = "" }
  }

  /// Spells a type, in which names after a dot stay as they are.
  func text(_ type: some Collection<Token>) -> String {
    var isMember = false
    return type.map { token in
      defer { isMember = token.text == "." }
      return isMember ? token : qualified(token)
    }.text
  }

  /// Spells a type of another module, by its name and the compiler's identifier.
  func text(_ name: String, _ identifier: String) -> String {
    qualified(Token(text: name, hasSpaceBefore: false, type: identifier)).text
  }

  /// The name with its module, if another type hides it, and if nothing hides the module; otherwise the same token.
  private func qualified(_ token: Token) -> Token {
    guard let type = token.type, let hiding = nearest[token.text], hiding != type,
      let module = SymbolGraph.module(ofType: type), nearest[module] == nil
    else { return token }
    return Token(text: "\(module).\(token.text)", hasSpaceBefore: token.hasSpaceBefore, type: type)
  }
}
