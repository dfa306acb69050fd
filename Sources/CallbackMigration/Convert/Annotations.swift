internal import Foundation

/// The attributes that name the counterparts of functions, which the refactoring needs.
///
/// In the copy, an attribute stands in the line of its declaration, so that line numbers do not change.
enum Annotations {
  private static let mark = "/*migrate-callbacks*/"

  private static func attribute(_ title: String) -> String { "@available(*, renamed: \"\(title)\") " }

  /// The change that adds an attribute for the name at an offset; `nil` if other code stands before it in its line.
  static func edit(at offset: Int, title: String, in source: SourceText) -> SourceEdit? {
    let start = source.start(ofLine: source.line(of: offset))
    let before = source[start..<offset]
    guard !before.contains(where: { "{};".contains($0) }) else { return nil }
    let place = start + before.prefix(while: \.isWhitespace).utf8.count
    return SourceEdit(place..<place, mark + attribute(title))
  }

  /// The text without the annotations; `isKeepingAttributes` keeps each attribute, on a line of its own.
  static func removed(from text: String, isKeepingAttributes: Bool) -> String {
    var lines: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      guard let found = line.range(of: mark), let end = line[found.upperBound...].range(of: "\") ") else {
        lines.append(String(line))
        continue
      }
      let indent = line[..<found.lowerBound]
      if isKeepingAttributes { lines.append(String(indent) + line[found.upperBound..<end.upperBound].trimmed) }
      lines.append(String(indent + line[end.upperBound...]))
    }
    return lines.joined(separator: "\n")
  }
}
