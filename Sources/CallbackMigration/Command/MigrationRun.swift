internal import Foundation

/// One call of the tool.
package struct MigrationRun {
  package struct Outcome: Equatable, Sendable {
    /// The text to print.
    package let text: String
    package let status: Int32

    init(_ text: String, status: Int32 = 0) {
      self.text = text
      self.status = status
    }
  }

  private let arguments: MigrationArguments
  private let request: MigrationRequest
  private var package: URL { URL(filePath: request.package) }

  package init(_ arguments: MigrationArguments, _ request: MigrationRequest) {
    self.arguments = arguments
    self.request = request
  }

  /// Runs the tool without the plugin, on a module of a project without Package.swift; only `help` needs no module.
  package static func run(_ arguments: MigrationArguments) throws(MigrationError) -> Outcome {
    guard let module = arguments.module else { return Outcome(arguments.help) }
    return try MigrationRun(arguments, try module.request()).run()
  }

  package func run() throws(MigrationError) -> Outcome {
    switch arguments.command {
    case .help: return Outcome(arguments.help)
    case .report(let isJSON):
      let report = Report(try inventories())
      return Outcome(isJSON ? report.json : report.text)
    case .check(let baseline): return try check(baseline)
    case .generate(let style, let output, let only, let isDeprecating):
      // For `generate`, `targets(for:)` returns one target, or throws. So this guard never fails.
      guard let target = try request.targets(for: arguments).first else { return Outcome("") }
      if isDeprecating { return Outcome(try DeprecationDiff(try inventory(target), style: style, only: only).text()) }
      return try generate(target, style, output, only: only)
    }
  }

  /// Writes the counterparts of a target to the output; the outcome has the notes, and for standard output also the text.
  private func generate(
    _ target: MigrationRequest.Target,
    _ style: CounterpartStyle,
    _ output: GenerationOutput,
    only pattern: String?
  ) throws(MigrationError) -> Outcome {
    // The files of an earlier run, whose counterparts do not count as existing: this run replaces or removes the files.
    let written: Set<String> =
      switch output {
      case .standardOutput: []
      case .file(let path): [file(path).standardizedFileURL.path]
      case .beside: Set(target.sources.filter(isBeside))
      }
    let inventory = try inventory(target, ignoring: written)
    let plan = CounterpartPlan(inventory, style: style, only: pattern)
    let generator = Generator(plan)
    let notes = GenerationNotes(plan)
    switch output {
    case .standardOutput:
      // A path for the formatter, which takes its configuration from the folder. Nothing writes this file.
      let file = package.appending(path: "Counterparts.swift")
      return Outcome(SwiftFormat.formatted(generator.text, for: file) + notes.comment)
    case .file(let path):
      try writeSource(generator.text, to: file(path))
    case .beside:
      let texts = generator.textsBeside.map { (Generator.pathBeside($0), $1) }.sorted { $0.0 < $1.0 }
      for (path, text) in texts { try writeSource(text, to: URL(filePath: path)) }
      // `texts` also has what an earlier run wrote for functions outside `pattern`, if the plan keeps that. Other files can go.
      for path in written.subtracting(texts.map(\.0)) { try? FileManager.default.removeItem(atPath: path) }
    }
    return Outcome(notes.text)
  }

  /// Compares the report with a baseline; the status is 1 if the report has functions without counterparts that the baseline lacks.
  private func check(_ baseline: String) throws(MigrationError) -> Outcome {
    let baselineFile = file(baseline)
    guard let data = try? Data(contentsOf: baselineFile), let document = try? ReportDocument(json: data) else {
      throw MigrationError("\(baselineFile.path) is no report; write one with `report --json`.")
    }
    let plans = try inventories().map { CounterpartPlan($0, style: .both) }  // as for the report
    let check = BaselineCheck(ReportDocument(plans), baseline: document)
    return Outcome(check.text, status: check.added.isEmpty ? 0 : 1)
  }

  /// Returns the inventories of the targets that the arguments select.
  private func inventories() throws(MigrationError) -> [Inventory] {
    try request.targets(for: arguments).map { target throws(MigrationError) in try inventory(target) }
  }

  private func inventory(
    _ target: MigrationRequest.Target,
    ignoring paths: Set<String> = []  // the files that this run replaces
  ) throws(MigrationError) -> Inventory {
    try Inventory(of: target, in: request, minimumAccess: arguments.minimumAccess, ignoring: paths)
  }

  // MARK: - Files

  /// A path of the user, which can be relative to the package.
  private func file(_ path: String) -> URL { path.hasPrefix("/") ? URL(filePath: path) : package.appending(path: path) }

  /// Whether `--beside` has written a file: `pathBeside("")` is the ending of all such paths.
  private func isBeside(_ path: String) -> Bool {
    path.hasSuffix(Generator.pathBeside("")) && Generator.wrote(path)
  }

  /// Formats and writes a file of counterparts; throws if the tool did not write the file that is there.
  private func writeSource(_ text: String, to file: URL) throws(MigrationError) {
    if FileManager.default.fileExists(atPath: file.path), !Generator.wrote(file.path) {
      throw MigrationError("\(file.path) was not written by this command, so it is left as it is.")
    }
    do {
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      let mode = try? FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
      try Data(SwiftFormat.formatted(text, for: file).utf8).write(to: file, options: .atomic)
      // An atomic write makes a new file, which has a mode of its own.
      if let mode { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path) }
    } catch {
      throw MigrationError("\(file.path) cannot be written: \(error.localizedDescription)")
    }
  }
}
