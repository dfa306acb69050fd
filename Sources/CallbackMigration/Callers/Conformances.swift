/// The protocols and the conformances that the files of a package declare, by the last component of their names.
///
/// They are read from the text, because the compiler's graph lacks the types inside functions.
struct Conformances {
  /// The functions that each protocol requires.
  private var requirements: [String: Set<String>] = [:]

  /// The names after the colon of each type, extension and protocol.
  private var parents: [String: Set<String>] = [:]

  init(of files: [SourceTokens]) {
    for tokens in files {
      for brace in tokens.items.indices where tokens[brace] == "{" && tokens.block(at: brace) == .type {
        add(brace, tokens)
      }
    }
  }

  private mutating func add(_ brace: Int, _ tokens: SourceTokens) {
    let start = tokens.statementStart(before: brace)
    guard let keyword = (start..<brace).first(where: { Self.keywords.contains(tokens[$0]) }) else { return }
    var end = keyword + 1
    while tokens[end + 1] == "." { end += 2 }
    let name = tokens[end]
    var depth = 0
    var isAfterColon = false
    for index in end + 1..<brace {
      let token = tokens[index]
      if token == "where" { break }
      if token == "<" { depth += 1 } else if token == ">" { depth -= 1 }
      guard depth == 0 else { continue }
      if token == ":" { isAfterColon = true }
      if isAfterColon, SourceTokens.isWord(token), tokens[index + 1] != ".", tokens[index - 1] != "~" {
        parents[name, default: []].insert(token)
      }
    }
    guard tokens[keyword] == "protocol", let close = tokens.partner(brace) else { return }
    let functions = (brace..<close).filter { tokens[$0] == "func" && tokens.parent($0) == brace }
    let titles = functions.compactMap { FunctionText(name: $0 + 1, in: tokens)?.title }
    requirements[name, default: []].formUnion(titles)
  }

  private static let keywords: Set<String> = ["class", "struct", "enum", "extension", "actor", "protocol"]

  /// Returns the name of a protocol whose requirement a member of a type can implement; `nil` if there is none.
  ///
  /// A protocol of another package can require any function that is not private.
  func protocolRequiring(_ title: String, ofMemberOf type: String, isPrivate: Bool) -> String? {
    var found: Set<String> = []
    var next = [type]
    while let name = next.popLast() {
      guard found.insert(name).inserted else { continue }
      if let titles = requirements[name] {
        if titles.contains(title) { return name }
      } else if name != type, parents[name] == nil, !isPrivate, !Self.hasNoSuchRequirement(name) {
        return name
      }
      next += parents[name, default: []].sorted()
    }
    return nil
  }

  /// Whether a type of another module requires no function of a package: a class, a value, or a protocol of `harmless`.
  private static func hasNoSuchRequirement(_ name: String) -> Bool {
    let isClass = ["NS", "UI"].contains { name.hasPrefix($0) }
    return harmless.contains(name) || name.hasPrefix("ExpressibleBy")
      || isClass && !["Delegate", "DataSource"].contains { name.hasSuffix($0) }
  }

  private static let harmless: Set<String> = [
    "Actor", "AnyObject", "App", "BitwiseCopyable", "CaseIterable", "Codable", "Comparable", "Copyable",
    "CustomDebugStringConvertible", "CustomStringConvertible", "Decodable", "Encodable", "Equatable", "Error",
    "Escapable", "Hashable", "Identifiable", "Int", "LocalizedError", "Observable", "ObservableObject",
    "OptionSet", "RawRepresentable", "Scene", "Sendable", "String", "UInt8", "View", "XCTestCase",
  ]
}
