/// The tokens of a source file, with their places and brackets.
///
/// This is no parser: it knows words, literals, comments and brackets. The compiler decides everything else.
package struct SourceTokens {
  package struct Item: Equatable {
    package let text: String

    /// The line, from 1.
    let line: Int
    let isFirstOnLine: Bool
    let hasSpaceBefore: Bool
  }

  let text: String
  package let items: [Item]

  /// For each bracket, the index of its partner.
  private var partners: [Int?]

  /// The innermost opening bracket around each token.
  private var parents: [Int?]

  /// Whether each bracket has its partner; if not, `partners` and `parents` are incomplete.
  package private(set) var isBalanced = true

  package init(_ text: String) {
    var text = text
    text.makeContiguousUTF8()  // Foundation's strings are slow to scan.
    self.text = text
    var lexer = Lexer(text)
    var items: [Item] = []
    var previousLine: Int?
    while let token = lexer.next() {
      let (line, hasSpace) = (lexer.firstLine, token.hasSpaceBefore)
      items.append(Item(text: token.text, line: line, isFirstOnLine: line != previousLine, hasSpaceBefore: hasSpace))
      previousLine = lexer.lastLine
    }
    self.items = items
    partners = Array(repeating: nil, count: items.count)
    parents = Array(repeating: nil, count: items.count)
    var open: [Int] = []
    for (index, item) in items.enumerated() {
      if [")", "]", "}"].contains(item.text) {
        guard let start = open.popLast(), Self.closing[items[start].text] == item.text else {
          isBalanced = false
          return
        }
        partners[start] = index
        partners[index] = start
      }
      parents[index] = open.last
      if ["(", "[", "{"].contains(item.text) { open.append(index) }
    }
    isBalanced = open.isEmpty
  }

  private static let closing = ["(": ")", "[": "]", "{": "}"]

  /// The text of a token; empty before the first and after the last, so that callers can look around freely.
  subscript(index: Int) -> String { items.indices.contains(index) ? items[index].text : "" }

  func partner(_ index: Int) -> Int? { partners[index] }

  func parent(_ index: Int) -> Int? { parents[index] }

  func line(_ index: Int) -> Int { items[index].line }

  func isFirstOnLine(_ index: Int) -> Bool { items.indices.contains(index) && items[index].isFirstOnLine }

  /// The index after a token; for an opening bracket, whose partner comes later, the index after the partner.
  func indexAfterTokenOrBrackets(at index: Int) -> Int { (partner(index).map { max($0, index) } ?? index) + 1 }

  static func isWord(_ text: String) -> Bool {
    text.first.map { $0.isLetter || $0 == "_" || $0 == "$" || $0 == "`" } == true
  }
}
