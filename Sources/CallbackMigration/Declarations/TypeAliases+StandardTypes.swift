extension TypeAliases {
  /// The wrapped type of an optional; `nil` for other types.
  func wrapped(_ type: ArraySlice<Token>) -> ArraySlice<Token>? {
    let type = resolve(type)
    if type.last?.text == "?" || type.last?.text == "!" {
      var reader = TokenReader(type.dropLast())
      // `(Handler)?` loses its parentheses; those of a tuple stay.
      if let inside = reader.takeBracketed("(", ")"), reader.isAtEnd, inside.elements.count == 1 { return inside }
      return type.dropLast()
    }
    var reader = TokenReader(type)
    guard reader.take("Optional"), let inside = reader.takeBracketed("<", ">"), reader.isAtEnd else { return nil }
    return inside
  }

  func isOptional(_ type: ArraySlice<Token>) -> Bool { wrapped(type) != nil }

  /// The parts of a `Result`; `nil` if the type is no `Result` of the standard library.
  func result(_ type: ArraySlice<Token>) -> (value: ArraySlice<Token>, failure: ArraySlice<Token>)? {
    var reader = TokenReader(resolve(type))
    // The compiler's identifier, and not the name, which another type can have, too.
    guard reader.take()?.type == "s:s6ResultO",
      let arguments = reader.takeBracketed("<", ">")?.elements, arguments.count == 2, reader.isAtEnd
    else { return nil }
    return (arguments[0], arguments[1])
  }

  /// Whether the type is known to conform to `Error`, by the graph, the configuration, or as a standard type.
  func isError(_ type: ArraySlice<Token>) -> Bool {
    let type = resolve(type)
    if type.isAnyError || type.text == "NSError" { return true }
    var reader = TokenReader(type)
    _ = reader.take("any")
    let names = reader.takeTypeName().names
    guard reader.isAtEnd, let name = names.last, let identifier = name.type else { return false }
    if errors.contains(identifier) || errorNames.contains(name.text) { return true }
    if errorNames.contains(names.map(\.text).joined(separator: ".")) { return true }  // with its enclosing types
    let module = SymbolGraph.module(ofType: identifier)
    return Self.standardErrors.contains(name.text)
      && ["Swift", "_Concurrency", "Foundation", "FoundationNetworking"].contains(module)
  }

  /// The errors of the standard library and Foundation.
  private static let standardErrors: Set<String> = [
    "CancellationError", "CocoaError", "DecodingError", "EncodingError", "MachError", "POSIXError", "URLError",
  ]
}

extension ArraySlice<Token> {
  /// Whether the type is `any Error`, in any spelling.
  var isAnyError: Bool { ["any Error", "Error", "any Swift.Error", "Swift.Error"].contains(text) }
}
