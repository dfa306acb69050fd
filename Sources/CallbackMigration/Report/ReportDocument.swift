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
  }

  struct Counterpart: Codable {
    enum State: String, Codable {
      case exists, writable, refused
    }

    let kind: String
    let title: String
    var state: State
    var file: String?

    /// The reason of the refusal, and the line of the configuration that would settle it.
    var reason: String?
    var setting: String?
  }

  let modules: [Module]

  /// The functions without a counterpart, with their names in the package.
  fileprivate var waiting: [(name: String, function: Function)] {
    modules.flatMap { module in
      module.functions.filter { function in !function.counterparts.contains { $0.state == .exists } }
        .map { ("\(module.module).\($0.function)", $0) }
    }
  }

  init(_ plans: [CounterpartPlan]) { modules = plans.map(Module.init) }

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
          var counterpart = ReportDocument.Counterpart(kind: kind.rawValue, title: title, state: .writable)
          switch decision {
          case .write: break
          case .exists(let file):
            counterpart.state = .exists
            counterpart.file = inventory.relativePath(file)
          case .refused(let refusal):
            counterpart.state = .refused
            counterpart.reason = refusal.reason
            counterpart.setting = refusal.entry?.text
          }
          return counterpart
        }
      )
    }
  }
}

/// The functions without a counterpart that a baseline does not know.
struct BaselineCheck {
  /// The places and titles of these functions.
  let added: [String]

  /// Compares the number of functions with each name, because lines move, and overloads share a name.
  init(_ report: ReportDocument, baseline: ReportDocument) {
    var known: [String: Int] = [:]
    for (name, _) in baseline.waiting { known[name, default: 0] += 1 }
    var added: [String] = []
    for (name, function) in report.waiting {
      if let count = known[name], count > 0 {
        known[name] = count - 1
      } else {
        added.append("\(function.file):\(function.line): \(function.function)")
      }
    }
    self.added = added
  }

  var text: String {
    guard !added.isEmpty else { return "No function without a counterpart was added.\n" }
    let subject =
      added.count == 1 ? "1 function takes a callback and has" : "\(added.count) functions take a callback and have"
    return (["\(subject) no counterpart, and the baseline does not have them:"] + added.map { "  " + $0 })
      .joined(separator: "\n") + "\n"
  }
}
