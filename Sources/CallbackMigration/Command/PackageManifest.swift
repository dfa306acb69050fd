internal import Foundation

/// The needed facts of a package's manifest, read as text: a plugin cannot ask SwiftPM for the settings of a target.
package struct PackageManifest {
  private let text: String

  init(package: URL) {
    text = (try? String(contentsOf: package.appending(path: "Package.swift"), encoding: .utf8)) ?? ""
  }

  package init(text: String) { self.text = text }

  /// Whether the compiler accepts a value that is not `Sendable` as the value of a future, without a warning.
  ///
  /// True for the Swift 5 mode without strict concurrency. False if the manifest does not show it.
  package var allowsFuturesOfAnyValue: Bool {
    guard let version = toolsVersion, !text.contains("StrictConcurrency"), !text.contains("strict-concurrency") else {
      return false
    }
    if version < 6 { return true }
    let modes = ["swiftLanguageModes:[.v5]", "swiftLanguageVersions:[.v5]"]
    // One target can still choose the Swift 6 mode.
    return modes.contains(where: text.filter { !$0.isWhitespace }.contains) && !text.contains("swiftLanguageMode(.v6)")
  }

  /// The major version in the first line, such as `// swift-tools-version: 5.9`.
  private var toolsVersion: Int? {
    guard let line = text.split(separator: "\n").first, let mark = line.range(of: "swift-tools-version:") else {
      return nil
    }
    return Int(line[mark.upperBound...].drop(while: \.isWhitespace).prefix(while: \.isNumber))
  }
}
