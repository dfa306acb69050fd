/// What the user has asked for.
public enum MigrationCommand: Equatable, Sendable {
  case help
  case report(ReportFormat)
  case generate(CounterpartStyle, output: String?, only: String?, isDeprecating: Bool)
}

/// The arguments of `swift package migrate-callbacks`, read.
public struct MigrationArguments: Equatable, Sendable {
  /// What is to be done.
  public private(set) var command = MigrationCommand.help

  /// The target; `nil` for all of the package.
  public private(set) var target: String?

  /// What is less accessible is left out.
  public private(set) var minimumAccess = AccessLevel.internal

  /// Reads the arguments.
  /// - Parameter arguments: Without the name of the tool.
  /// - Throws: A sentence that names what is wrong.
  public init(_ arguments: [String]) throws(MigrationError) {
    var rest = arguments[...]
    guard let name = rest.popFirst(), !["help", "--help", "-h"].contains(name) else { return }
    var values: [String: String] = [:]
    var isDeprecating = false
    let options = try Self.options(of: name)
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      guard let option = parts.first, options.contains(option) else {
        throw MigrationError("`\(name)` has no option \(argument); it has \(options.joined(separator: ", ")).")
      }
      if option == "--help" { return }
      if option == "--deprecate" {
        isDeprecating = true
        continue
      }
      guard let value = parts.count == 2 ? parts[1] : rest.popFirst(), !value.hasPrefix("--") else {
        throw MigrationError("\(option) needs a value.")
      }
      values[option] = value
    }
    target = values["--target"]
    minimumAccess = try Self.choice("--minimum-access", values) ?? .internal
    guard minimumAccess >= .internal else {
      throw MigrationError("The compiler does not say where \(minimumAccess) functions are, so they cannot be listed.")
    }
    if name == "report" {
      command = .report(try Self.choice("--format", values) ?? .table)
    } else {
      let style: CounterpartStyle = try Self.choice("--style", values) ?? .both
      command = .generate(
        style,
        output: values["--output"],
        only: values["--only"],
        isDeprecating: isDeprecating
      )
    }
  }

  private static func options(of command: String) throws(MigrationError) -> [String] {
    switch command {
    case "report": ["--target", "--format", "--minimum-access", "--help"]
    case "generate": ["--target", "--style", "--minimum-access", "--output", "--only", "--deprecate", "--help"]
    default: throw MigrationError("There is no command \(command); there are report and generate.")
    }
  }

  private static func choice<Choice>(_ option: String, _ values: [String: String]) throws(MigrationError) -> Choice?
  where Choice: RawRepresentable<String> & CaseIterable {
    guard let value = values[option] else { return nil }
    if let choice = Choice(rawValue: value) { return choice }
    let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    throw MigrationError("\(option) is one of \(choices), not \(value).")
  }

  /// What `--help` prints.
  public static let help = """
    Usage: swift package migrate-callbacks report   [--target T] [--format table|json|markdown] [--minimum-access LEVEL]
           swift package migrate-callbacks generate [--target T] [--style futures|async|both] [--minimum-access LEVEL]
                                                    [--output FILE] [--only PATTERN] [--deprecate]

    report    Lists every function that takes an escaping callback, and how many have an async counterpart: the burn-down
              of a migration.
    generate  Writes a file of extensions with an async counterpart for each, and one that returns a future. What it cannot
              write safely it lists at the end of the file, with the reason.

    --target T              The target; without it all of the package, or for generate the only one.
    --minimum-access LEVEL  Leaves out what is less accessible: internal (this is the default), package, public, open.
    --output FILE           Where to write, relative to the package, instead of printing. A file that this has not
                            written is not overwritten. On macOS, swift package needs
                            --allow-writing-to-package-directory before the name of the command.
    --only PATTERN          Only functions whose title matches, such as 'Store.*' or 'user(id:'.
    --deprecate             Prints the annotations that deprecate the functions that have a counterpart, as a diff.

    """
}
