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

  private func replacement(_ function: CallbackFunction) -> String? {
    if style != .futures, function.hasAsyncTwin { return function.asyncTitle }
    if style != .async, function.hasFutureTwin { return function.futureTitle }
    return nil
  }

  private func diff(of file: String, _ functions: [CallbackFunction]) throws(MigrationError) -> String {
    guard let first = functions.first, let source = try? String(contentsOfFile: first.path, encoding: .utf8) else {
      throw MigrationError("\(file) cannot be read.")
    }
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    var text = "--- a/\(file)\n+++ b/\(file)\n"
    for (added, function) in functions.enumerated() {
      let index = function.line - 1
      guard lines.indices.contains(index), let replacement = replacement(function) else { continue }
      let indent = lines[index].prefix(while: \.isWhitespace)
      text += "@@ -\(function.line),1 +\(function.line + added),2 @@\n"
      text += "+\(indent)@available(*, deprecated, renamed: \"\(replacement)\")\n"
      text += " \(lines[index])\n"
    }
    return text
  }
}
