package import Foundation

/// The plugin's call of the tool.
///
/// First `plan REQUEST -- ARGUMENTS`, which prints `graphs` and the names of the targets whose symbol graphs the tool
/// needs. Then `run REQUEST -- ARGUMENTS`.
package struct PluginCall: Sendable {
  package enum Step: String, Sendable {
    case plan, run
  }

  /// The purpose of this run of the tool.
  package let step: Step

  /// The file with the plugin's description of the package.
  package let request: URL

  package let arguments: [String]

  /// The call by which this program started; `nil` if a person runs the executable.
  package static let current = PluginCall(Array(CommandLine.arguments.dropFirst()))

  /// Reads the words after the name of the program; `nil` if the plugin did not write them.
  package init?(_ words: [String]) {
    guard words.count >= 3, words[2] == "--", let step = Step(rawValue: words[0]) else { return nil }
    self.step = step
    request = URL(filePath: words[1])
    arguments = Array(words[3...])
  }
}
