internal import Foundation

/// A report as JSON, which is also the baseline of `--check`.
struct ReportDocument: Codable {
  struct Module: Codable {
    let module: String
    let functions: [Function]
  }

  struct Function: Codable {
    let file: String
    let line: Int
    let function: String
    let shape: String
    let isDeprecated: Bool
    let counterparts: [Counterpart]

    var isMigrated: Bool { counterparts.contains { $0.state == .exists } }
  }

  struct Counterpart: Codable {
    enum State: String, Codable {
      case exists, writable, refused
    }

    let kind: String

    /// The name of the counterpart.
    let title: String
    let state: State

    /// The file of the counterpart.
    var file: String?

    /// The reason of the refusal, and the line of the configuration that would settle it.
    var reason: String?
    var setting: String?
  }

  let modules: [Module]

  init(_ plans: [CounterpartPlan]) { modules = plans.map(Module.init) }

  /// Reads a report that was written as JSON.
  init(json: Data) throws { modules = try JSONDecoder().decode([Module].self, from: json) }

  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    // Strings, numbers and lists of them can always be encoded.
    return ((try? encoder.encode(modules)).map { String(decoding: $0, as: UTF8.self) } ?? "[]") + "\n"
  }
}

extension ReportDocument.Module {
  fileprivate init(_ plan: CounterpartPlan) {
    module = plan.inventory.module
    let inventory = plan.inventory
    functions = plan.entries.map { entry in
      let function = entry.function
      return ReportDocument.Function(
        file: function.file,
        line: function.line,
        function: function.title,
        shape: function.callbacks.shape.name,
        isDeprecated: function.isDeprecated,
        counterparts: entry.decisions.map { kind, decision in
          let title = function.counterpart(kind).title
          switch decision {
          case .exists(let file):
            return ReportDocument.Counterpart(
              kind: kind.rawValue,
              title: title,
              state: .exists,
              file: inventory.relativePath(file)
            )
          case .write: return ReportDocument.Counterpart(kind: kind.rawValue, title: title, state: .writable)
          case .refused(let refusal):
            return ReportDocument.Counterpart(
              kind: kind.rawValue,
              title: title,
              state: .refused,
              reason: refusal.reason,
              setting: refusal.setting
            )
          }
        }
      )
    }
  }
}

/// The functions without a counterpart that a baseline does not know.
struct BaselineCheck {
  /// The places and titles of these functions.
  let added: [String]

  /// Compares by titles, since lines move.
  init(_ report: ReportDocument, baseline: ReportDocument) {
    var known: [String: Int] = [:]
    for module in baseline.modules {
      for function in module.functions where !function.isMigrated {
        known["\(module.module).\(function.function)", default: 0] += 1
      }
    }
    var added: [String] = []
    for module in report.modules {
      for function in module.functions where !function.isMigrated {
        let name = "\(module.module).\(function.function)"
        if let count = known[name], count > 0 {
          known[name] = count - 1
        } else {
          added.append("\(function.file):\(function.line): \(function.function)")
        }
      }
    }
    self.added = added
  }

  var text: String {
    guard !added.isEmpty else { return "No function without a counterpart was added.\n" }
    let what =
      added.count == 1 ? "1 function takes a callback and has" : "\(added.count) functions take a callback and have"
    return (["\(what) no counterpart, and the baseline does not have them:"] + added.map { "  " + $0 })
      .joined(separator: "\n") + "\n"
  }
}
