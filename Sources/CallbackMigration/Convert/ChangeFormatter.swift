internal import Foundation

/// Formats the changes of one file, and nothing else in that file.
enum ChangeFormatter {
  /// The changes with formatted texts.
  ///
  /// One run of the formatter formats all changes in place. Comments mark where each text begins and ends.
  static func formatted(_ changes: [ProposedChange], of source: SourceText, root: URL) -> [ProposedChange] {
    guard let path = changes.first?.path else { return [] }
    let marked = changes.enumerated().map { index, change in
      SourceEdit(change.range, "\(change.lead)\(fence(index))\n\(change.text)\n\(fence(index))")
    }
    let text = source.applying(marked)
    let whole = SourceText(text)
    let ranges = changes.indices.compactMap { range(of: $0, in: text).map { whole.utf8Range($0) } }
    let formatted = SwiftFormat.formatted(text, in: ranges, for: URL(filePath: path), root: root) ?? text
    return changes.enumerated().map { index, change in
      guard let found = range(of: index, in: formatted) else { return change }
      let inner = formatted[found].dropFirst(fence(index).count).dropLast(fence(index).count)
      let text = String(inner.trimmed)
      // A change that replaces nothing adds a declaration.
      return change.with(change.range.isEmpty ? aligned(text, after: change.lead) : text)
    }
  }

  /// Returns a declaration with the indentation of the lead before it.
  ///
  /// The formatter indents by depth. A file can leave out a level, for example that of an extension around a type.
  private static func aligned(_ text: String, after lead: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let indents = lines.dropFirst().filter { !$0.isEmpty }.map { $0.prefix { $0 == " " || $0 == "\t" } }
    guard !lead.isEmpty, let indent = indents.min(by: { $0.count < $1.count }) else { return text }
    let wanted = lead.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
    let others = lines.dropFirst().map { $0.isEmpty ? "" : String(wanted + $0.dropFirst(indent.count)) }
    return (lines.prefix(1).map(String.init) + others).joined(separator: "\n")
  }

  private static func fence(_ index: Int) -> String { "/*migrate-callbacks \(index)*/" }

  private static func range(of index: Int, in text: String) -> Range<String.Index>? {
    guard let first = text.range(of: fence(index)),
      let last = text.range(of: fence(index), range: first.upperBound..<text.endIndex)
    else { return nil }
    return first.lowerBound..<last.upperBound
  }
}

extension SourceText {
  func utf8Range(_ range: Range<String.Index>) -> Range<Int> {
    text.utf8.distance(
      from: text.startIndex,
      to: range.lowerBound
    )..<text.utf8.distance(from: text.startIndex, to: range.upperBound)
  }
}
