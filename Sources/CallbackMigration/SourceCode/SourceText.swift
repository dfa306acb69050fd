/// The text of a source file, with its lines.
package struct SourceText: Equatable {
  package let text: String

  /// The UTF-8 offsets of the first characters of lines.
  private let lineStarts: [Int]

  package init(_ text: String) {
    var text = text
    text.makeContiguousUTF8()
    self.text = text
    var starts = [0]
    for (offset, byte) in text.utf8.enumerated() where byte == UInt8(ascii: "\n") { starts.append(offset + 1) }
    lineStarts = starts
  }

  /// The line of a UTF-8 offset, from 0.
  package func line(of offset: Int) -> Int {
    var low = 0
    var high = lineStarts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle } else { high = middle }
    }
    return low
  }

  /// The offset of the first character of a line, from 0.
  func start(ofLine line: Int) -> Int { lineStarts[min(max(line, 0), lineStarts.count - 1)] }

  /// The UTF-8 offset of a place.
  func offset(of position: LanguageServerMessage.Position) -> Int? {
    guard lineStarts.indices.contains(position.line) else { return nil }
    let start = index(lineStarts[position.line])
    guard let end = text.utf16.index(start, offsetBy: position.character, limitedBy: text.endIndex) else { return nil }
    return text.utf8.distance(from: text.startIndex, to: end)
  }

  /// The place of a UTF-8 offset.
  func position(of offset: Int) -> LanguageServerMessage.Position {
    let line = line(of: offset)
    let character = text.utf16.distance(from: index(lineStarts[line]), to: index(offset))
    return LanguageServerMessage.Position(line: line, character: character)
  }

  subscript(range: Range<Int>) -> Substring { text[index(range.lowerBound)..<index(range.upperBound)] }

  private func index(_ offset: Int) -> String.Index { text.utf8.index(text.startIndex, offsetBy: offset) }

  /// The text of a line, from 0, without its end.
  package func line(_ line: Int) -> Substring {
    let start = lineStarts[line]
    let end = line + 1 < lineStarts.count ? lineStarts[line + 1] - 1 : text.utf8.count
    return self[start..<end]
  }

  /// The text after changes that do not overlap.
  package func applying(_ edits: [SourceEdit]) -> String {
    var result = ""
    var done = 0
    for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      guard edit.range.lowerBound >= done else { continue }
      result += self[done..<edit.range.lowerBound] + edit.text
      done = edit.range.upperBound
    }
    return result + self[done..<text.utf8.count]
  }
}

/// A change of a text.
package struct SourceEdit: Equatable, Sendable {
  /// UTF-8 offsets.
  package var range: Range<Int>
  package var text: String

  package init(_ range: Range<Int>, _ text: String) {
    self.range = range
    self.text = text
  }

  /// The place of an offset after the changes; `nil` if a change replaces the text there.
  static func offset(_ offset: Int, after edits: [SourceEdit]) -> Int? {
    var moved = offset
    for edit in edits {
      if edit.range.contains(offset) { return nil }
      if edit.range.upperBound <= offset { moved += edit.text.utf8.count - edit.range.count }
    }
    return moved
  }
}
