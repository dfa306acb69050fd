/// The parsed arguments of the user.
package enum MigrationCommand: Equatable, Sendable {
  case help
  case report(isJSON: Bool)

  /// Compares with a report that was written as JSON.
  case check(baseline: String)

  /// Writes counterparts; if `isDeprecating`, instead prints a diff that deprecates the functions that have one.
  case generate(CounterpartStyle, to: GenerationOutput, only: String?, isDeprecating: Bool)
}

/// The destination of the text of `generate`.
package enum GenerationOutput: Equatable, Sendable {
  case standardOutput

  case file(String)

  /// A file beside each source file.
  case beside
}

/// The arguments of `swift package migrate-callbacks`, or of the executable `migrate-callbacks`.
package struct MigrationArguments: Equatable, Sendable {
  package private(set) var command = MigrationCommand.help

  /// The target; `nil` for all of the package.
  package private(set) var target: String?

  /// The lowest access level of listed functions.
  package private(set) var minimumAccess = AccessLevel.public

  /// The module of a project without Package.swift; `nil` for `help`, and for the plugin, which knows its package.
  private(set) var module: ModuleProject?

  let isPlugin: Bool

  /// Reads the words after the name of the tool; `help` is the command for no words, and for a request for help.
  package init(_ arguments: [String], isPlugin: Bool = true) throws(MigrationError) {
    self.isPlugin = isPlugin
    var rest = arguments[...]
    guard let name = rest.popFirst(), !["help", "--help", "-h"].contains(name) else { return }
    var values: [String: String] = [:]
    var flags: Set<String> = []
    let options = try Self.options(of: name) + (isPlugin ? ["--target"] : ModuleProject.options) + ["--help"]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      guard let option = parts.first, options.contains(option) else {
        throw MigrationError("`\(name)` has no option \(argument); it has \(options.joined(separator: ", ")).")
      }
      if option == "--help" { return }
      if Self.flags.contains(option) {
        if parts.count == 2 { throw MigrationError("\(option) takes no value.") }
        flags.insert(option)
        continue
      }
      guard let value = parts.count == 2 ? parts[1] : rest.popFirst(), !value.hasPrefix("--") else {
        throw MigrationError("\(option) needs a value.")
      }
      values[option] = value
    }
    target = values["--target"]
    minimumAccess = try Self.choice("--minimum-access", values) ?? .public
    guard minimumAccess >= .internal else {
      throw MigrationError("The compiler does not say where \(minimumAccess) functions are, so they cannot be listed.")
    }
    if name == "report" {
      command = values["--check"].map { .check(baseline: $0) } ?? .report(isJSON: flags.contains("--json"))
    } else {
      let destinations = ["--beside", "--output", "--deprecate"].filter { flags.contains($0) || values[$0] != nil }
      if destinations.count > 1 {
        throw MigrationError("\(destinations.joined(separator: " and ")) cannot be used together.")
      }
      command = .generate(
        try Self.choice("--style", values) ?? .both,
        to: values["--output"].map(GenerationOutput.file) ?? (flags.contains("--beside") ? .beside : .standardOutput),
        only: values["--only"],
        isDeprecating: flags.contains("--deprecate")
      )
    }
    if !isPlugin { module = try ModuleProject(values) }
  }

  /// Options without a value.
  private static let flags: Set<String> = ["--deprecate", "--beside", "--json"]

  /// The options of a command, in the plugin as in the executable; throws if there is no such command.
  private static func options(of command: String) throws(MigrationError) -> [String] {
    switch command {
    case "report": ["--json", "--minimum-access", "--check"]
    case "generate": ["--style", "--minimum-access", "--output", "--beside", "--only", "--deprecate"]
    default: throw MigrationError("There is no command \(command); there are report and generate.")
    }
  }

  /// The value of an option with a few choices; `nil` if the user does not give the option.
  private static func choice<Choice>(_ option: String, _ values: [String: String]) throws(MigrationError) -> Choice?
  where Choice: RawRepresentable<String> & CaseIterable {
    guard let value = values[option] else { return nil }
    if let choice = Choice(rawValue: value) { return choice }
    let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    throw MigrationError("\(option) is one of \(choices), not \(value).")
  }
}
