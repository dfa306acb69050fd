internal import Foundation

/// Drafts tests that compare functions with their async counterparts in every order.
///
/// The arguments and the test doubles are placeholders, because only the user knows them.
package struct ComparisonDraft {
  private let plan: CounterpartPlan

  /// Makes a draft.
  /// - Parameter plan: The functions, with the decisions for their async counterparts.
  package init(_ plan: CounterpartPlan) { self.plan = plan }

  /// One file, with a comment for each function that it leaves out.
  package var text: String {
    var tests: [[String]] = []
    var left: [String] = []
    var names: [String: Int] = [:]
    var modules: Set<String> = ["Futures", "FuturesTesting"]
    for entry in plan.entries where !entry.decisions.isEmpty {
      let function = entry.function
      if let reason = refusal(function) {
        left.append("// \(function.title): \(reason).")
        continue
      }
      let base = "compare" + function.counterpart(.async).name.filter { $0 != "`" }.capitalizedFirst
      names[base, default: 0] += 1
      modules.formUnion(SourceFile(path: function.path).unconditionalModules)
      let name = names[base] == 1 ? base : "\(base)\(names[base] ?? 0)"
      tests.append(Counterpart(kind: .future, function: function, in: plan.inventory).comparison(called: name))
    }
    guard !tests.isEmpty else { return left.map { $0 + "\n" }.joined() }
    let imports = modules.sorted().map { "import \($0)" } + ["@testable import \(plan.inventory.module)"]
    let head = [
      "// A draft: fill in what stands in <# #>. Each double of the outside calls back on a context of `orders`."
    ]
    let lines = head + imports + tests.flatMap { [""] + $0 } + (left.isEmpty ? [] : [""] + left)
    return lines.map { $0 + "\n" }.joined()
  }

  /// The reason why a function gets no test; `nil` if it gets one.
  private func refusal(_ function: CallbackFunction) -> String? {
    if !function.hasAsyncCounterpart { return "it has no async counterpart" }
    if let refusal = RefusalRules(inventory: plan.inventory).refusal(function, .future) { return refusal.reason }
    if function.callbacks.progress != nil { return "it reports progress, which the test has to record" }
    if function.globalActor != nil || function.isOnActor {
      return "it belongs to an actor, whose moves are not all explored"
    }
    if function.owner?.kind.identifier == "swift.protocol" {
      return "it belongs to a protocol, of which only types can be compared"
    }
    if function.owner == nil, !function.scope.isEmpty { return "its type belongs to another module" }
    let types = function.declaration.parameters.flatMap { Array($0.type) }.map(\.text)
    let isGeneric = !function.declaration.generics.isEmpty || types.contains("some")
    if isGeneric || function.owner?.swiftGenerics != nil {
      return "it is generic, and the test would have to choose the types"
    }
    if function.declaration.parameters.contains(where: { $0.specifiers.contains("@autoclosure") }) {
      return "it takes an autoclosure"
    }
    return nil
  }
}

extension Counterpart {
  /// The test that compares the callback function with its async counterpart.
  fileprivate func comparison(called name: String) -> [String] {
    let declaration = function.declaration
    let kept = declaration.parameters.indices.filter { !function.callbacks.omitted(by: .async).contains($0) }
    let arguments = kept.map { index in
      let parameter = declaration.parameters[index]
      let type = spelling.text(parameter.type).replacingOccurrences(of: "@escaping ", with: "")
      return "let \(parameter.reference): \(type) = <#\(type)#>"
    }
    let owner = function.scope.joined(separator: ".")
    let doubles = "with doubles that call back on orders.context(\"outside\")"
    let isMutating = declaration.modifiers.contains("mutating")
    let subject = "\(isMutating ? "var" : "let") \(Self.subject): \(owner) = <#\(doubles)#>"
    let setup = owner.isEmpty ? ["// <#\(doubles)#>"] : declaration.isStatic ? [] : [subject]
    let record = "orders.record(\"\\(result)\", in: \"result\")"
    let old =
      setup + ["\(futureType) { \(bridge) in"] + statements(on: receiver).map { "  " + $0 }
      + ["}", ".whenResolved(on: .immediate) { result in \(record) }", "try await orders.runAll()"]
    let new =
      setup + ["let result: Result<\(futureValue), any Error>"] + awaiting(kept) + [record]
    // Deprecated code can call a deprecated function without a warning.
    let attributes =
      AvailabilityText(function.symbol.availability).attributes
      + (function.isDeprecated ? ["@available(*, deprecated)"] : [])
    return ["/// ``\(function.title)`` and its async counterpart show the same in every order."]
      + attributes + ["func \(name)() async throws {"] + arguments.map { "  " + $0 }
      + ["  let comparison = try await compareOrders { orders in"] + old.map { "    " + $0 }
      + ["  } with: { orders in"] + new.map { "    " + $0 } + ["  }", "  print(comparison)", "}"]
  }

  /// The name of the variable whose functions the test calls.
  private static let subject = "subject"

  private var receiver: String {
    if function.scope.isEmpty { return qualifierOfFreeFunction }
    return (function.declaration.isStatic ? function.scope.joined(separator: ".") : Self.subject) + "."
  }

  private func awaiting(_ parameters: [Int]) -> [String] {
    let counterpart = function.counterpart(.async)
    let tokens = counterpart.symbol.map { [Token]($0.declarationFragments) } ?? []
    let arguments = parameters.map { index in
      let parameter = function.declaration.parameters[index]
      return (parameter.label == "_" ? "" : "\(parameter.label): ") + parameter.reference
    }
    let call = "await \(receiver)\(counterpart.name)(\(arguments.joined(separator: ", ")))"
    guard Declaration(tokens)?.isThrowing != false else { return ["result = .success(\(wrapped(call)))"] }
    return ["do { result = .success(\(wrapped("try \(call)"))) } catch { result = .failure(error) }"]
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension SourceFile {
  /// The modules that the file imports on each platform.
  fileprivate var unconditionalModules: [String] {
    imports.compactMap { if case .line(let found) = $0 { found.module } else { nil } }
  }
}
