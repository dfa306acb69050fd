/// The reasons why counterparts are not written, or the notes on written ones, each with its functions.
struct RefusalGroups {
  struct Group {
    /// The text, with `…` for names that differ.
    let reason: String

    /// The text by which refusals are grouped.
    let general: String
    var members: [Member]
  }

  struct Member {
    let place: String
    let title: String

    /// The reason, with its names.
    let reason: String

    /// The line of the configuration that would settle the refusal.
    let setting: String?
  }

  private(set) var groups: [Group] = []

  /// Groups the functions of a plan by `reasons`, which is `\.refusals` or `\.notes`.
  ///
  /// A reason without a kind holds for all counterparts of the function.
  init(
    _ plan: CounterpartPlan,
    _ reasons: (CounterpartPlan.Entry) -> [(kind: Counterpart.Kind?, refusal: Refusal)]
  ) {
    var found: [String: [Member]] = [:]
    let wildcards = Wildcards(plan)  // an entry that serves all functions of a type replaces the refusal's own
    for entry in plan.entries {
      let function = entry.function
      for (kind, refusal) in reasons(entry) {
        let which = kind.map { " (\($0.rawValue))" } ?? ""
        let member = Member(
          place: "\(function.file):\(function.line)",
          title: function.title + which,
          reason: refusal.reason,
          setting: wildcards.entry(for: refusal, of: function)?.text
        )
        found[refusal.general, default: []].append(member)
      }
    }
    // The largest group comes first; between groups of one size, the reason decides.
    groups = found.map { general, members in
      let isSame = Set(members.map(\.reason)).count == 1
      return Group(reason: isSame ? members[0].reason : general, general: general, members: members)
    }.sorted { ($1.members.count, $0.reason) < ($0.members.count, $1.reason) }
  }

  /// The number of a refusal's group, counted from 1; `nil` if no group has the refusal.
  func number(of refusal: Refusal) -> Int? {
    groups.firstIndex { $0.general == refusal.general }.map { $0 + 1 }
  }

  /// An empty line, a heading, and the groups with their numbers, for a terminal of 120 columns; empty without groups.
  func section(_ heading: String) -> [String] { groups.isEmpty ? [] : ["", heading] + lines }

  /// The groups with their functions; the names of a member's reason follow only if they fit into its line.
  private var lines: [String] {
    groups.enumerated().flatMap { number, group in
      ["\(number + 1). \(group.reason)"]
        + group.members.enumerated().flatMap { index, member in
          let line = "   \(member.place): \(member.title)"
          let names = member.reason == group.reason ? "" : ": " + Self.names(in: member.reason)
          // If the next member has the same setting, only that member shows it.
          let next = group.members.dropFirst(index + 1).first
          let isRepeated = next != nil && next?.setting == member.setting
          let setting = isRepeated ? nil : member.setting.map { "     " + $0 }
          return [line.count + names.count > 120 ? line : line + names, setting].compactMap(\.self)
        }
    }
  }

  /// The names in a reason: the parts in backticks, and so every second part.
  private static func names(in reason: String) -> String {
    reason.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { !$0.offset.isMultiple(of: 2) }
      // Some symbol graphs write `Self.` before an associated type.
      .map { "`\($0.element.hasPrefix("Self.") ? $0.element.dropFirst(5) : $0.element)`" }
      .joined(separator: ", ")
  }
}

/// The lines of the configuration that settle the same question for all functions of a type.
///
/// `own` are the type's own functions. `matched` also has those of nested types, because a line's pattern matches them, too.
private struct Wildcards {
  /// For each type with several functions, the entries that serve all of them.
  private var entries: [String: [Refusal.Entry]] = [:]

  init(_ plan: CounterpartPlan) {
    let scopes = Dictionary(grouping: plan.entries, by: \.function.symbol.scope)
    for (scope, own) in scopes where !scope.isEmpty && own.count > 1 {
      let pattern = scope + ".*"
      let matched = plan.entries.filter { TitlePattern(whole: pattern).matches($0.function.title) }
      let found = [Self.handle(own, matched), Self.once(own, matched)]
      entries[scope] = found.compactMap(\.self).map { entry in
        Refusal.Entry(key: entry.key, pattern: pattern, value: entry.value)
      }
    }
  }

  /// The entry that settles a refusal: the common entry of the type's functions, if there is one; `nil` if no entry would help.
  func entry(for refusal: Refusal, of function: CallbackFunction) -> Refusal.Entry? {
    let common = entries[function.symbol.scope] ?? []
    return refusal.entry.map { entry in common.first { $0.key == entry.key } ?? entry }
  }

  /// The common entry for handles; `nil` unless several `own` functions return a handle, and all `matched` handles need that entry.
  private static func handle(_ own: [CounterpartPlan.Entry], _ matched: [CounterpartPlan.Entry]) -> Refusal.Entry? {
    // Returns an element for each handle: its entry without the pattern, or `nil` if it must not get the common entry, because
    // no entry helps it, it cancels the work (`.calls`) or it is not needed (`.none`).
    func handleEntries(_ entries: [CounterpartPlan.Entry]) -> [Refusal.Entry?] {
      entries.map(\.function).filter(\.returnsValue).map { function in  // the other functions have no handle
        switch function.handle {
        case .dropped(let refusal), .refused(let refusal):
          return refusal.entry.map { Refusal.Entry(key: $0.key, pattern: "", value: $0.value) }
        case .none, .calls: return nil
        }
      }
    }
    let found = handleEntries(own)
    guard found.count > 1, let entry = found[0] else { return nil }
    return handleEntries(matched).allSatisfy { $0 == entry } ? entry : nil
  }

  /// The entry `once` (called once), if several `own` functions need it, and no `matched` refusal has evidence against it.
  private static func once(_ own: [CounterpartPlan.Entry], _ matched: [CounterpartPlan.Entry]) -> Refusal.Entry? {
    func onceRefusals(_ entry: CounterpartPlan.Entry) -> [Refusal] {  // the refusals that the entry `once` settles
      entry.refusals.map(\.refusal).filter { $0.entry?.key == MigrationConfiguration.List.once.rawValue }
    }
    // Each refusal without evidence has this `general` text, because it contains neither the parameter's name nor the title.
    let unknown = Refusal.unknownRepetition(of: "", "").general
    let hasNoEvidence = matched.flatMap(onceRefusals).allSatisfy { $0.general == unknown }
    let found = own.compactMap { onceRefusals($0).first?.entry }
    return hasNoEvidence && found.count > 1 ? found[0] : nil  // any: the caller replaces the pattern
  }
}
