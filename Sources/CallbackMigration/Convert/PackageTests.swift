internal import Foundation

/// The package's own tests, run in its copy.
final class PackageTests {
  private let copy: PackageCopy

  /// The longest time of a run, in seconds; `nil` before the first one.
  private var limit: Double?

  init(_ copy: PackageCopy) { self.copy = copy }

  /// Throws if a test fails before any change.
  func requireSuccess() throws(MigrationError) {
    Shell.progress("Building the package, and running its tests before any change.")
    let reason: String
    switch try copy.build(isStrict: true) {
    case .failed(let errors, let output): reason = "it does not build:\n\(copy.text(of: errors, output))"
    case .succeeded:
      let start = Date()
      guard let failure = try failure() else {
        // After a change, a test can wait for ever for a callback that no longer comes.
        limit = 60 + 10 * Date().timeIntervalSince(start)
        return
      }
      reason = failure
    }
    throw MigrationError(
      "The package's tests do not pass before any change, so --test can check nothing. Repair them first: \(reason)"
    )
  }

  /// Runs the tests of the built copy.
  /// - Returns: The message of the first failure; `nil` if all tests pass.
  /// - Throws: An error if they cannot be started.
  func failure() throws(MigrationError) -> String? {
    var arguments = ["swift", "test", "--skip-build", "--disable-sandbox", "--package-path", copy.folder.path]
    arguments += ["--scratch-path", copy.scratch.path]
    let (status, output) = try Shell.run(arguments, limit: limit)
    switch status {
    case 0: return nil
    case Shell.limitReached: return "the tests do not end within \(Int(limit ?? 0)) seconds"
    default: return Self.failure(in: output).replacingOccurrences(of: copy.folder.path + "/", with: "")
    }
  }

  /// The first line about a failure, from the place of the failure on.
  static func failure(in output: String) -> String {
    let lines = output.split(whereSeparator: \.isNewline).map(String.init)
    for line in lines {
      // Swift Testing: `✘ Test sum() recorded an issue at AppTests.swift:8:3: Expectation failed: …`.
      if let mark = line.range(of: " recorded an issue "),
        let place = line.range(of: "at ", range: mark.upperBound..<line.endIndex)
      {
        return String(line[place.upperBound...])
      }
      // XCTest: `/…/AppTests.swift:8: error: AppTests.testSum : …`. A trap: `App/Store.swift:8: Fatal error: …`.
      for mark in [": error: ", ": Fatal error: "] {
        if let found = line.range(of: mark), line[..<found.lowerBound].last?.isNumber == true { return line }
      }
    }
    return lines.first { $0.hasPrefix("error: ") } ?? lines.last ?? "`swift test` fails without a word"
  }
}
