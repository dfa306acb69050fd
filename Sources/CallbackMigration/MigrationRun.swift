public import Foundation

/// One call of the tool.
public struct MigrationRun {
  /// The outcome of a call.
  public struct Outcome: Equatable, Sendable {
    /// The text to print.
    public let text: String

    /// The exit status.
    public let status: Int32

    init(_ text: String, status: Int32 = 0) {
      self.text = text
      self.status = status
    }
  }

  private let arguments: MigrationArguments
  private let request: MigrationRequest
  private let work: URL
  private let builder: PackageCopy.Builder
  private var package: URL { URL(filePath: request.package) }

  /// Makes a run of a request, with the compiler's graphs.
  /// - Parameters:
  ///   - arguments: The arguments.
  ///   - request: The package, with the symbol graphs of its targets.
  ///   - work: A folder for a copy of the package.
  public init(
    _ arguments: MigrationArguments,
    _ request: MigrationRequest,
    work: URL = FileManager.default.temporaryDirectory
  ) {
    self.init(arguments, request, work: work, builder: .swiftPM)
  }

  init(_ arguments: MigrationArguments, _ request: MigrationRequest, work: URL, builder: PackageCopy.Builder) {
    self.work = work
    self.builder = builder
    self.arguments = arguments
    self.request = request
  }

  /// Runs the command of the arguments.
  /// - Returns: The text to print, and the exit status.
  /// - Throws: An error whose sentence names the reason.
  public func run() throws(MigrationError) -> Outcome {
    switch arguments.command {
    case .help: return Outcome(arguments.help)
    case .report(let format):
      let inventories = try inventories()
      let isWhole = inventories.count == request.targets.count { !$0.isTest }
      return Outcome(Report(inventories, isWholePackage: isWhole).text(as: format))
    case .check(let baseline): return try check(baseline)
    case .generate(let style, let output, let only, isDeprecating: true):
      guard let target = try request.targets(for: arguments).first else { return Outcome("") }
      let diff = try DeprecationDiff(try inventory(target), style: style, only: only).text()
      guard case .file(let path) = output else { return Outcome(diff) }
      try write(DeprecationDiff.marker + "\n" + diff, to: file(path), over: DeprecationDiff.marker)
      return Outcome("")
    case .generate(let style, let output, let only, isDeprecating: false):
      guard let target = try request.targets(for: arguments).first else { return Outcome("") }
      return try generate(target, style, output, only: only)
    case .compare(let only):
      let drafts = try inventories().map { ComparisonDraft(CounterpartPlan($0, style: .async, only: only)).text }
      let texts = drafts.map { SwiftFormat.formatted($0, for: package.appending(path: "Comparison.swift")) }
      return Outcome(texts.filter { !$0.isEmpty }.joined(separator: "\n"))
    case .turnAround(let options):
      let plans = try plans()
      let writer = ConversionWriter(package: package, work: work)
      let turnAround = { () throws(MigrationError) in
        TurnAround(
          try workspace(plans),
          plans,
          options,
          allowed: arguments.allowed,
          clients: Set(request.targets.filter(\.hasLibrary).map(\.module))
        )
      }
      return Outcome(try writer.result(isApplying: options.isApplying, turnAround))
    case .callers(let isJSON):
      let workspace = try workspace()
      try workspace.build()
      let (calls, functions) = try workspace.calls()
      let report = CallersReport(calls: calls, functions: functions)
      return Outcome(isJSON ? report.json : report.text)
    case .convert(let options): return try convert(options)
    }
  }

  private func plans() throws(MigrationError) -> [CounterpartPlan] {
    try inventories().map { CounterpartPlan($0, style: .async) }
  }

  private func workspace() throws(MigrationError) -> MigrationWorkspace {
    try workspace(try inventories().map { CounterpartPlan(inPlaceFor: $0) })
  }

  private func convert(_ options: ConversionOptions) throws(MigrationError) -> Outcome {
    let option = options.commits == .owner ? "--commit-by" : options.isCommitting ? "--commit" : "--apply"
    let writer = ConversionWriter(package: package, work: work, option: option)
    let isChangingFiles = options.isApplying || options.isCommitting
    if isChangingFiles { try writer.requireCleanState() }
    let owners = options.commits == .owner ? try CodeOwners(of: package) : nil
    let conversion = Conversion(try workspace(), options, writer, owners)
    let texts = try conversion.run()
    let summary = ConversionSummary(conversion)
    guard isChangingFiles else { return Outcome(summary.comment + (try writer.diff(texts))) }
    if options.isApplying { try writer.write(texts) }
    return Outcome(summary.text)
  }

