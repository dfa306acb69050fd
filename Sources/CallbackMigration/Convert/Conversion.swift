internal import Foundation

/// Converts the calls of a package.
///
/// Builds each change in a copy of the package.
final class Conversion {
  private let workspace: MigrationWorkspace
  private let options: ConversionOptions
  private let writer: ConversionWriter

  /// The owners of files, if the commits are by owners.
  private let owners: CodeOwners?
  private let pattern: TitlePattern
  private var copy: PackageCopy { workspace.copy }

  /// The calls and functions that stay, with their reasons.
  private(set) var left: [LeftCode] = []
  private(set) var readyCount = 0

  /// The calls in functions that themselves take a callback, and these functions.
  private var nextCalls: [CallbackCall] = []
  private var nextFunctions: Set<Int> { Set(nextCalls.compactMap(\.owner)) }
  var nextCallCount: Int { nextCalls.count }
  var convertedNextCallCount: Int { nextCalls.count { $0.owner.map(convertedFunctions.contains) == true } }
  var nextFunctionCount: Int { nextFunctions.count }
  var convertedFunctionCount: Int { convertedFunctions.intersection(nextFunctions).count }
  var includesFunctions: Bool { options.includesFunctions }

  /// The number of functions around calls of the class next whose async counterpart already does the work.
  private(set) var doneFunctionCount = 0

  /// The steps, and the reasons why some of them are left out.
  private var steps = ConversionSteps()
  private var leftSteps: [Int: String] = [:]
  private var keptSteps: [ConversionStep] { steps.all.indices.filter { leftSteps[$0] == nil }.map { steps.all[$0] } }
  private var convertedFunctions: Set<Int> { Set(keptSteps.filter { $0.counterpart != nil }.map(\.function)) }
  var convertedCount: Int { keptSteps.reduce(0) { $0 + $1.calls.count } }

  /// The functions that got a counterpart.
  var addedCounterparts: [String] { keptSteps.filter { $0.counterpart != nil }.map(\.title) }

  /// Sentences that the report prints.
  private(set) var notes: [String] = []

  /// A call or a function that stays as it is.
  struct LeftCode: Hashable {
    let place: String
    let title: String
    let reason: String
  }

  init(
    _ workspace: MigrationWorkspace,
    _ options: ConversionOptions,
    _ writer: ConversionWriter,
    _ owners: CodeOwners? = nil
  ) {
    self.owners = owners
    self.workspace = workspace
    self.options = options
    self.writer = writer
    pattern = TitlePattern(part: options.only)
  }

  /// Converts, round by round, until there is nothing more to convert.
  /// - Returns: The new texts of the changed files, by their paths in the package.
  /// - Throws: An error if the package does not build, or if the server fails.
  func run() throws(MigrationError) -> [String: String] {
    let tests = options.isTesting ? PackageTests(copy) : nil
    try tests?.requireSuccess()
    var isFirst = true
    var refusedCalls: Set<LeftCode> = []
    while true {
      workspace.annotate()
      try workspace.build()
      let (calls, functions) = try workspace.calls()
      left = calls.filter { $0.callClass == .byHand && isWanted($0) }.map { LeftCode($0, $0.reason ?? "") }
      if isFirst {
        readyCount = calls.count { $0.callClass == .ready && isWanted($0) }
        let next = calls.filter { call in
          call.place == .next && (isWanted(call) || call.owner.map { isWanted(functions[$0]) } == true)
        }
        nextCalls = next.filter { call in call.owner.map { !functions[$0].hasAsyncWork } == true }
        doneFunctionCount = Set(next.compactMap(\.owner)).subtracting(nextFunctions).count
      }
      isFirst = false
      var changes = try proposals(calls, functions, &refusedCalls)
      if options.includesFunctions {
        changes += try CounterpartProposals(workspace, calls, functions).changes(isWanted: isWanted, &refusedCalls)
      }
      changes = format(changes)
      let kept = try verify(changes, calls, functions, &refusedCalls)
      guard !kept.isEmpty else {
        if options.includesFunctions { left += remaining(calls, functions, refusedCalls) }
        break
      }
      accept(kept, calls, functions)
      if !options.includesFunctions { break }
    }
    let texts = try options.isCommitting || options.isTesting ? tryStepByStep(tests) : finish()
    left.removeAll { call in refusedCalls.contains { $0.place == call.place && $0.title == call.title } }
    left += refusedCalls.sorted { ($0.place, $0.title) < ($1.place, $1.title) }
    left = left.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    let publicCount = keptSteps.reduce(0) { $0 + $1.publicCount }
    if publicCount > 0 {
      let calls = CallersReport.plural(publicCount, "converted call")
      notes.append("\(calls) in public async functions: code outside the package waits for the callback, too.")
    }
    return texts
  }

