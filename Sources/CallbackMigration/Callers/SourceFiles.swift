internal import Foundation

/// The source files of a package copy, with their tokens.
final class SourceFiles {
  private var read: [String: SourceTokens] = [:]

  /// The changed files; each change in them belongs to a step.
  private(set) var changed: [String: StepwiseText] = [:]

  /// The texts of the changed files before their changes.
  private var originals: [String: SourceText] = [:]

  /// The tokens of a file; those of an empty file if it cannot be read.
  func tokens(_ path: String) -> SourceTokens {
    if let known = read[path] { return known }
    let tokens = SourceTokens((try? String(contentsOfFile: path, encoding: .utf8)) ?? "")
    read[path] = tokens
    return tokens
  }

  /// Changes the text of a file in memory.
  func apply(_ edits: [StepwiseText.Edit], to path: String) {
    let source = tokens(path).source
    if originals[path] == nil { originals[path] = source }
    changed[path, default: StepwiseText(source.text)].apply(edits)
    read[path] = SourceTokens(source.applying(edits.map(\.edit)))
  }

  /// The line of an offset before all changes, counted from 0; `nil` in new text.
  func originalLine(of offset: Int, in path: String) -> Int? {
    guard let text = changed[path], let original = originals[path] else { return tokens(path).source.line(of: offset) }
    return text.originalOffset(of: offset).map(original.line)
  }

  /// Whether the tool has written a file of counterparts.
  func isGenerated(_ path: String) -> Bool { tokens(path).source.text.hasPrefix(Generator.marker) }
}
