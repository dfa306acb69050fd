/// The declarations of a file by their places.
struct EnclosingDeclarations {
  private let symbols: [LanguageServerMessage.DocumentSymbol]

  init(_ symbols: [LanguageServerMessage.DocumentSymbol]) { self.symbols = symbols }

  /// The innermost function around a place, with its types, such as `Feed.refresh()`, and the name of its type.
  func around(_ position: LanguageServerMessage.Position) -> (title: String, type: String?) {
    var types: [String] = []
    var title: String?
    var current = symbols
    while let found = current.first(where: { $0.range.start <= position && position < $0.range.end }) {
      current = found.children ?? []
      if Self.types.contains(found.kind) {
        types.append(found.name)
        title = nil
      } else if title == nil || Self.functions.contains(found.kind) {
        title = found.name
      }
    }
    let type = types.isEmpty ? nil : types.joined(separator: ".")
    return ((types + (title.map { [$0] } ?? [])).joined(separator: "."), type)
  }

  /// `SymbolKind` of the language server protocol: class, enum, interface, struct, and namespace for an extension.
  private static let types: Set<Int> = [3, 5, 10, 11, 23]

  /// `SymbolKind` of the language server protocol: method, constructor, function.
  private static let functions: Set<Int> = [6, 9, 12]
}
