/// A word, a literal or a sign of a declaration, with the compiler's identifier.
package struct Token: Equatable {
  package var text: String

  /// Whether there is space before the token, so that the tool writes text with the compiler's spaces.
  var hasSpaceBefore: Bool

  /// The compiler's identifier of the type, where the token names one.
  var type: String?
}

extension [Token] {
  /// Cuts the fragments of a symbol graph into tokens.
  package init(_ fragments: [SymbolGraph.Symbol.Fragment]) {
    self = []
    var hasSpace = false
    for fragment in fragments {
      if fragment.kind == "typeIdentifier" {
        append(Token(text: fragment.spelling, hasSpaceBefore: hasSpace, type: fragment.preciseIdentifier))
        hasSpace = false
      } else {
        var lexer = Lexer(fragment.spelling)
        while let token = lexer.next() {
          // The compiler writes `Self` with backticks, where it means the type that declares the function.
          let text = token.text == "`Self`" ? "Self" : token.text
          append(Token(text: text, hasSpaceBefore: hasSpace || token.hasSpaceBefore))
          hasSpace = false
        }
        hasSpace = hasSpace || lexer.endsInSpace
      }
    }
    joinAttributes()
  }

  /// Joins the `@` of an attribute with its name, which the compiler separates if the name is a type: `@MainActor`.
  fileprivate mutating func joinAttributes() {
    for index in indices.dropLast().reversed() where self[index].text == "@" {
      self[index].text += remove(at: index + 1).text
    }
  }
}

extension Collection<Token> {
  /// The text, spaced as the compiler spaced it, without the space before it.
  package var text: String {
    var text = ""
    for token in self {
      if token.hasSpaceBefore, !text.isEmpty { text += " " }
      text += token.text
    }
    return text
  }
}

/// Cuts text into tokens; a comment counts as space.
struct Lexer {
  private var rest: Substring

  /// Whether space follows the last token, once there are no more tokens.
  private(set) var endsInSpace = false

  /// The line of the last token's first character, from 1.
  private(set) var firstLine = 1

  /// The line of the last token's last character.
  private(set) var lastLine = 1

  init(_ text: String) { rest = text[...] }

  /// Takes the next token; `nil` at the end of the text.
  mutating func next() -> Token? {
    let (start, line) = (rest.startIndex, lastLine)
    skipSpace()
    let hasSpaceBefore = rest.startIndex != start
    guard !rest.isEmpty else {
      endsInSpace = hasSpaceBefore
      return nil
    }
    let text = rest.prefix(tokenLength)
    firstLine = line + Self.lineBreaks(rest.base[start..<text.startIndex])
    lastLine = firstLine + Self.lineBreaks(text)
    rest = rest[text.endIndex...]
    return Token(text: String(text), hasSpaceBefore: hasSpaceBefore)
  }

  private static func lineBreaks(_ text: Substring) -> Int { text.utf8.count { $0 == UInt8(ascii: "\n") } }

  /// Removes space and comments.
  private mutating func skipSpace() {
    while true {
      rest = rest.drop(while: \.isWhitespace)
      guard let length = commentLength else { return }
      rest = rest.dropFirst(length)
    }
  }

  /// The length of the comment that `rest` begins with; `nil` if it begins with none.
  private var commentLength: Int? {
    if rest.hasPrefix("//") { return rest.prefix { !$0.isNewline }.count }
    guard rest.hasPrefix("/*") else { return nil }
    var depth = 0
    var inside = rest
    while !inside.isEmpty {
      if inside.hasPrefix("/*") {
        depth += 1
        inside = inside.dropFirst(2)
      } else if inside.hasPrefix("*/") {
        depth -= 1
        inside = inside.dropFirst(2)
        if depth == 0 { break }
      } else {
        inside = inside.dropFirst()
      }
    }
    return rest.distance(from: rest.startIndex, to: inside.startIndex)
  }

  /// The length of the token that `rest` begins with: a string, a word, an attribute, a directive, or a sign.
  private var tokenLength: Int {
    if let stringLength { return stringLength }
    if rest.first == "`" { return rest.dropFirst().prefix { $0 != "`" }.count + 2 }
    if rest.hasPrefix("...") { return 3 }
    if rest.hasPrefix("->") || rest.hasPrefix("==") { return 2 }
    func isInWord(_ character: Character) -> Bool {
      character.isLetter || character.isNumber || character == "_" || character == "$"
    }
    guard let first = rest.first, isInWord(first) || first == "@" || first == "#" else { return 1 }
    return rest.dropFirst().prefix(while: isInWord).count + 1
  }

