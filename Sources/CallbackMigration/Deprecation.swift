internal import Foundation

/// Prints which annotations would deprecate the functions that have a twin, as a diff to review and apply.
public struct DeprecationDiff {
  private let inventory: Inventory
  private let style: TwinStyle

  /// Takes the functions.
  /// - Parameters:
  ///   - inventory: The functions of a module, as it is with the twins in it.
  ///   - style: The twins that they are to be replaced by; `both` prefers the async one.
  public init(_ inventory: Inventory, style: TwinStyle) {
    self.inventory = inventory
    self.style = style
  }

  /// The diff, in the format of `git diff`; empty if there is nothing to deprecate.
  /// - Throws: Where a source file cannot be read.
  public func text() throws(MigrationError) -> String {
    var text = ""
    let candidates = inventory.functions.filter { !$0.isDeprecated && !$0.isUnavailable && replacement($0) != nil }
    for (file, functions) in Dictionary(grouping: candidates, by: \.file).sorted(by: { $0.key < $1.key }) {
      text += try diff(of: file, functions)
    }
    return text
  }

  private func replacement(_ function: CallbackFunction) -> (title: String, file: String)? {
    style.kinds.lazy.map(function.twin).compactMap { twin in twin.file.map { (twin.title, $0) } }.first
  }

  private func isGenerated(_ file: String) -> Bool {
    (try? String(contentsOfFile: file, encoding: .utf8))?.hasPrefix(Generator.marker) == true
  }

  private func diff(of file: String, _ functions: [CallbackFunction]) throws(MigrationError) -> String {
    guard let first = functions.first, let source = try? String(contentsOfFile: first.path, encoding: .utf8) else {
      throw MigrationError("\(file) cannot be read.")
    }
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    var notes = ""
    var hunks = ""
    var added = 0
    var calledCount = 0
    for function in functions {
      let index = function.line - 1
      guard lines.indices.contains(index), let (title, twinFile) = replacement(function) else { continue }
      // What stands before the name is to be the declaration's own: `public func`, not `struct Store { func`.
      guard !lines[index].prefix(function.column).contains(where: { "{};".contains($0) }) else {
        notes += "# \(file): \(function.title) does not begin its line; annotate it by hand.\n"
        continue
      }
      if isGenerated(twinFile) { calledCount += 1 }
      let indent = lines[index].prefix(while: \.isWhitespace)
      hunks += "@@ -\(function.line),1 +\(function.line + added),2 @@\n"
      hunks += "+\(indent)@available(*, deprecated, renamed: \"\(title)\")\n"
      hunks += " \(lines[index])\n"
      added += 1
    }
    if calledCount > 0 {
      let which = calledCount == 1 ? "1 function is" : "\(calledCount) functions are"
      notes += "# \(file): \(which) still called by generated twins, where the compiler will warn of it.\n"
    }
    return notes + (hunks.isEmpty ? "" : "--- a/\(file)\n+++ b/\(file)\n" + hunks)
  }
}
