internal import Foundation

/// Prints which annotations would deprecate the functions that have a counterpart, as a diff to review and apply.
package struct DeprecationDiff {
  private let inventory: Inventory
  private let style: CounterpartStyle
  private let pattern: TitlePattern

  /// Makes the diff for the module's functions whose titles match `pattern`; `nil` matches all.
  ///
  /// With the style `both`, an annotation names the async counterpart if a function has both.
  package init(_ inventory: Inventory, style: CounterpartStyle, only pattern: String? = nil) {
    self.inventory = inventory
    self.style = style
    self.pattern = TitlePattern(part: pattern)
  }

  /// The diff, in the format of `git diff`; empty if there is nothing to deprecate.
  package func text() throws(MigrationError) -> String {
    var text = ""
    let candidates = inventory.functions.filter { canBeDeprecated($0) && replacement($0) != nil }
    for (file, functions) in Dictionary(grouping: candidates, by: \.file).sorted(by: { $0.key < $1.key }) {
      text += try diff(of: file, functions)
    }
    return text
  }

  /// Whether the diff covers a function, and callers of the function can do without it once it has a counterpart.
  private func canBeDeprecated(_ function: CallbackFunction) -> Bool {
    guard pattern.matches(function.title), !function.isDeprecated, !function.isUnavailable else { return false }
    // Conforming types and callers of a protocol need its requirement, and the system calls a delegate.
    guard function.role == .plain else { return false }
    // If all callbacks have defaults, some callers give none. A deprecation would name a counterpart that they do not need.
    return !function.declaration.canOmit(function.callbacks)
  }

  /// The first existing counterpart of the style's kinds that is in the module itself; `nil` if there is none.
  private func replacement(_ function: CallbackFunction) -> (title: String, file: String)? {
    style.kinds.lazy.map(function.counterpart).compactMap { counterpart in
      // `file` is `nil` without a counterpart. Clients of the module do not see extensions by another module.
      counterpart.file.flatMap { inventory.isElsewhere($0) ? nil : (counterpart.title, $0) }
    }.first
  }

  /// The hunks of a file, and comments about functions that need a look.
  private func diff(of file: String, _ functions: [CallbackFunction]) throws(MigrationError) -> String {
    guard let first = functions.first, let source = try? String(contentsOfFile: first.path, encoding: .utf8) else {
      throw MigrationError("\(file) cannot be read.")
    }
    // By scalars, because "\r\n" is one character; a line then keeps its "\r", so that the patch fits the file.
    let lines = source.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(Substring.init)
    var notes = ""
    var hunks = ""
    // The number of lines that earlier hunks of the file add; it moves the new line numbers of later hunks.
    var added = 0
    var calledCount = 0
    for function in functions {
      let index = function.line - 1
      // The file can have become shorter since the build that wrote the graph.
      guard lines.indices.contains(index), let (title, counterpartFile) = replacement(function) else { continue }
      // Only the declaration's own words can stand before the name: `public func`, not `struct Store { func`.
      guard !lines[index].prefix(function.column).contains(where: { "{};".contains($0) }) else {
        notes += "# \(file): \(function.title) does not begin its line; annotate it by hand.\n"
        continue
      }
      if Generator.wrote(counterpartFile) { calledCount += 1 }
      let indent = lines[index].prefix(while: \.isWhitespace)
      hunks += "@@ -\(function.line),1 +\(function.line + added),2 @@\n"
      hunks += "+\(indent)@available(*, deprecated, renamed: \"\(title)\")\(lines[index].hasSuffix("\r") ? "\r" : "")\n"
      hunks += " \(lines[index])\n"
      added += 1
    }
    if calledCount > 0 {
      let which = calledCount == 1 ? "1 function is" : "\(calledCount) functions are"
      notes += "# \(file): \(which) still called by generated counterparts, where the compiler will warn of it.\n"
    }
    return notes + (hunks.isEmpty ? "" : "--- a/\(file)\n+++ b/\(file)\n" + hunks)
  }
}
