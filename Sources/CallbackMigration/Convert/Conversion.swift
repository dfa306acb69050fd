internal import Foundation

/// Converts the calls of a package, each change built in the copy.
final class Conversion {
  private let workspace: MigrationWorkspace
  private let options: ConversionOptions
  private let pattern: TitlePattern
  private var copy: PackageCopy { workspace.copy }

  /// The calls and functions that stay, with their reasons.
  private(set) var left: [LeftCall] = []
  private(set) var convertedCount = 0
  private(set) var readyCount = 0

  /// The converted calls in public async functions.
  private var publicCount = 0

  /// The functions that got a counterpart.
  private(set) var addedCounterparts: [String] = []

  /// Sentences for the reader of the result.
  private(set) var notes: [String] = []

  /// A call or a function that stays as it is.
  struct LeftCall: Hashable {
    let place: String
    let title: String
    let reason: String
  }

  init(_ workspace: MigrationWorkspace, _ options: ConversionOptions) {
    self.workspace = workspace
    self.options = options
    pattern = TitlePattern(part: options.only)
  }

  /// Converts, round by round, until there is nothing more to convert.
  /// - Returns: The new texts of the changed files, by their paths in the package.
  /// - Throws: An error if the package does not build, or if the server fails.
  func run() throws(MigrationError) -> [String: String] {
    var isFirst = true
    var refusedCalls: Set<LeftCall> = []
    while true {
      workspace.annotate()
      try workspace.build()
      let (calls, functions) = try workspace.calls()
      left = calls.filter { $0.callClass == .byHand && isWanted($0) }.map { LeftCall($0, $0.reason ?? "") }
      if isFirst { readyCount = calls.count { $0.callClass == .ready && isWanted($0) } }
      isFirst = false
      var changes = try proposals(calls, functions, &refusedCalls)
      if options.includesFunctions {
        changes += try CounterpartProposals(workspace, calls, functions).changes(isWanted: isWanted, &refusedCalls)
      }
      changes = format(changes)
      let kept = try verify(changes, calls, functions, &refusedCalls)
      guard !kept.isEmpty else { break }
      publicCount += kept.count { change in change.call.map { isPublic(calls[$0]) } == true }
      accept(kept)
      convertedCount += kept.count { $0.call != nil }
      addedCounterparts += kept.compactMap { $0.function.map { functions[$0].title } }
      if !options.includesFunctions { break }
    }
    left.removeAll { call in refusedCalls.contains { $0.place == call.place && $0.title == call.title } }
    left += refusedCalls.sorted { ($0.place, $0.title) < ($1.place, $1.title) }
    left = left.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    if publicCount > 0 {
      let calls = CallersReport.plural(publicCount, "converted call")
      notes.append("\(calls) in public async functions: code outside the package waits for the callback, too.")
    }
    return try finish()
  }

  private func isWanted(_ call: CallbackCall) -> Bool {
    pattern.matches(call.function) || pattern.matches(call.enclosing)
  }

  private func isWanted(_ function: MigratedFunction) -> Bool { pattern.matches(function.title) }

  /// Whether a call stands in a public async function.
  private func isPublic(_ call: CallbackCall) -> Bool {
    guard case .function(let name, isAsync: true)? = call.scope?.boundary else { return false }
    let tokens = workspace.files.tokens(call.path)
    return (tokens.statementStart(before: name)..<name).contains { ["public", "open"].contains(tokens[$0]) }
  }

  // MARK: Proposals