  /// The functions with calls of the class next that are left although no round refused them.
  private func remaining(
    _ calls: [CallbackCall],
    _ functions: [AwaitableFunction],
    _ refused: Set<LeftCode>
  ) -> [LeftCode] {
    nextFunctions.subtracting(convertedFunctions).sorted().compactMap { index in
      let function = functions[index]
      guard !refused.contains(where: { $0.title == function.title }) else { return nil }
      let waiting = calls.first { $0.owner == index && $0.place == .next && !functions[$0.target].hasCounterpart }
      return function.leftReason(waitingFor: waiting, isWanted: isWanted(function)).map { LeftCode(function, $0, copy) }
    }
  }

  private func isWanted(_ call: CallbackCall) -> Bool {
    pattern.matches(call.function) || pattern.matches(call.enclosing)
  }

  private func isWanted(_ function: AwaitableFunction) -> Bool { pattern.matches(function.title) }

  /// Whether a call stands in a public async function.
  private func isPublic(_ call: CallbackCall) -> Bool {
    guard case .function(let name, isAsync: true)? = call.scope?.boundary else { return false }
    let tokens = workspace.files.tokens(call.path)
    return (tokens.statementStart(before: name)..<name).contains { ["public", "open"].contains(tokens[$0]) }
  }

  // MARK: Proposals

  private func proposals(
    _ calls: [CallbackCall],
    _ functions: [AwaitableFunction],
    _ refused: inout Set<LeftCode>
  ) throws(MigrationError) -> [ProposedChange] {
    let ready = calls.indices.filter { index in
      let call = calls[index]
      guard call.callClass == .ready, !call.isInsideAnotherCall, isWanted(call) else { return false }
      return functions[call.target].hasCounterpart && !refused.contains { $0.isSame(as: call) }
    }
    guard !ready.isEmpty else { return [] }
    Shell.progress("Converting \(ready.count) calls.")
    let refactoring = Refactoring(server: try workspace.server())
    var changes: [ProposedChange] = []
    for (path, indices) in Dictionary(grouping: ready, by: { calls[$0].path }).sorted(by: { $0.key < $1.key }) {
      let tokens = workspace.files.tokens(path)
      let answers = try refactoring.convert(indices.map { calls[$0] }, path, tokens)
      for (index, answer) in zip(indices, answers) {
        guard let site = calls[index].site else { continue }
        let own = OwnText.of(calls[index], in: tokens, calls, functions)
        let count = OwnText.checked(calls[index], calls, functions).count { !functions[$0.target].isSync }
        let compiled = Self.text(answer, of: calls[index], site, tokens, awaiting: count)
        let text: String
        switch (compiled, own) {
        case (let compiled?, _): text = compiled
        case (nil, .success(let own)): text = own
        case (nil, .failure(let refusal)):
          refused.insert(LeftCode(calls[index], refusal.reason))
          continue
        }
        let start = compiled == nil ? AsyncText.statementStart(of: site) : site.start
        let range = tokens.items[start].range.lowerBound..<tokens.items[site.end].range.upperBound
        var change = ProposedChange(path: path, range: range, text: text, call: index)
        if compiled != nil, site.use == .statement { change.alternative = try? own.get() }
        changes.append(change)
      }
    }
    return changes
  }

  /// The text of the compiler's refactoring; `nil` if it is incomplete, or would change the behaviour.
  private static func text(
    _ answer: Refactoring.Answer,
    of call: CallbackCall,
    _ site: CallSite,
    _ tokens: SourceTokens,
    awaiting count: Int
  ) -> String? {
    guard call.ownTextReason == nil, case .text(let edit) = answer else { return nil }
    let ignoresFailure = call.ignoresFailure
    return try? ConvertedText(edit.text, of: site, in: tokens, ignoresFailure: ignoresFailure, awaiting: count).text
  }

