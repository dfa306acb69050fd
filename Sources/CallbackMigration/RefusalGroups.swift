/// The reasons why counterparts are not written, each with its functions.
struct RefusalGroups {
  struct Group {
    /// The text, with `…` for names that differ.
    let reason: String
    var members: [Member]
  }

  struct Member {
    let place: String
    let title: String

    /// The line of the configuration that would settle the refusal.
    let setting: String?
  }

  private(set) var groups: [Group] = []

  /// The refused functions.
  ///
  /// Leaves out why one of two counterparts is missing, if no line of the configuration would settle that.
  init(_ plan: CounterpartPlan) {
    self.init(plan) { entry in entry.refusals.filter { !entry.isMinor($0) } }
  }

  /// The counterparts that differ from their callback.
  init(notesOf plan: CounterpartPlan) { self.init(plan) { $0.notes.map { (nil, $0) } } }

  private init(
    _ plan: CounterpartPlan,
    _ reasons: (CounterpartPlan.Entry) -> [(kind: Counterpart.Kind?, refusal: Refusal)]
  ) {
    var found: [String: [(reason: String, member: Member)]] = [:]
    let wildcards = Wildcards(plan)
    for entry in plan.entries {
      let function = entry.function
      for (kind, refusal) in reasons(entry) {
        let which = kind.map { " (\($0.rawValue))" } ?? ""
        let member = Member(
          place: "\(function.file):\(function.line)",
          title: function.title + which,
          setting: wildcards.entry(for: refusal, of: function)?.text
        )
        found[Self.withoutNames(refusal.reason), default: []].append((refusal.reason, member))
      }
    }
    groups = found.map { general, refusals in
      let isSame = Set(refusals.map(\.reason)).count == 1
      return Group(reason: isSame ? refusals[0].reason : general, members: refusals.map(\.member))
    }.sorted { ($1.members.count, $0.reason) < ($0.members.count, $1.reason) }
  }

  /// The number of a refusal's group, counted from 1.
  func number(of refusal: Refusal) -> Int? {
    let general = Self.withoutNames(refusal.reason)
    return groups.firstIndex { Self.withoutNames($0.reason) == general }.map { $0 + 1 }
  }

  /// The groups with their numbers, for a terminal of 120 columns.
  var lines: [String] {
    groups.enumerated().flatMap { index, group in
      ["\(index + 1). \(group.reason)"]
        + group.members.enumerated().flatMap { index, member in
          let isRepeated = group.members.dropFirst(index + 1).first.map { $0.setting == member.setting } == true
          let setting = isRepeated ? nil : member.setting
          return ["   \(member.place): \(member.title)"] + (setting.map { ["     " + $0] } ?? [])
        }
    }
  }

  /// A line for the omitted functions.
  static func minorLine(_ plan: CounterpartPlan) -> String? {
    let count = plan.entries.count { entry in entry.refusals.contains(where: entry.isMinor) }
    guard count > 0 else { return nil }
    let functions =
      count == 1
      ? "1 function has one of its two counterparts" : "\(count) functions have one of their two counterparts"
    return "\(functions), and not the other; `report --json` says why."
  }

  fileprivate static func withoutNames(_ reason: String) -> String {
    reason.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "`…`" }.joined()
  }
}

/// The lines of the configuration that settle the same question for all functions of a type.
private struct Wildcards {
  /// The types of which every function with a handle is refused with the same entry, with that entry.
  private var handles: [String: Refusal.Entry] = [:]

  /// The types with several callbacks of which nothing says whether they come once, and with none that comes more often.
  private var unknown: Set<String> = []

  init(_ plan: CounterpartPlan) {
    let scopes = Dictionary(grouping: plan.entries) { $0.function.scope.joined(separator: ".") }
    for (scope, own) in scopes where !scope.isEmpty {
      let pattern = scope + ".*"
      let matched = plan.entries.filter { TitlePattern(whole: pattern).matches($0.function.title) }
      let returning = own.map(\.function).filter(\.returnsValue)
      if returning.count > 1, let entry = Self.handleEntry(of: returning[0], for: pattern) {
        let functions = matched.map(\.function).filter(\.returnsValue)
        if functions.allSatisfy({ Self.handleEntry(of: $0, for: pattern) == entry }) { handles[scope] = entry }
      }
      let isUnknown = matched.flatMap(Self.onceReasons).allSatisfy { $0 == Self.unknownReason }
      if isUnknown, own.count(where: { !Self.onceReasons(of: $0).isEmpty }) > 1 { unknown.insert(scope) }
    }
  }

  /// The entry of the configuration, for all functions of the type where that says the same.
  func entry(for refusal: Refusal, of function: CallbackFunction) -> Refusal.Entry? {
    guard var entry = refusal.entry else { return nil }
    let scope = function.scope.joined(separator: ".")
    if let handle = handles[scope], handle.key == entry.key { return handle }
    if entry.key == Self.once, unknown.contains(scope) { entry.pattern = scope + ".*" }
    return entry
  }

  private static func handleEntry(of function: CallbackFunction, for pattern: String) -> Refusal.Entry? {
    guard case .refused(let refusal) = function.handle, var entry = refusal.entry else { return nil }
    entry.pattern = pattern
    return entry
  }

  private static let once = MigrationConfiguration.List.once.rawValue
  private static let unknownReason = "nothing says whether `…` is called once"

  /// The refusals, without names, that the word of the user settles that the callback comes once.
  private static func onceReasons(of entry: CounterpartPlan.Entry) -> [String] {
    entry.refusals.map(\.refusal).filter { $0.entry?.key == once }.map { RefusalGroups.withoutNames($0.reason) }
  }
}

extension CounterpartPlan.Entry {
  /// Whether the function has one counterpart and lacks the other, and this is intended.
  fileprivate func isMinor(_ refusal: (kind: Counterpart.Kind?, refusal: Refusal)) -> Bool {
    guard refusal.kind != nil, refusal.refusal.setting == nil else { return false }
    return decisions.contains { if case .refused = $0.decision { false } else { true } }
  }
}
