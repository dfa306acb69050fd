internal import Foundation

/// The owners of files, as a CODEOWNERS file of GitHub says.
package struct CodeOwners {
  private struct Rule {
    /// The parts of the pattern between slashes.
    let parts: [String]
    let owners: String
  }

  private let rules: [Rule]

  /// The path of the package in its repository, with a slash at the end; empty if the package is at the root.
  private var prefix = ""

  /// Reads the CODEOWNERS file of a package's repository.
  /// - Parameter package: The folder of the package.
  /// - Throws: An error if there is no such file.
  init(of package: URL) throws(MigrationError) {
    func git(_ option: String) throws(MigrationError) -> String {
      try Shell.run(["git", "rev-parse", option], in: package).output.trimmed
    }
    let root = package.appending(path: try git("--show-cdup"))
    // GitHub looks for the file in this order.
    let files = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"].map { root.appending(path: $0) }
    guard let text = files.lazy.compactMap({ try? String(contentsOf: $0, encoding: .utf8) }).first else {
      throw MigrationError("--commit-by owner needs a CODEOWNERS file in .github, the root or docs of the repository.")
    }
    self.init(text)
    prefix = try git("--show-prefix")
  }

  package init(_ text: String) {
    rules = text.split(whereSeparator: \.isNewline).compactMap { line in
      // A space in a pattern has a backslash.
      let words = line.replacingOccurrences(of: "\\ ", with: "\0").split(whereSeparator: \.isWhitespace)
        .map { $0.replacingOccurrences(of: "\0", with: " ") }
      // GitHub leaves out the lines that it cannot read.
      guard let pattern = words.first, !["#", "!", "["].contains(pattern.first) else { return nil }
      let owners = words.dropFirst().prefix { !$0.hasPrefix("#") }
      return Rule(parts: Self.parts(pattern), owners: owners.joined(separator: ", "))
    }
  }

  /// Returns the owners of a file of the package, or `nil` if the file has none.
  /// - Parameter path: The path in the package.
  /// - Returns: The owners, with commas between them.
  package func owner(of path: String) -> String? {
    let parts = (prefix + path).split(separator: "/").map(String.init)
    let last = rules.last { Self.matches($0.parts[...], parts[...]) }
    return last.flatMap { $0.owners.isEmpty ? nil : $0.owners }
  }

  private static func parts(_ pattern: String) -> [String] {
    var parts = pattern.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let isFolder = parts.count > 1 && parts.last == ""
    if isFolder { parts.removeLast() }
    // A pattern without a slash before its end, such as `*.swift`, matches in each folder.
    if parts.first == "" { parts.removeFirst() } else if parts.count == 1 { parts.insert("**", at: 0) }
    return isFolder ? parts + ["**"] : parts
  }

  /// Whether a pattern matches a path, or a folder around it.
  private static func matches(_ pattern: ArraySlice<String>, _ path: ArraySlice<String>) -> Bool {
    guard let part = pattern.first else { return true }
    guard let name = path.first else { return false }
    let rest = pattern.dropFirst()
    if part == "**" {
      return rest.isEmpty || matches(rest, path) || matches(pattern, path.dropFirst())
    }
    // `docs/*` matches the files in the folder, but not those in its subfolders.
    if part == "*", rest.isEmpty { return path.count == 1 }
    return isMatch(part[...], name[...]) && matches(rest, path.dropFirst())
  }

  /// Whether a name fits a pattern with `*` and `?`.
  private static func isMatch(_ pattern: Substring, _ name: Substring) -> Bool {
    guard let first = pattern.first else { return name.isEmpty }
    let rest = pattern.dropFirst()
    if first == "*" { return isMatch(rest, name) || !name.isEmpty && isMatch(pattern, name.dropFirst()) }
    guard let character = name.first, first == "?" || first == character else { return false }
    return isMatch(rest, name.dropFirst())
  }
}