  private func format(_ changes: [ProposedChange]) -> [ProposedChange] {
    Dictionary(grouping: changes, by: \.path).sorted { $0.key < $1.key }.flatMap { path, changes in
      let source = workspace.files.tokens(path).source
      return ChangeFormatter.formatted(changes, of: source, root: copy.folder)
    }
  }

  // MARK: Trials

  /// Keeps the changes with which the package builds, with warnings as errors if the package says so.
  private func verify(
    _ changes: [ProposedChange],
    _ calls: [CallbackCall],
    _ functions: [AwaitableFunction],
    _ refused: inout Set<LeftCode>
  ) throws(MigrationError) -> [ProposedChange] {
    guard !changes.isEmpty else { return [] }
    var count = 0
    let (kept, failed) = try Bisection.passing(changes) { (trial) throws(MigrationError) in
      count += 1
      Shell.progress("Building \(trial.count) of \(changes.count) changes (trial \(count)).")
      return try build(trial, of: changes)
    }
    // The last trial can leave a refused text in the copy. Later steps write only the files with kept changes.
    for path in Set(changes.flatMap(\.paths)) {
      try workspace.write(workspace.files.tokens(path).source.text, to: path)
    }
    // The compiler's text for these calls does not build, so the tool tries a text of its own.
    let others = failed.compactMap { change, _ in
      change.alternative.map { text in
        var other = change.with(text)
        other.alternative = nil
        return other
      }
    }
    if !others.isEmpty {
      let unchanged = kept.map { change in
        var change = change
        change.alternative = nil
        return change
      }
      for (change, reason) in failed where change.alternative == nil {
        refuse(change, reason, calls, functions, &refused)
      }
      return try verify(unchanged + format(others), calls, functions, &refused)
    }
    for (change, reason) in failed { refuse(change, reason, calls, functions, &refused) }
    return kept
  }

  private func refuse(
    _ change: ProposedChange,
    _ reason: String,
    _ calls: [CallbackCall],
    _ functions: [AwaitableFunction],
    _ refused: inout Set<LeftCode>
  ) {
    if let call = change.call {
      refused.insert(LeftCode(calls[call], reason))
    } else if let function = change.function {
      refused.insert(LeftCode(functions[function], functions[function].addingSetting(to: reason), copy))
    }
  }

  private func build(
    _ trial: [ProposedChange],
    of changes: [ProposedChange]
  ) throws(MigrationError) -> Bisection.Trial<ProposedChange> {
    var places: [(path: String, change: ProposedChange, lines: ClosedRange<Int>)] = []
    for path in Set(changes.flatMap(\.paths)).union(workspace.files.changed.keys) {
      let source = workspace.files.tokens(path).source
      // A generated file with a removal has no other changes.
      let removals = trial.compactMap(\.removal).filter { $0.path == path }.map { SourceEdit($0.range, "") }
      let (changed, lines) = ProposedChange.applying(trial.filter { $0.path == path }, to: source)
      let text = removals.isEmpty ? changed : source.applying(removals)
      places += lines.map { (path, $0.change, $0.lines) }
      try workspace.write(Annotations.removed(from: text, isKeepingAttributes: false), to: path)
    }
    return try copy.trial { error in
      places.filter { $0.path == error.path && $0.lines.contains(error.line) }.map(\.change)
    }
  }

  private func accept(_ changes: [ProposedChange], _ calls: [CallbackCall], _ functions: [AwaitableFunction]) {
    var edits: [String: [StepwiseText.Edit]] = [:]
    for change in changes.leafFirst(calls) {
      let touched = workspace.files.changed[change.path]?.steps(around: change.range) ?? []
      let step = steps.add(change, touching: touched, calls, functions, copy) { path in
        owners?.owner(of: writer.relativePath(copy.original(path)))
      }
      if let call = change.call, isPublic(calls[call]) { steps.addPublicCall(to: step) }
      edits[change.path, default: []].append((change.edit, .step(step)))
      if let removal = change.removal {
        edits[removal.path, default: []].append((SourceEdit(removal.range, ""), .step(step)))
      }
    }
    for (path, edits) in edits { workspace.apply(edits, to: path) }
    for function in changes.compactMap(\.function) { workspace.addCounterpart(to: function) }
  }

  // MARK: The end

