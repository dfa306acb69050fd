/// A change of one file that can be applied with or without others.
struct ProposedChange: Hashable {
  /// The path in the copy.
  let path: String

  /// UTF-8 offsets in the file before all changes.
  let range: Range<Int>
  let text: String

  /// The text in front of the change, which is not formatted.
  var lead = ""

  /// The index of the call; `nil` for a new function.
  var call: Int?

  /// The index of the function that gets a counterpart; of the wrapper in `TurnAround`.
  var function: Int?

  /// The generated counterpart that the change replaces.
  var removal: Removal?

  /// The text to try if `text` does not build.
  var alternative: String?

  /// The files that the change edits.
  var paths: [String] { [path] + (removal.map { [$0.path] } ?? []) }

  /// A part of another file that the change removes.
  struct Removal: Hashable {
    let path: String
    let range: Range<Int>
  }

  /// The same change with another text.
  func with(_ text: String) -> ProposedChange {
    var change = ProposedChange(path: path, range: range, text: text, lead: lead, call: call, function: function)
    change.removal = removal
    change.alternative = alternative
    return change
  }

  var edit: SourceEdit { SourceEdit(range, lead + text) }

  /// The text after changes, and the lines of each change in it, from 1.
  static func applying(
    _ changes: [ProposedChange],
    to source: SourceText
  ) -> (text: String, lines: [(change: ProposedChange, lines: ClosedRange<Int>)]) {
    let sorted = changes.sorted { $0.range.lowerBound < $1.range.lowerBound }
    let text = source.applying(sorted.map(\.edit))
    let new = SourceText(text)
    var moved = 0
    let lines = sorted.map { change in
      let start = change.range.lowerBound + moved
      moved += change.edit.text.utf8.count - change.range.count
      let end = max(start, start + change.edit.text.utf8.count - 1)
      return (change, (new.line(of: start) + 1)...(new.line(of: end) + 1))
    }
    return (text, lines)
  }
}
