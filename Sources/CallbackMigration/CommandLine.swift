/// The parsed arguments of the user.
public enum MigrationCommand: Equatable, Sendable {
  case help
  case report(ReportFormat)

  /// Compares with a report that was written as JSON.
  case check(baseline: String)
  case generate(CounterpartStyle, to: GenerationOutput, only: String?, isDeprecating: Bool)

  /// Lists the calls.
  case callers(isJSON: Bool)
  case convert(ConversionOptions)

  /// Drafts tests that compare functions with their async counterparts.
  case compare(only: String?)

  /// Makes callback functions call their async counterparts.
  case turnAround(ConversionOptions)
}

/// The options of `convert` and `turn-around`.
public struct ConversionOptions: Equatable, Sendable {
  /// The pattern of `--only`: for the called function or the one around the call, or for the function to turn around.
  public var only: String?

  /// Whether functions with a callback get a converted counterpart, too.
  public var includesFunctions = false

  /// Whether the files are changed; otherwise a diff is printed.
  public var isApplying = false

  /// Whether the wrappers of `turn-around` use futures; otherwise they use tasks.
  public var usesFutures = true

  /// The changes that share a git commit: those of a function, or of an owner; `nil` for no commits.
  public var commits: CommitUnit?

  /// Whether changes become git commits.
  var isCommitting: Bool { commits != nil }

  /// Whether the package's tests decide which changes are kept.
  public var isTesting = false

  /// Makes options that convert all ready calls, and print a diff.
  public init() {}
}

/// The changes that `convert` puts into one commit.
public enum CommitUnit: String, CaseIterable, Sendable {
  /// The changes of one function.
  case function

  /// The changes in the files of one owner of the CODEOWNERS file.
  case owner
}

/// The styles of the wrappers of `turn-around`.
private enum WrapperStyle: String, CaseIterable {
  case futures, async
}

/// The destination of the text of `generate`.
public enum GenerationOutput: Equatable, Sendable {
  case standardOutput

  /// One file.
  case file(String)

  /// A file beside each source file.
  case beside
}

/// The arguments of `swift package migrate-callbacks`, or of the executable `migrate-callbacks`.
public struct MigrationArguments: Equatable, Sendable {
  /// The command, with its options.
  public private(set) var command = MigrationCommand.help

  /// The target; `nil` for all of the package.
  public private(set) var target: String?

  /// The lowest access level of listed functions.
  public private(set) var minimumAccess = AccessLevel.public

  /// The changes of meaning that the user accepts.
  public private(set) var allowed: Set<CallRisk> = []

  /// The project of the executable; `nil` for the plugin, which knows its package, and for `--help`.
  public private(set) var project: MigrationProject?

  let isPlugin: Bool

