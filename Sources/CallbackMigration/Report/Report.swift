/// The functions that take a callback, and the state of their migration.
package struct Report {
  private let plans: [CounterpartPlan]

  package init(_ inventories: [Inventory]) { plans = inventories.map { CounterpartPlan($0, style: .both) } }

  package var json: String { ReportDocument(plans).text }

  /// The report as a table for a terminal of 120 columns.
  package var text: String { plans.map(table).joined(separator: "\n") }

  /// The widths of the table's first three columns; the last column gets the other 17 of a terminal's 120 characters.
  private static let widths = [5, 62, 30]

  /// The report of one module: a summary, a table for each file, and the reasons of refusals and differences.
  private func table(_ plan: CounterpartPlan) -> String {
    let groups = RefusalGroups(plan, \.refusals)
    var lines = plan.summaryLines
    let files = Dictionary(grouping: plan.entries, by: \.function.file).sorted { $0.key < $1.key }
    for (file, entries) in files {
      lines += ["", "\(file): \(entries.count(where: \.function.hasAsyncCounterpart)) of \(entries.count)"]
      lines += entries.map { entry in
        let line = "\(entry.function.line)"
        let padding = String(repeating: " ", count: max(0, Self.widths[0] - line.count))
        let cells = [padding + line, entry.function.reportTitle, entry.function.shapeText]
        let fitted = zip(cells, Self.widths).map { $0.fitted(to: $1) }
        return (fitted + [entry.state(groups)]).joined(separator: "  ")
      }
    }
    lines += groups.section("Refused:")
    lines += RefusalGroups(plan, \.notes).section("To be written with a difference:")
    return lines.joined(separator: "\n") + "\n"
  }
}

/// The notes of `generate`: refused functions, and differences between a counterpart and its callback.
package struct GenerationNotes {
  package let text: String

  package init(_ plan: CounterpartPlan) {
    let refused = RefusalGroups(plan, \.refusals).section("Not written, because it would be a guess, or not the same:")
    let differing = RefusalGroups(plan, \.notes).section("Written, with a difference:")
    // Each section begins with an empty line, which the text does not need at its start.
    let lines = (refused + differing).dropFirst()
    text = lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n"
  }

  /// The notes as comments at the end of a source file.
  package var comment: String {
    text.isEmpty
      ? "" : "\n" + text.split(separator: "\n").map { "// \($0)" }.joined(separator: "\n") + "\n"
  }
}

extension CounterpartPlan.Entry {
  /// The differences between the written counterparts and the function, as tuples like `refusals`, each without a kind.
  fileprivate var notes: [(kind: Counterpart.Kind?, refusal: Refusal)] {
    guard !counterparts.isEmpty else { return [] }
    var notes: [Refusal] = []
    if case .dropped(let difference) = function.handle { notes.append(difference) }
    if let failure = function.callbacks.returnedFailure { notes.append(failure) }
    if let line = function.callbacks.lineWithoutValue { notes.append(.returnsOptional(line: line)) }
    if counterparts.contains(where: { $0.kind == .async }) {
      if let reason = function.reasonForOtherName { notes.append(.hasOtherName(reason)) }
      if let failure = function.callbacks.shape.typedFailure, function.knowledge.values[.failure] == nil {
        notes.append(.throwsAnyError(failure.text))
      }
    }
    return notes.map { (nil, $0) }
  }

  /// The state of the migration in a few words, with the numbers of the groups that have the reasons of refusals.
  fileprivate func state(_ groups: RefusalGroups) -> String {
    let existing = Counterpart.Kind.allCases.filter { function.counterpart($0).exists }
    if !existing.isEmpty { return existing.map(\.rawValue).joined(separator: ", ") }
    if !counterparts.isEmpty { return "can be written" }
    return "refused: " + refusals.compactMap { groups.number(of: $0.refusal).map(String.init) }.joined(separator: ", ")
  }
}

extension CounterpartPlan {
  fileprivate var summaryLines: [String] {
    let (less, skipped) = (inventory.lessAccessibleCount, inventory.skippedCount)
    let lines: [String?] = [
      "\(inventory.module): \(summary)",
      kindsText,
      less == 0 ? nil : "\(moreAre(less)) not accessible enough; --minimum-access internal lists them.",
      skipped == 0 ? nil : "\(moreAre(skipped)) skipped, as \(MigrationConfiguration.fileName) says.",
    ]
    return lines.compactMap(\.self)
  }

  /// The functions without an async counterpart for which at least one counterpart can be written.
  private var writableEntries: [Entry] {
    entries.filter { !$0.function.hasAsyncCounterpart && !$0.counterparts.isEmpty }
  }

  /// The number of counterparts of each kind that can be written; `nil` if each function gets both.
  private var kindsText: String? {
    let counts = Counterpart.Kind.allCases.map { kind in
      (kind: kind, count: writableEntries.count { entry in entry.counterparts.contains { $0.kind == kind } })
    }
    guard counts.contains(where: { $0.count < writableEntries.count }) else { return nil }
    let parts = counts.map { "\($0.count) \($0.kind.rawValue)" }
    return "Counterparts that can be written: \(parts.joined(separator: ", "))."
  }

  private func moreAre(_ count: Int) -> String { count == 1 ? "1 more function is" : "\(count) more functions are" }

  private var summary: String {
    guard !entries.isEmpty else { return "no function takes a callback" }
    let migratedCount = entries.count { $0.function.hasAsyncCounterpart }
    let percent = migratedCount * 100 / entries.count
    let functions = entries.count == 1 ? "1 function takes" : "\(entries.count) functions take"
    let refused = entries.count { !$0.function.hasAsyncCounterpart && $0.counterparts.isEmpty }
    return "\(functions) a callback; \(migratedCount) (\(percent) %) have an async counterpart, "
      + "\(writableEntries.count) can be written, \(refused) refused"
  }
}

extension CallbackFunction {
  fileprivate var reportTitle: String { title + (isDeprecated ? " (deprecated)" : "") }

  fileprivate var shapeText: String {
    var text = callbacks.shape.name
    if callbacks.progress != nil { text += ", progress" }
    switch handle {
    case .none, .dropped: return text  // a counterpart that drops the handle cannot cancel the work
    case .calls, .refused: return text + ", cancellable"  // the handle of a refused function might cancel the work
    }
  }
}

extension String {
  /// The text with this many characters: padded with spaces, or cut.
  func fitted(to width: Int) -> String {
    count > width ? prefix(width - 1) + "…" : self + String(repeating: " ", count: width - count)
  }
}