  private func workspace(_ plans: [CounterpartPlan]) throws(MigrationError) -> MigrationWorkspace {
    try MigrationWorkspace(
      request,
      plans,
      copy: try PackageCopy(of: package, in: work, builder: builder),
      allowed: arguments.allowed
    )
  }

  private func generate(
    _ target: MigrationRequest.Target,
    _ style: CounterpartStyle,
    _ output: GenerationOutput,
    only pattern: String?
  ) throws(MigrationError) -> Outcome {
    let written: Set<String> =
      switch output {
      case .standardOutput: []
      case .file(let path): [file(path).standardizedFileURL.path]
      case .beside: Set(target.sources.filter { isBeside($0, style) })
      }
    let inventory = try inventory(target, ignoring: written, isOfCallbackForms: style == .callbacks)
    let plan = CounterpartPlan(inventory, style: style, only: pattern)
    let generator = Generator(plan)
    let notes = GenerationNotes(plan)
    switch output {
    case .standardOutput:
      return Outcome(
        SwiftFormat.formatted(generator.text, for: package.appending(path: "Counterparts.swift")) + notes.comment
      )
    case .file(let path):
      try writeSource(generator.text, to: file(path))
    case .beside:
      let texts = generator.textsBeside.map { (Generator.pathBeside($0, style), $1) }.sorted { $0.0 < $1.0 }
      for (path, text) in texts { try writeSource(text, to: URL(filePath: path)) }
      for path in written.subtracting(texts.map(\.0)) { try? FileManager.default.removeItem(atPath: path) }
    }
    return Outcome(notes.text)
  }

  private func check(_ baseline: String) throws(MigrationError) -> Outcome {
    let baselineFile = file(baseline)
    guard let data = try? Data(contentsOf: baselineFile), let document = try? ReportDocument(json: data) else {
      throw MigrationError("\(baselineFile.path) is no report; write one with `report --json`.")
    }
    let plans = try inventories().map { CounterpartPlan($0, style: .both) }
    let check = BaselineCheck(ReportDocument(plans), baseline: document)
    return Outcome(check.text, status: check.added.isEmpty ? 0 : 1)
  }

  private func inventories() throws(MigrationError) -> [Inventory] {
    var inventories: [Inventory] = []
    for target in try request.targets(for: arguments) { inventories.append(try inventory(target)) }
    return inventories
  }

  private func inventory(
    _ target: MigrationRequest.Target,
    ignoring paths: Set<String> = [],
    isOfCallbackForms: Bool = false
  ) throws(MigrationError) -> Inventory {
    try Inventory(
      of: target,
      clients: request.clients(of: target),
      imports: request.imports(of: target),
      minimumAccess: arguments.minimumAccess,
      root: package,
      configuration: try MigrationConfiguration(package: package),
      ignoring: paths,
      isOfCallbackForms: isOfCallbackForms
    )
  }

  // MARK: - Files

  private func file(_ path: String) -> URL { path.hasPrefix("/") ? URL(filePath: path) : package.appending(path: path) }

  /// Whether `--beside` has written a file.
  private func isBeside(_ path: String, _ style: CounterpartStyle) -> Bool {
    path.hasSuffix(Generator.pathBeside("", style)) && isWritten(URL(filePath: path), by: Generator.marker)
  }

  private func isWritten(_ file: URL, by marker: String) -> Bool {
    (try? Data(contentsOf: file))?.starts(with: Data(marker.utf8)) == true
  }

  private func writeSource(_ text: String, to file: URL) throws(MigrationError) {
    try write(SwiftFormat.formatted(text, for: file), to: file, over: Generator.marker)
  }

  private func write(_ text: String, to file: URL, over marker: String) throws(MigrationError) {
    if FileManager.default.fileExists(atPath: file.path), !isWritten(file, by: marker) {
      throw MigrationError("\(file.path) was not written by this command, so it is left as it is.")
    }
    do {
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file, options: .atomic)
    } catch {
      throw MigrationError("\(file.path) cannot be written: \(error.localizedDescription)")
    }
  }
}
