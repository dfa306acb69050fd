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
}

/// The options of `convert`.
public struct ConversionOptions: Equatable, Sendable {
  /// Only calls whose function, or the function that they stand in, matches it.
  public var only: String?

  /// Whether functions with a callback get a converted counterpart, too.
  public var includesFunctions = false

  /// Whether the files are changed; otherwise a diff is printed.
  public var isApplying = false

  /// Makes options that convert all ready calls, and print a diff.
  public init() {}
}

/// The destination of the text of `generate`.
public enum GenerationOutput: Equatable, Sendable {
  case standardOutput

  /// One file.
  case file(String)

  /// A file beside each source file.
  case beside
}

/// The arguments of `swift package migrate-callbacks`, read.
public struct MigrationArguments: Equatable, Sendable {
  /// What is to be done.
  public private(set) var command = MigrationCommand.help

  /// The target; `nil` for all of the package.
  public private(set) var target: String?

  /// The lowest access level of listed functions.
  public private(set) var minimumAccess = AccessLevel.public

  /// The changes of meaning that the user accepts.
  public private(set) var allowed: Set<CallRisk> = []

  /// Reads the arguments.
  /// - Parameter arguments: Without the name of the tool.
  /// - Throws: A sentence that names the mistake.
  public init(_ arguments: [String]) throws(MigrationError) {
    var rest = arguments[...]
    guard let name = rest.popFirst(), !["help", "--help", "-h"].contains(name) else { return }
    var values: [String: String] = [:]
    var flags: Set<String> = []
    let options = try Self.options(of: name)
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
    let lowest: AccessLevel = ["callers", "convert"].contains(name) ? .internal : .public
    minimumAccess = try Self.choice("--minimum-access", values) ?? lowest
    guard minimumAccess >= .internal else {
      throw MigrationError("The compiler does not say where \(minimumAccess) functions are, so they cannot be listed.")
    }
    allowed = try Self.risks(values["--allow"])
    if name == "callers" {
      command = .callers(isJSON: flags.contains("--json"))
    } else if name == "convert" {
      if flags.contains("--diff"), flags.contains("--apply") {
        throw MigrationError("--diff and --apply contradict each other.")
      }
      var options = ConversionOptions()
      options.only = values["--only"]
      options.includesFunctions = flags.contains("--functions")
      options.isApplying = flags.contains("--apply")
      command = .convert(options)
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
      command = .generate(
        try Self.choice("--style", values) ?? .both,
        to: output,
        only: values["--only"],
        isDeprecating: isDeprecating
      )
    }
  }

  /// Options without a value.
  private static let flags: Set<String> = ["--deprecate", "--beside", "--json", "--functions", "--apply", "--diff"]

  private static func options(of command: String) throws(MigrationError) -> [String] {
    switch command {
    case "report": ["--target", "--format", "--json", "--minimum-access", "--check", "--help"]
    case "generate":
      ["--target", "--style", "--minimum-access", "--output", "--beside", "--only", "--deprecate", "--help"]
    case "callers": ["--target", "--json", "--minimum-access", "--allow", "--help"]
    case "convert":
      ["--target", "--only", "--allow", "--functions", "--diff", "--apply", "--minimum-access", "--help"]
    default:
      throw MigrationError("There is no command \(command); there are report, generate, callers and convert.")
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

  /// What `--help` prints.
  public static let help = """
    Usage: swift package migrate-callbacks report   [--target T] [--format table|json|markdown] [--minimum-access LEVEL]
                                                    [--check BASELINE]
           swift package migrate-callbacks generate [--target T] [--style futures|async|both] [--minimum-access LEVEL]
                                                    [--output FILE | --beside] [--only PATTERN] [--deprecate]
           swift package migrate-callbacks callers  [--target T] [--json] [--allow RISKS] [--minimum-access LEVEL]
           swift package migrate-callbacks convert  [--target T] [--only PATTERN] [--functions] [--allow RISKS]
                                                    [--diff | --apply] [--minimum-access LEVEL]

    report    Lists every function that takes an escaping callback, how many have an async counterpart, and why a
              counterpart cannot be written.
    generate  Writes extensions with an async counterpart for each function, and one that returns a future. Prints what it
              cannot write safely, with the reason and the line of .migrate-callbacks.json that would settle it.
    callers   Lists every call of these functions: ready (in async code), next (in a function that itself takes a callback),
              edge (in synchronous code), or by hand, with the reason; and a plan, leaf first.
    convert   Converts the calls that are ready into awaits, each change built in a copy. Prints a diff, and the calls that
              it leaves, with the reasons.

    --target T              The target; without it all libraries of the package, or for generate the only one.
    --minimum-access LEVEL  Leaves out what is less accessible: public (the default of report and generate), internal (the
                            default of callers and convert), package, open.
    --format FORMAT, --json How to print the report.
    --check BASELINE        Ends with 1 if a function takes a callback and has no counterpart, and BASELINE, a file that
                            `report --json` has written, does not have it.
    --style STYLE           The kinds of counterparts. With async, nothing public mentions Futures.
    --output FILE           Where to write, relative to the package, instead of printing. A file that this has not
                            written is not overwritten. On macOS, swift package needs
                            --allow-writing-to-package-directory before the name of the command.
    --beside                Writes a file beside each source file: Store+Counterparts.swift beside Store.swift.
    --only PATTERN          Only functions whose title matches, such as 'Store.*' or 'user(id:'. Other functions keep the
                            counterparts that FILE has.
    --functions             Converts functions with a callback, too, leaf first: adds an async counterpart beside each.
    --allow RISKS           Converts although the code then does something else: order, callers, loop, defer, lock,
                            weak-self, main-queue, isolation, cancellation, with commas between them.
    --apply                 Changes the files instead of printing a diff. They have to be committed before.
    --deprecate             Prints the annotations that deprecate the functions that have a counterpart, as a diff.

    """
}
