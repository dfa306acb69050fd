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
}
