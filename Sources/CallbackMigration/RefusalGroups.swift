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

    /// The line of the configuration that would settle it.
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
    for entry in plan.entries {
      let function = entry.function
      for (kind, refusal) in reasons(entry) {
        let which = kind.map { " (\($0.rawValue))" } ?? ""
        let member = Member(
          place: "\(function.file):\(function.line)",
          title: function.title + which,
          setting: refusal.setting
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
        + group.members.flatMap { member in
          ["   \(member.place): \(member.title)"] + (member.setting.map { ["     " + $0] } ?? [])
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

  private static func withoutNames(_ reason: String) -> String {
    reason.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "`…`" }.joined()
  }
}

extension CounterpartPlan.Entry {
  /// Whether the function has one counterpart and lacks the other, and this is intended.
  fileprivate func isMinor(_ refusal: (kind: Counterpart.Kind?, refusal: Refusal)) -> Bool {
    guard refusal.kind != nil, refusal.refusal.setting == nil else { return false }
    return decisions.contains { if case .refused = $0.decision { false } else { true } }
  }
}
