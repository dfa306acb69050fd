internal import Foundation

/// Makes callback functions call their async counterparts, which do the work.
final class TurnAround {
  private let workspace: MigrationWorkspace
  private let plans: [CounterpartPlan]
  private let pattern: TitlePattern
  private let usesFutures: Bool
  private let allowed: Set<CallRisk>

  /// The modules that depend on the library.
  private let clients: Set<String>
  private var copy: PackageCopy { workspace.copy }

  /// The functions that stay, with their reasons.
  private var left: [Conversion.LeftCode] = []

  /// The number of functions that call their counterparts already.
  private var doneCount = 0
  private var changedCount = 0

  /// A function with its wrapper.
  private struct Wrapper {
    let function: CallbackFunction
    let change: ProposedChange
    let imports: SourceEdit?
  }

  init(
    _ workspace: MigrationWorkspace,
    _ plans: [CounterpartPlan],
    _ options: ConversionOptions,
    allowed: Set<CallRisk>,
    clients: Set<String>
  ) {
    self.workspace = workspace
    self.plans = plans
    self.allowed = allowed
    self.clients = clients
    pattern = TitlePattern(part: options.only)
    usesFutures = options.usesFutures
  }

  /// Writes the wrappers.
  /// - Returns: The new texts of the changed files, by their paths in the package.
  /// - Throws: An error if the package does not build, or if the server fails.
  func run() throws(MigrationError) -> [String: String] {
    try workspace.build()
    let places = try CallbackPlaces(plans, workspace)
    let reach = try CallbackReach(workspace)
    var wrappers: [Wrapper] = []
    for plan in plans {
      for entry in plan.entries where entry.function.hasAsyncCounterpart && pattern.matches(entry.function.title) {
        do throws(CallRefusal) {
          if let wrapper = try wrapper(for: entry.function, plan.inventory, places, reach, index: wrappers.count) {
            wrappers.append(wrapper)
          } else {
            doneCount += 1
          }
        } catch {
          leave(entry.function, error.reason + (error.risk.map { "; --allow \($0.rawValue)" } ?? ""))
        }
      }
    }
    return try verified(wrappers)
  }

  private func leave(_ function: CallbackFunction, _ reason: String) {
    left.append(Conversion.LeftCode(place: "\(function.file):\(function.line)", title: function.title, reason: reason))
  }

  /// The report.
  var summary: ConversionSummary {
    let functions = CallersReport.plural(changedCount, "callback function")
    var lines = ["\(functions) turned around: the async counterpart does the work."]
    if doneCount > 0 { lines.append("\(CallersReport.plural(doneCount, "callback function")) did so already.") }
    if !left.isEmpty { lines.append("Left:") }
    return ConversionSummary(lines: lines + left.map { "  \($0.place): \($0.title): \($0.reason)" })
  }

  // MARK: One function

  /// The wrapper for a function; `nil` if the function calls its counterpart already.
  private func wrapper(
    for function: CallbackFunction,
    _ inventory: Inventory,
    _ places: CallbackPlaces,
    _ reach: CallbackReach,
    index: Int
  ) throws(CallRefusal) -> Wrapper? {
    let path = copy.copied(function.path)
    let tokens = workspace.files.tokens(path)
    let counterpart = try WrappedCounterpart(of: function, in: inventory)
    guard let node = workspace.node(of: function.symbol), let work = workspace.node(of: counterpart.symbol),
      let name = tokens.index(at: node.offset), let text = FunctionText(name: name, in: tokens)
    else { throw CallRefusal("its text is not found") }
    guard let body = OldBody(of: function, text, in: tokens, callbacks: places[path]) else {
      throw CallRefusal("it has no body")
    }
    if body.awaits(counterpart.declaration.name) { return nil }
    try requireWork(reach, function, node, work)
    if usesFutures, !clients.contains(inventory.module) {
      throw CallRefusal("\(inventory.module) does not depend on Futures and FuturesAsync; --style async needs neither")
    }
    let context = try WrapperContext(function, body, inventory).text
    let wrapper = WrapperText(
      function,
      counterpart.declaration,
      context: context,
      usesFutures: usesFutures,
      in: inventory
    )
    let lines = try wrapper.lines(replacing: body, allowed: allowed)
    let change = change(lines, body, path, index)
    let imports = ImportEdit(sources: inventory.sources.map(SourceFile.init))
      .edit(of: tokens.source, for: wrapper.modules(of: lines))
    return Wrapper(function: function, change: change, imports: imports)
  }

