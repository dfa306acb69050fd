/// The tokens of a source file, with their places and brackets.
///
/// This is no parser: it knows words, literals, comments and brackets. The compiler decides everything else.
package struct SourceTokens {
  package struct Item: Equatable {
    package let text: String

    /// UTF-8 offsets.
    package let range: Range<Int>

    /// Whether the token is the first one of a line.
    let isFirstOnLine: Bool
  }

  package let source: SourceText
  package let items: [Item]

  /// For each bracket, the index of its partner.
  private var partners: [Int?]

  /// The innermost opening bracket around each token.
  private var parents: [Int?]

  /// Whether each bracket has its partner.
  package private(set) var isBalanced = true

  package init(_ source: SourceText) {
    self.source = source
    var lexer = Lexer(source.text)
    var items: [Item] = []
    var line = -1
    while let token = lexer.next() {
      let end = lexer.offset(in: source.text)
      let start = end - token.text.utf8.count
      let tokenLine = source.line(of: start)
      items.append(Item(text: token.text, range: start..<end, isFirstOnLine: tokenLine != line))
      line = source.line(of: max(end - 1, 0))
    }
    self.items = items
    partners = Array(repeating: nil, count: items.count)
    parents = Array(repeating: nil, count: items.count)
    var open: [Int] = []
    for (index, item) in items.enumerated() {
      switch item.text {
      case "(", "[", "{":
        parents[index] = open.last
        open.append(index)
      case ")", "]", "}":
        guard let start = open.popLast(), Self.closing[items[start].text] == item.text else {
          isBalanced = false
          return
        }
        partners[start] = index
        partners[index] = start
        parents[index] = open.last
      default: parents[index] = open.last
      }
    }
    isBalanced = open.isEmpty
  }

  package init(_ text: String) { self.init(SourceText(text)) }

  private static let closing = ["(": ")", "[": "]", "{": "}"]

  subscript(index: Int) -> String { items.indices.contains(index) ? items[index].text : "" }

  func partner(_ index: Int) -> Int? { partners[index] }

  func parent(_ index: Int) -> Int? { parents[index] }

  /// The token that begins at an offset.
  func index(at offset: Int) -> Int? {
    var low = 0
    var high = items.count
    while low < high {
      let middle = (low + high) / 2
      if items[middle].range.lowerBound < offset { low = middle + 1 } else { high = middle }
    }
    return low < items.count && items[low].range.lowerBound == offset ? low : nil
  }

  /// The line of a token, from 1.
  func line(_ index: Int) -> Int { source.line(of: items[index].range.lowerBound) + 1 }

  func isFirstOnLine(_ index: Int) -> Bool { items.indices.contains(index) && items[index].isFirstOnLine }

  /// Whether there is no space between two neighbours.
  func touch(_ left: Int, _ right: Int) -> Bool { items[left].range.upperBound == items[right].range.lowerBound }

  static func isWord(_ text: String) -> Bool {
    text.first.map { $0.isLetter || $0 == "_" || $0 == "$" || $0 == "`" } == true
  }
}