  /// The texts with the steps that pass, by their paths in the package.
  ///
  /// Builds each step. Tests it with `--test`, and commits it with `--commit`.
  private func tryStepByStep(_ tests: PackageTests?) throws(MigrationError) -> [String: String] {
    var trials = StepTrials(
      workspace.files.changed,
      steps.all,
      isKeepingAttributes: options.includesFunctions,
      batches: owners == nil ? nil : OwnerBatches(steps.all).all
    )
    var commitCount = 0
    let original = { (texts: [String: String]) in
      Dictionary(uniqueKeysWithValues: texts.map { (self.copy.original($0), $1) })
    }
    let texts = try trials.run { (texts, step) throws(MigrationError) in
      Shell.progress("Trying change \(step + 1) of \(steps.all.count): \(steps.all[step].summary).")
      for (path, text) in texts { try workspace.write(text, to: path) }
      if case .failed(let errors, let output) = try copy.build(isStrict: true) {
        return .build(PackageCopy.reason(errors, output))
      }
      return try tests?.failure().map { .test($0) }
    } keep: { (texts, kept) throws(MigrationError) in
      guard options.isCommitting else { return }
      let message = ConversionStep.message(
        of: kept,
        byOwner: owners != nil,
        isTested: tests != nil,
        built: copy.subject
      )
      try writer.commit(original(texts), message: message)
      commitCount += 1
    }
    leftSteps = trials.left
    for (index, reason) in leftSteps.sorted(by: { $0.key < $1.key }) { left += steps.all[index].left(reason) }
    if trials.lacksAttributes { notes.append(Self.attributesNote) }
    if options.isCommitting { notes.append("Commits made: \(commitCount).") }
    if tests != nil { notes.append("The package's tests pass before all changes and after each function.") }
    return original(texts)
  }

  private static let attributesNote =
    "The attributes that name the counterparts are left out: the package would not build with them."

  /// The new texts of the changed files, by their paths in the package, built once more.
  private func finish() throws(MigrationError) -> [String: String] {
    guard convertedCount + addedCounterparts.count > 0 else { return [:] }
    let changes = Set(steps.all.indices.map(ConversionStep.Part.step))
    let attributes = Set(steps.all.map { ConversionStep.Part.attribute(function: $0.function) })
    // At each remaining call in async code the attributes cause a warning, which can be an error.
    for parts in options.includesFunctions ? [changes.union(attributes), changes] : [changes] {
      var result: [String: String] = [:]
      for (path, text) in workspace.files.changed {
        let plain = Annotations.removed(from: text.text(with: parts), isKeepingAttributes: true)
        try workspace.write(plain, to: path)
        let original = copy.original(path)
        if (try? String(contentsOfFile: original, encoding: .utf8)) != plain { result[original] = plain }
      }
      Shell.progress("Building the result.")
      switch try copy.build(isStrict: true) {
      case .succeeded: return result
      case .failed(let errors, let output) where parts == changes:
        throw MigrationError("The result does not build, so nothing is converted.\n\(copy.text(of: errors, output))")
      case .failed:
        notes.append(Self.attributesNote)
      }
    }
    return [:]
  }
}

extension Conversion.LeftCode {
  init(_ call: CallbackCall, _ reason: String) {
    self.init(place: "\(call.file):\(call.line)", title: call.enclosing, reason: reason)
  }

  init(_ function: AwaitableFunction, _ reason: String, _ copy: PackageCopy) {
    let file = function.path.dropFirst(copy.folder.path.count + 1)
    self.init(place: String(file), title: function.title, reason: reason)
  }

  /// Whether an earlier round refused this call, perhaps on another line.
  func isSame(as call: CallbackCall) -> Bool {
    title == call.enclosing && place.hasPrefix(call.file + ":")
  }
}

extension AwaitableFunction {
  /// Returns the reason why the function stays although all calls in it could be awaited.
  /// - Parameters:
  ///   - call: A call in the function's body whose called function has no counterpart; `nil` if there is none.
  ///   - isWanted: Whether `--only` names the function.
  /// - Returns: The reason; `nil` if a round converts or refuses it.
  func leftReason(waitingFor call: CallbackCall?, isWanted: Bool) -> String? {
    if !isWanted { return "`--only` does not name it" }
    if let call { return "`\(call.function)`, which it calls on line \(call.line), has no counterpart" }
    switch counterpart {
    case .refused(let reason): return reason
    case .exists:
      return "its async counterpart waits for its callback and is written by hand; delete that, and run this again"
    case .writable: return nil
    }
  }
}
