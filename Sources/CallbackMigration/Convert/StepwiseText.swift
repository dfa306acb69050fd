/// A text whose changes belong to steps; the tool can write the text with only some of the steps.
struct StepwiseText {
  /// A part of the text, which one step inserted, and another can have deleted.
  private struct Piece {
    var text: String
    var insertedBy: ConversionStep.Part?
    var deletedBy: ConversionStep.Part?
  }

  /// A change, and the group of changes to which it belongs.
  typealias Edit = (edit: SourceEdit, part: ConversionStep.Part)

  private var pieces: [Piece]

  init(_ text: String) { pieces = [Piece(text: text)] }

  /// Changes the text that has all steps.
  /// - Parameter edits: The changes, at UTF-8 offsets in that text. A change that overlaps an earlier one is left out,
  ///   as in ``SourceText/applying(_:)``.
  mutating func apply(_ edits: [Edit]) {
    var done = 0
    let kept = edits.sorted { $0.edit.range.lowerBound < $1.edit.range.lowerBound }.filter { edit, _ in
      guard edit.range.lowerBound >= done else { return false }
      done = edit.range.upperBound
      return true
    }
    // From the end, because a change moves the offsets after it.
    for (edit, part) in kept.reversed() {
      let start = split(at: edit.range.lowerBound)
      let end = edit.range.isEmpty ? start : split(at: edit.range.upperBound)
      for index in start..<end where pieces[index].deletedBy == nil { pieces[index].deletedBy = part }
      pieces.insert(Piece(text: edit.text, insertedBy: part), at: start)
    }
  }

  /// The steps that inserted the text in and around a range of the text with all steps.
  func steps(around range: Range<Int>) -> Set<Int> {
    var offset = 0
    var found: Set<Int> = []
    for piece in pieces where piece.deletedBy == nil {
      let end = offset + piece.text.utf8.count
      let isTouched = range.isEmpty ? offset < range.lowerBound && range.upperBound < end : range.overlaps(offset..<end)
      if isTouched, case .step(let step)? = piece.insertedBy { found.insert(step) }
      offset = end
    }
    return found
  }

  /// The place in the text before all changes of an offset in the text with all steps; `nil` in inserted text.
  func originalOffset(of offset: Int) -> Int? {
    var end = 0
    var originalEnd = 0
    for piece in pieces {
      let count = piece.text.utf8.count
      if piece.insertedBy == nil { originalEnd += count }
      if piece.deletedBy == nil { end += count }
      if piece.deletedBy == nil, offset < end { return piece.insertedBy == nil ? originalEnd - (end - offset) : nil }
    }
    return nil
  }

  /// The text with some groups of changes only.
  func text(with parts: Set<ConversionStep.Part>) -> String {
    pieces.filter { piece in
      piece.insertedBy.map(parts.contains) ?? true && !(piece.deletedBy.map(parts.contains) ?? false)
    }.map(\.text).joined()
  }

  /// The index of the piece that begins at an offset of the text with all steps.
  private mutating func split(at offset: Int) -> Int {
    var start = 0
    for index in pieces.indices where pieces[index].deletedBy == nil {
      if start == offset { return index }
      let text = pieces[index].text
      let end = start + text.utf8.count
      if offset < end {
        let middle = text.utf8.index(text.startIndex, offsetBy: offset - start)
        var rest = pieces[index]
        pieces[index].text = String(text[..<middle])
        rest.text = String(text[middle...])
        pieces.insert(rest, at: index + 1)
        return index + 1
      }
      start = end
    }
    return pieces.count
  }
}