  /// Throws if the counterpart does its work through the callback function, which a wrapper would call again.
  private func requireWork(
    _ reach: CallbackReach,
    _ function: CallbackFunction,
    _ node: CallbackReach.Node,
    _ work: CallbackReach.Node
  ) throws(CallRefusal) {
    if workspace.files.isGenerated(work.path) {
      throw CallRefusal("its counterpart of `generate` waits for its callback; first move the work there")
    }
    do throws(MigrationError) {
      if let caller = try reach.caller(of: node, reachedFrom: work) {
        let way = caller == function.counterpart(.async).title ? "waits for its callback" : "works through `\(caller)`"
        throw MigrationError("its counterpart \(way), and a wrapper would call itself; first move the work there")
      }
      try reach.add(node, calling: work)
    } catch {
      throw CallRefusal(error.description)
    }
  }

  /// The change that replaces the statements of a body.
  private func change(_ lines: [String], _ body: OldBody, _ path: String, _ index: Int) -> ProposedChange {
    let tokens = body.tokens
    let start = tokens.items[body.braces.lowerBound].range.upperBound
    let end = tokens.items[body.braces.upperBound].range.upperBound
    let first = body.braces.lowerBound + 1
    let indent = { (line: Int) in String(tokens.source.line(line).prefix(while: \.isWhitespace)) }
    let outer = indent(tokens.source.line(of: tokens.items[body.text.name].range.lowerBound))
    let inner = tokens.isFirstOnLine(first) ? indent(tokens.line(first) - 1) : outer + "  "
    return ProposedChange(
      path: path,
      range: start..<end,
      text: lines.joined(separator: "\n") + "\n}",
      lead: "\n" + inner,
      function: index
    )
  }

  // MARK: Trials

  /// The new texts with the wrappers that build together.
  private func verified(_ wrappers: [Wrapper]) throws(MigrationError) -> [String: String] {
    var changes: [ProposedChange] = []
    for (path, group) in Dictionary(grouping: wrappers.map(\.change), by: \.path).sorted(by: { $0.key < $1.key }) {
      let source = workspace.files.tokens(path).source
      changes += ChangeFormatter.formatted(group, of: source, root: copy.folder)
    }
    let imports = Dictionary(
      wrappers.compactMap { wrapper in wrapper.imports.map { (wrapper.change.path, $0) } },
      uniquingKeysWith: { first, _ in first }
    )
    var count = 0
    let (kept, failed) = try Bisection.passing(changes) { (trial) throws(MigrationError) in
      count += 1
      Shell.progress("Building \(trial.count) of \(changes.count) wrappers (trial \(count)).")
      return try build(trial, of: changes, imports)
    }
    for (change, reason) in failed { if let index = change.function { leave(wrappers[index].function, reason) } }
    changedCount = kept.count
    let texts = Dictionary(grouping: kept, by: \.path).map { path, changes in
      (copy.original(path), text(path, changes, imports).text)
    }
    return Dictionary(uniqueKeysWithValues: texts)
  }

  private func text(
    _ path: String,
    _ changes: [ProposedChange],
    _ imports: [String: SourceEdit]
  ) -> (text: String, lines: [(change: ProposedChange, lines: ClosedRange<Int>)]) {
    let source = workspace.files.tokens(path).source
    let (text, lines) = ProposedChange.applying(changes, to: source)
    guard let edit = imports[path], !changes.isEmpty else { return (text, lines) }
    // The imports stand before all functions.
    let added = edit.text.utf8.count { $0 == UInt8(ascii: "\n") }
    let moved = lines.map { ($0.change, ($0.lines.lowerBound + added)...($0.lines.upperBound + added)) }
    return (SourceText(text).applying([edit]), moved)
  }

  private func build(
    _ trial: [ProposedChange],
    of changes: [ProposedChange],
    _ imports: [String: SourceEdit]
  ) throws(MigrationError) -> Bisection.Trial<ProposedChange> {
    var places: [(path: String, change: ProposedChange, lines: ClosedRange<Int>)] = []
    for path in Set(changes.map(\.path)) {
      let (text, lines) = text(path, trial.filter { $0.path == path }, imports)
      places += lines.map { (path, $0.change, $0.lines) }
      try workspace.write(text, to: path)
    }
    return try copy.trial { error in
      places.filter { $0.path == error.path && $0.lines.contains(error.line) }.map(\.change)
    }
  }
}

extension ConversionWriter {
  /// Writes the wrappers, or shows them as a diff.
  /// - Parameters:
  ///   - isApplying: Whether the files are changed.
  ///   - turnAround: Makes the run, after the check of the package.
  /// - Returns: The text to print.
  /// - Throws: An error if the package cannot be changed or built.
  func result(
    isApplying: Bool,
    _ turnAround: () throws(MigrationError) -> TurnAround
  ) throws(MigrationError) -> String {
    if isApplying { try requireCleanState() }
    let turnAround = try turnAround()
    let texts = try turnAround.run()
    guard isApplying else { return turnAround.summary.comment + (try diff(texts)) }
    try write(texts)
    return turnAround.summary.text
  }
}
