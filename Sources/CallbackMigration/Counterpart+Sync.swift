/// A counterpart of a function whose callback does not escape: it stores the outcome, and returns or throws it.
extension Counterpart {
  /// The sentence of the documentation about a callback that does not come.
  ///
  /// A trap needs no import, and the error type of the callback stays as it is.
  var syncTrap: [String] {
    ["Traps if the callback \(canMissBoth ? "gets neither a value nor an error" : "does not come")."]
  }

  private var canMissBoth: Bool {
    switch callbacks.shape {
    case .valuesOrError(_, areOptional: true), .unpacked(.valuesOrError(_, areOptional: true), _): true
    default: false
    }
  }

  /// The type of the callback's failure; `nil` if it gets none.
  private var failureType: String? {
    switch callbacks.shape {
    case .values: return nil
    case .result(_, let failure), .unpacked(.result(_, let failure), _):
      let text = failure.text
      return text == "Never" || text == "Swift.Never" ? nil : spelling.text(failure)
    default: return anyError
    }
  }

  private var anyError: String { "any \(spelling.text("Error", "s:s5ErrorP"))" }

  /// The counterpart throws the callback's own error type, unless the function itself throws.
  var syncEffects: String {
    if declaration.isThrowing { return " throws" }
    guard let failureType else { return "" }
    return callbacks.shape.typedFailure == nil ? " throws" : " throws(\(failureType))"
  }

  private var outcome: String { unused("outcome") }

  var syncBody: [String] {
    let result = spelling.text("Result", "s:s6ResultO")
    let value = valueType == "()" ? spelling.text("Void", "s:s4Voida") : valueType
    let failure = failureType ?? spelling.text("Never", "s:s5NeverO")
    let event = canMissBoth ? "gave neither a value nor an error" : "returned without calling its callback"
    return ["var \(outcome): \(result)<\(value), \(failure)>?"] + call(on: nil) + [
      "guard let \(outcome) else { preconditionFailure(\"\(declaration.title()) \(event).\") }",
      (valueType == "()" ? "" : "return ") + (failureType == nil ? "" : "try ") + "\(outcome).get()",
    ]
  }

  /// The argument of the function: a closure that stores the first outcome, or the parameter itself.
  func syncArgument(_ index: Int) -> String {
    let parameter = declaration.parameters[index]
    if index == callbacks.failure { return "{ \(store(".failure($0)")) }" }
    if index == callbacks.completion { return closure }
    if parameter.specifiers.contains("inout") { return "&\(parameter.reference)" }
    return parameter.specifiers.contains("@autoclosure") ? "\(parameter.reference)()" : parameter.reference
  }

  private func store(_ result: String) -> String { "\(outcome) = \(outcome) ?? \(result)" }

  private var closure: String {
    switch callbacks.shape {
    case .result: return "{ \(store("$0")) }"
    case .unpacked(_, .result): return "{ \(store("$0.result")) }"
    case .values(let values), .successOrFailure(let values):
      return "{ \(store(success(values.indices.map { "$\($0)" }))) }"
    case .error: return multiline(["error"], statements(0, areOptional: false, { _ in "" }, error: "error"))
    case .valuesOrError(let values, let areOptional):
      let all = names(values.count)
      let lines = statements(values.count, areOptional: areOptional, { all[$0] }, error: "error")
      return multiline(all + ["error"], lines)
    case .unpacked(_, .tuple(let count)):
      let lines = statements(count - 1, areOptional: canMissBoth, { "values.\($0)" }, error: "values.\(count - 1)")
      return multiline(["values"], lines)
    case .unpacked(_, .cases(let success, let hasValue, let failure)):
      let isVoid = callbacks.shape.values?.isEmpty == true
      return multiline(
        ["response"],
        [
          "switch response {",
          "case .\(success)\(hasValue && !isVoid ? "(let value)" : ""): \(store(isVoid ? ".success(())" : ".success(value)"))",
          "case .\(failure)(let error): \(store(".failure(error)"))",
          "}",
        ]
      )
    case .repeated, .unknown: preconditionFailure("No counterpart is written for \(function.title).")
    }
  }

  private func success(_ values: [String]) -> String {
    values.count == 1 ? ".success(\(values[0]))" : ".success(\(tuple(values)))"
  }

  /// An error wins over values, as in an async counterpart.
  private func statements(_ count: Int, areOptional: Bool, _ value: (Int) -> String, error: String) -> [String] {
    let condition = error == "error" ? "let error" : "let error = \(error)"
    let parts = (0..<count).map(value)
    let lines = ["if \(condition) { \(store(".failure(error)")) }"]
    guard areOptional else { return lines + [store(success(parts))] }
    let names = names(count)
    let conditions = zip(names, parts).map { $0 == $1 ? "let \($0)" : "let \($0) = \($1)" }
    return lines + ["if \(conditions.joined(separator: ", ")) { \(store(success(names))) }"]
  }

  /// A closure of several statements, with types: the compiler chooses an overload before it reads the statements.
  private func multiline(_ names: [String], _ lines: [String]) -> String {
    let parameters = zip(names, callbacks.parameterTypes).map { "\($0): \(spelling.text($1))" }
    return (["{ (\(parameters.joined(separator: ", "))) in"] + lines.map { "  " + $0 } + ["}"]).joined(separator: "\n")
  }
}
