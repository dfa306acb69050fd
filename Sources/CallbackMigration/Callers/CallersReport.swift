internal import Foundation

/// Prints the calls of a package.
struct CallersReport {
  let calls: [CallbackCall]
  let functions: [AwaitableFunction]
  private var plan: CallerPlan { CallerPlan(calls, functions) }

  // MARK: For a terminal

  private static let widths = [5, 40, 46, 14]

  var text: String {
    var lines = [summary]
    let groups = CallRefusalGroups(calls)
    for (file, found) in Dictionary(grouping: calls, by: \.file).sorted(by: { $0.key < $1.key }) {
      lines += ["", file]
      lines += found.map { call in
        let cells = [
          "\(call.line)".leftPadded(to: Self.widths[0]), call.enclosing, call.function,
          call.callClass.rawValue + (groups.number(of: call).map { ": \($0)" } ?? ""),
        ]
        return zip(cells, Self.widths).map { $0.fitted(to: $1) }.joined(separator: "  ").trimmingTrailingSpaces
      }
    }
    if !groups.isEmpty { lines += ["", "By hand:"] + groups.lines }
    return (lines + ["", "Plan:"] + planLines).joined(separator: "\n") + "\n"
  }

  private var summary: String {
    let counts = CallbackCall.Class.allCases.map { kind in
      "\(calls.count { $0.callClass == kind }) \(kind.rawValue)"
    }
    let targets = Set(calls.map(\.target)).count
    return "\(Self.plural(calls.count, "call")) of \(Self.plural(targets, "function")) with a callback: "
      + counts.joined(separator: ", ")
  }

  private var planLines: [String] {
    let plan = plan
    var lines = ["1. \(Self.plural(plan.readyCount, "call")) can be converted now."]
    for (index, step) in plan.steps.enumerated() {
      let names = step.functions.map { functions[$0].title }
      let shown = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", and \(names.count - 5) more" : "")
      let ready = step.readyCount > 0 ? " Then \(Self.plural(step.readyCount, "call")) more can be converted." : ""
      let become = step.functions.count == 1 ? "becomes a leaf" : "become leaves"
      lines.append("\(index + 2). \(Self.plural(step.functions.count, "function")) \(become): \(shown).\(ready)")
    }
    if !plan.stuck.isEmpty {
      let names = plan.stuck.map { functions[$0].title }.prefix(5).joined(separator: ", ")
      lines.append("Calls by hand keep \(Self.plural(plan.stuck.count, "function")) from it: \(names).")
    }
    return lines
  }

  static func plural(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

  // MARK: JSON

  private struct Document: Encodable {
    struct Call: Encodable {
      let file: String
      let line: Int
      let function: String
      let enclosing: String
      let `class`: String
      let reasons: [Reason]
    }

    struct Reason: Encodable {
      let reason: String
      let allow: String?
    }

    struct Step: Encodable {
      let functions: [String]
      let calls: Int
    }

    struct Plan: Encodable {
      let ready: Int
      let steps: [Step]
      let stuck: [String]
    }

    let calls: [Call]
    let plan: Plan
  }

  var json: String {
    let plan = plan
    let document = Document(
      calls: calls.map { call in
        Document.Call(
          file: call.file,
          line: call.line,
          function: call.function,
          enclosing: call.enclosing,
          class: call.callClass.rawValue,
          reasons: call.refusals.map { Document.Reason(reason: $0.reason, allow: $0.risk?.rawValue) }
        )
      },
      plan: Document.Plan(
        ready: plan.readyCount,
        steps: plan.steps.map { step in
          Document.Step(functions: step.functions.map { functions[$0].title }, calls: step.readyCount)
        },
        stuck: plan.stuck.map { functions[$0].title }
      )
    )
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let data = (try? encoder.encode(document)) ?? Data()
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}

extension CallbackCall {
  /// The first reason why the call is of the class by hand; `nil` for other classes.
  var reason: String? { callClass == .byHand ? refusals.first?.reason : nil }
}