  private func proposals(
    _ calls: [CallbackCall],
    _ functions: [MigratedFunction],
    _ refused: inout Set<LeftCall>
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
        do throws(ConvertedText.Refusal) {
          guard case .text(let edit) = answer else {
            if case .refused(let reason) = answer { throw ConvertedText.Refusal(reason) }
            continue
          }
          let text = try ConvertedText(edit.text, of: site, in: tokens, ignoresFailure: calls[index].ignoresFailure)
          let range = tokens.items[site.start].range.lowerBound..<tokens.items[site.end].range.upperBound
          changes.append(ProposedChange(path: path, range: range, text: text.text, call: index))
        } catch {
          refused.insert(LeftCall(calls[index], error.reason))
        }
      }
    }
    return changes
  }

  private func format(_ changes: [ProposedChange]) -> [ProposedChange] {
    Dictionary(grouping: changes, by: \.path).sorted { $0.key < $1.key }.flatMap { path, changes in
      let source = workspace.files.tokens(path).source
      return ChangeFormatter.formatted(changes, of: source, root: copy.folder)
    }
  }

  // MARK: Trials

  /// Keeps the changes with which the package builds, by its own rules for warnings.
  private func verify(
    _ changes: [ProposedChange],
    _ calls: [CallbackCall],
    _ functions: [MigratedFunction],
    _ refused: inout Set<LeftCall>
  ) throws(MigrationError) -> [ProposedChange] {
    guard !changes.isEmpty else { return [] }
    var count = 0
    let (kept, failed) = try Bisection.passing(changes) { (trial) throws(MigrationError) in
      count += 1
      Shell.progress("Building \(trial.count) of \(changes.count) changes (trial \(count)).")
      return try build(trial, of: changes)
    }
    // The last trial can have been a refused one, and no later step writes a file without kept changes.
    for path in Set(changes.map(\.path)) { try workspace.write(workspace.files.tokens(path).source.text, to: path) }
    for (change, reason) in failed {
      if let call = change.call {
        refused.insert(LeftCall(calls[call], reason))
      } else if let function = change.function {
        refused.insert(LeftCall(functions[function], reason, copy))
      }
    }
    return kept
  }

  private func build(
    _ trial: [ProposedChange],
    of changes: [ProposedChange]
  ) throws(MigrationError) -> Bisection.Trial<ProposedChange> {
    var places: [(path: String, change: ProposedChange, lines: ClosedRange<Int>)] = []
    for path in Set(changes.map(\.path)).union(workspace.files.changed.keys) {
      let source = workspace.files.tokens(path).source
      let (text, lines) = ProposedChange.applying(trial.filter { $0.path == path }, to: source)
      places += lines.map { (path, $0.change, $0.lines) }
      try workspace.write(Annotations.removed(from: text, isKeepingAttributes: false), to: path)
    }
    switch try copy.build(isStrict: true) {
    case .succeeded: return .passes
    case .failed(let errors, let output):
      let suspects = places.filter { place in
        errors.contains { $0.path == place.path && place.lines.contains($0.line) }
      }.map(\.change)
      let message = errors.first?.message ?? String(output.suffix(200))
      return .fails(suspects: suspects, reason: "it does not build: \(message)")
    }
  }

  private func accept(_ changes: [ProposedChange]) {
    for (path, found) in Dictionary(grouping: changes, by: \.path) { workspace.apply(found.map(\.edit), to: path) }
    for function in changes.compactMap(\.function) { workspace.addCounterpart(to: function) }
  }

  // MARK: The end

  /// The new texts of the changed files, by their paths in the package, built once more.
  private func finish() throws(MigrationError) -> [String: String] {
    guard convertedCount + addedCounterparts.count > 0 else { return [:] }
    // The attributes bring a warning at each call in async code that is left.
    for isKeepingAttributes in options.includesFunctions ? [true, false] : [false] {
      var result: [String: String] = [:]
      for (path, text) in workspace.files.changed {
        let plain = Annotations.removed(from: text, isKeepingAttributes: isKeepingAttributes)
        try workspace.write(plain, to: path)
        let original = copy.original(path)
        if (try? String(contentsOfFile: original, encoding: .utf8)) != plain { result[original] = plain }
      }
      Shell.progress("Building the result.")
      switch try copy.build(isStrict: true) {
      case .succeeded: return result
      case .failed(let errors, let output) where !isKeepingAttributes:
        throw MigrationError("The result does not build, so nothing is converted.\n\(copy.text(of: errors, output))")
      case .failed:
        notes.append("The attributes that name the counterparts are left out: the package would not build with them.")
      }
    }
    return [:]
  }
}

extension Conversion.LeftCall {
  init(_ call: CallbackCall, _ reason: String) {
    self.init(place: "\(call.file):\(call.line)", title: call.enclosing, reason: reason)
  }

  init(_ function: MigratedFunction, _ reason: String, _ copy: PackageCopy) {
    let file = function.path.dropFirst(copy.folder.path.count + 1)
    self.init(place: String(file), title: function.title, reason: reason)
  }

  /// Whether it was refused in an earlier round, when it could be on another line.
  func isSame(as call: CallbackCall) -> Bool {
    title == call.enclosing && place.hasPrefix(call.file + ":")
  }
}
