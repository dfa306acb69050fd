/// The text of a documentation comment.
struct DocumentationText {
  private let lines: [String]

  init(_ lines: [String]) { self.lines = lines }

  /// The first sentence, with its line breaks.
  var summary: [String] {
    var summary: [String] = []
    for line in lines.drop(while: \.trimmed.isEmpty) {
      let text = line.trimmed
      guard !text.isEmpty, !["- ", "* ", "#", "```"].contains(where: text.hasPrefix) else { break }
      if let end = Self.sentenceEnd(text) { return summary + [String(text[..<end])] }
      summary.append(text)
    }
    return summary
  }

  /// The index after the first full stop that ends a sentence; `nil` if the sentence goes on in the next line.
  private static func sentenceEnd(_ text: String) -> String.Index? {
    for (index, character) in zip(text.indices, text) where character == "." {
      let next = text.index(after: index)
      if next == text.endIndex { return next }
      let rest = text[next...].drop(while: \.isWhitespace)
      // A sentence begins with a capital letter or code: the full stops in "e.g. this" end none.
      if text[next].isWhitespace, rest.first?.isUppercase == true || rest.first == "`" { return next }
    }
    return nil
  }

  /// The lines about some of the parameters, for another comment.
  func parameters(named names: [String]) -> [String] {
    let found = parameters
    let kept = names.compactMap { name in found[name].map { (name, $0) } }
    let isList = kept.count > 1
    var result = isList ? ["- Parameters:"] : []
    for (name, text) in kept {
      result.append("\(isList ? "  - " : "- Parameter ")\(name): \(text.first ?? "")")
      result += text.dropFirst().map { "\(isList ? "    " : "  ")\($0)" }
    }
    return result
  }

  /// The text about each parameter, line by line.
  private var parameters: [String: [String]] {
    var found: [String: [String]] = [:]
    // The parameter whose text continues, and the indentation of `- Parameters:` while its list lasts.
    var name: String?
    var listIndentation: Int?
    for line in lines {
      let text = line.trimmed
      let indentation = line.prefix { $0 == " " || $0 == "\t" }.count
      // The list ends before a line that is indented no more than its head.
      if let list = listIndentation, indentation <= list { listIndentation = nil }
      if text.lowercased() == "- parameters:" {
        listIndentation = indentation
        name = nil
      } else if text.hasPrefix("- ") || text.isEmpty {
        // A text ends at a blank line or an item. An item `- Parameter name:`, or one of the list, begins the next text.
        name = nil
        var item = text.dropFirst(2)
        if item.lowercased().hasPrefix("parameter ") {
          item = item.dropFirst("parameter ".count)
        } else if listIndentation == nil {
          continue
        }
        guard let colon = item.firstIndex(of: ":") else { continue }
        name = item[..<colon].trimmed
        if let name { found[name] = [item[item.index(after: colon)...].trimmed] }
      } else if let name {
        found[name]?.append(text)
      }
    }
    return found
  }
}
