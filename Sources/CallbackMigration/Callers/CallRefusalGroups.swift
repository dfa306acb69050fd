/// The calls that are not converted, by their reasons, the most frequent first.
struct CallRefusalGroups {
  private struct Group {
    let key: String
    let reason: String
    let risk: CallRisk?
    let calls: [CallbackCall]
  }

  private let groups: [Group]

  init(_ calls: [CallbackCall]) {
    let refused = calls.filter { $0.reason != nil }
    groups = Dictionary(grouping: refused) { Self.general($0.reason ?? "") }.map { key, calls in
      let reasons = Set(calls.compactMap(\.reason))
      return Group(
        key: key,
        reason: reasons.count == 1 ? reasons.first ?? key : key,
        risk: calls.first?.refusals.first?.risk,
        calls: calls
      )
    }.sorted { ($1.calls.count, $0.key) < ($0.calls.count, $1.key) }
  }

  var isEmpty: Bool { groups.isEmpty }

  /// The number of the group of a call, from 1.
  func number(of call: CallbackCall) -> Int? {
    guard let reason = call.reason else { return nil }
    return groups.firstIndex { $0.key == Self.general(reason) }.map { $0 + 1 }
  }

  var lines: [String] {
    groups.enumerated().flatMap { index, group in
      let allow = group.risk.map { "; --allow \($0.rawValue)" } ?? ""
      return ["\(index + 1). \(group.reason)\(allow)"]
        + group.calls.map { call in
          let own = call.reason == group.reason ? "" : ": \(call.reason ?? "")"
          return "   \(call.file):\(call.line): \(call.enclosing)\(own)"
        }
    }
  }

  /// A reason without its names and numbers.
  static func general(_ reason: String) -> String {
    let parts = reason.split(separator: "`", omittingEmptySubsequences: false).enumerated()
    let text = parts.map { $0.offset.isMultiple(of: 2) ? String($0.element) : "`…`" }.joined()
    let words = text.split(separator: " ").map { word in
      word.contains { $0.isNumber } ? "…" + word.reversed().prefix { $0 == "," || $0 == ";" } : String(word)
    }
    return words.joined(separator: " ")
  }
}