  /// The length of the string that `rest` begins with, in any notation; `nil` if `rest` begins with no string.
  private var stringLength: Int? {
    let pounds = rest.prefix { $0 == "#" }
    let opening = rest.dropFirst(pounds.count)
    guard opening.first == "\"" else { return nil }
    let quotes = opening.hasPrefix("\"\"\"") ? "\"\"\"" : "\""
    let escape = "\\" + pounds
    var inside = opening.dropFirst(quotes.count)
    while !inside.isEmpty {
      if inside.hasPrefix(quotes + pounds) {
        return rest.distance(from: rest.startIndex, to: inside.startIndex) + quotes.count + pounds.count
      } else if inside.hasPrefix(escape + "(") {
        inside = inside.dropFirst(escape.count)
        inside = inside.dropFirst(Self.bracketsLength(inside))
      } else {
        inside = inside.dropFirst(inside.hasPrefix(escape) ? escape.count + 1 : 1)
      }
    }
    return rest.count  // the string has no end
  }

  /// The length of the interpolation `(…)` at the beginning of `text`; by tokens, because a string inside can have brackets, too.
  private static func bracketsLength(_ text: Substring) -> Int {
    var lexer = Lexer(String(text))
    var depth = 0
    repeat {
      guard let token = lexer.next() else { return text.count }  // the brackets are not closed
      if token.text == "(" { depth += 1 } else if token.text == ")" { depth -= 1 }
    } while depth > 0
    return text.count - lexer.rest.count
  }
}

/// Reads tokens from the front.
struct TokenReader {
  /// The tokens that have not been taken.
  private(set) var rest: ArraySlice<Token>

  init(_ tokens: ArraySlice<Token>) { rest = tokens }

  init(_ tokens: [Token]) { rest = tokens[...] }

  var isAtEnd: Bool { rest.isEmpty }

  var next: Token? { rest.first }

  /// Takes the next token and returns `true`, if it has this text.
  mutating func take(_ text: String) -> Bool {
    guard next?.text == text else { return false }
    rest.removeFirst()
    return true
  }

  mutating func take() -> Token? { rest.popFirst() }

  /// Takes the tokens before the first of `ends` outside brackets, before an unmatched closing bracket, or before the end.
  mutating func take(upTo ends: Set<String>) -> ArraySlice<Token> {
    let start = rest
    var depth = 0
    while let next {
      if depth == 0, ends.contains(next.text) { break }
      switch next.text {
      case "(", "[", "{", "<": depth += 1
      case ")", "]", "}", ">": depth -= 1
      default: break
      }
      if depth < 0 { break }
      rest.removeFirst()
    }
    return start[..<rest.startIndex]
  }

  /// Takes a pair of brackets, and returns the tokens between them; takes nothing and returns `nil` if none begins here.
  mutating func takeBracketed(_ open: String, _ close: String) -> ArraySlice<Token>? {
    let start = rest
    guard take(open) else { return nil }
    let inside = take(upTo: [close])
    if take(close) { return inside }
    rest = start
    return nil
  }

  /// Takes attributes such as `@escaping` and `@convention(block)`.
  mutating func takeAttributes() -> [ArraySlice<Token>] {
    var attributes: [ArraySlice<Token>] = []
    while next?.text.hasPrefix("@") == true {
      let start = rest
      rest.removeFirst()
      // An attribute's arguments follow without a space. After a space, the parentheses belong to the type.
      if let next, next.text == "(", !next.hasSpaceBefore { _ = takeBracketed("(", ")") }
      attributes.append(start[..<rest.startIndex])
    }
    return attributes
  }

  /// Takes the attributes and the words such as `inout` before a type.
  mutating func takeSpecifiers() -> Set<String> {
    var specifiers: Set<String> = []
    while let next, next.text.hasPrefix("@") || Declaration.Parameter.ownershipWords.contains(next.text) {
      let attributes = takeAttributes()
      specifiers.formUnion(attributes.map(\.text))
      if attributes.isEmpty, let word = take() { specifiers.insert(word.text) }
    }
    return specifiers
  }

  /// Takes a type such as `Outer.Inner<Int>`; returns its names, with its own name last, and its generic arguments.
  mutating func takeTypeName() -> (names: [Token], arguments: [ArraySlice<Token>]) {
    var names = take().map { [$0] } ?? []
    while take("."), let name = take() { names.append(name) }
    return (names, takeBracketed("<", ">")?.elements ?? [])
  }
}

extension ArraySlice<Token> {
  /// The tokens of a generic declaration with types in place of its parameters.
  func substituting(_ types: [ArraySlice<Token>], for parameters: [String]) -> ArraySlice<Token> {
    let values = Dictionary(uniqueKeysWithValues: zip(parameters, types))
    return flatMap { values[$0.text].map(Array.init) ?? [$0] }[...]
  }

  /// The parts between commas outside brackets.
  var elements: [ArraySlice<Token>] {
    guard !isEmpty else { return [] }
    var reader = TokenReader(self)
    var elements = [reader.take(upTo: [","])]
    while reader.take(",") { elements.append(reader.take(upTo: [","])) }
    return elements
  }
}