  /// Reads the arguments.
  /// - Parameters:
  ///   - arguments: The arguments, without the name of the tool.
  ///   - isPlugin: Whether the plugin passes the arguments on.
  /// - Throws: A sentence that names the mistake.
  public init(_ arguments: [String], isPlugin: Bool = true) throws(MigrationError) {
    self.isPlugin = isPlugin
    var rest = arguments[...]
    guard let name = rest.popFirst(), !["help", "--help", "-h"].contains(name) else { return }
    var values: [String: String] = [:]
    var flags: Set<String> = []
    let options = try Self.options(of: name) + (isPlugin ? [] : MigrationProject.options) + ["--help"]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      guard let option = parts.first, options.contains(option) else {
        throw MigrationError("`\(name)` has no option \(argument); it has \(options.joined(separator: ", ")).")
      }
      if option == "--help" { return }
      if Self.flags.contains(option) {
        flags.insert(option)
        continue
      }
      guard let value = parts.count == 2 ? parts[1] : rest.popFirst(), !value.hasPrefix("--") else {
        throw MigrationError("\(option) needs a value.")
      }
      values[option] = value
    }
    target = values["--target"]
    // Calls of internal functions are listed as well.
    let lowest: AccessLevel = ["callers", "convert", "turn-around", "compare"].contains(name) ? .internal : .public
    minimumAccess = try Self.choice("--minimum-access", values) ?? lowest
    guard minimumAccess >= .internal else {
      throw MigrationError("The compiler does not say where \(minimumAccess) functions are, so they cannot be listed.")
    }
    allowed = try Self.risks(values["--allow"])
    if name == "compare" {
      command = .compare(only: values["--only"])
    } else if name == "callers" {
      command = .callers(isJSON: flags.contains("--json"))
    } else if name == "convert" || name == "turn-around" {
      let commit = values["--commit-by"] == nil ? "--commit" : "--commit-by"
      let isCommitting = flags.contains("--commit") || commit == "--commit-by"
      let outputs = ["--diff", "--apply"].filter(flags.contains) + (isCommitting ? [commit] : [])
      guard outputs.count < 2 else { throw MigrationError("\(outputs[0]) and \(outputs[1]) contradict each other.") }
      var options = ConversionOptions()
      options.only = values["--only"]
      options.includesFunctions = flags.contains("--functions")
      options.isApplying = flags.contains("--apply")
      options.usesFutures = try Self.choice("--style", values) != WrapperStyle.async
      options.commits = try Self.choice("--commit-by", values) ?? (isCommitting ? .function : nil)
      options.isTesting = flags.contains("--test")
      command = name == "convert" ? .convert(options) : .turnAround(options)
    } else if name == "report" {
      let format: ReportFormat? = try Self.choice("--format", values)
      if flags.contains("--json"), let format, format != .json {
        throw MigrationError("--json and --format \(format) contradict each other.")
      }
      command =
        values["--check"].map { .check(baseline: $0) } ?? .report(flags.contains("--json") ? .json : format ?? .table)
    } else {
      let isDeprecating = flags.contains("--deprecate")
      if flags.contains("--beside"), isDeprecating || values["--output"] != nil {
        throw MigrationError("--beside cannot be used with \(isDeprecating ? "--deprecate" : "--output").")
      }
      let output =
        values["--output"].map(GenerationOutput.file) ?? (flags.contains("--beside") ? .beside : .standardOutput)
      let style: CounterpartStyle = try Self.choice("--style", values) ?? .both
      guard !isDeprecating || style != .callbacks else {
        throw MigrationError("--deprecate cannot be used with --style callbacks.")
      }
      command = .generate(
        style,
        to: output,
        only: values["--only"],
        isDeprecating: isDeprecating
      )
    }
    if !isPlugin { project = try MigrationProject(values, of: name, needsCalls: command.needsCalls) }
    if case .module = project, flags.contains("--test") {
      throw MigrationError("--test runs `swift test`, so it needs a package.")
    }
  }

  /// Options without a value.
  private static let flags: Set<String> = [
    "--deprecate", "--beside", "--json", "--functions", "--apply", "--diff", "--commit", "--test",
  ]

  private static func options(of command: String) throws(MigrationError) -> [String] {
    switch command {
    case "report": ["--target", "--format", "--json", "--minimum-access", "--check"]
    case "generate":
      ["--target", "--style", "--minimum-access", "--output", "--beside", "--only", "--deprecate"]
    case "callers": ["--target", "--json", "--minimum-access", "--allow"]
    case "convert":
      [
        "--target", "--only", "--allow", "--functions", "--diff", "--apply", "--commit", "--commit-by", "--test",
        "--minimum-access",
      ]
    case "compare": ["--target", "--only", "--minimum-access"]
    case "turn-around": ["--target", "--only", "--style", "--allow", "--diff", "--apply", "--minimum-access"]
    default:
      let commands = "report, generate, callers, convert, turn-around and compare"
      throw MigrationError("There is no command \(command); there are \(commands).")
    }
  }

  /// The names after `--allow`, with commas between them.
  private static func risks(_ value: String?) throws(MigrationError) -> Set<CallRisk> {
    var risks: Set<CallRisk> = []
    for name in (value ?? "").split(separator: ",") {
      guard let risk = CallRisk(rawValue: String(name)) else {
        let names = CallRisk.allCases.map(\.rawValue).joined(separator: ", ")
        throw MigrationError("--allow takes \(names), not \(name).")
      }
      risks.insert(risk)
    }
    return risks
  }

  private static func choice<Choice>(_ option: String, _ values: [String: String]) throws(MigrationError) -> Choice?
  where Choice: RawRepresentable<String> & CaseIterable {
    guard let value = values[option] else { return nil }
    if let choice = Choice(rawValue: value) { return choice }
    let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    throw MigrationError("\(option) is one of \(choices), not \(value).")
  }
}
