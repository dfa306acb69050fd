/// The handlers that the bodies of counterparts pass to the callback function.
extension Counterpart {
  /// The argument for the callback: a handler of the library, or a closure that gives the values to a handler.
  ///
  /// Without `@Sendable`, the closure would be isolated to the actor of the counterpart.
  var completion: String {
    let (value, valueOrError) = ("\(bridge).valueHandler", "\(bridge).valueOrErrorHandler")
    let names = (callbacks.shape.values ?? []).indices.map { "value\($0 + 1)" }
    let parameters = names.joined(separator: ", ")
    let all = names.count == 1 ? names[0] : tuple(names)
    switch callbacks.shape {
    case .result(_, let failure):
      let handler = resultHandler(failure)
      return isTransferred ? "{ @Sendable in \(handler)(\(mapped("$0"))) }" : handler
    case .error: return "\(bridge).errorHandler"
    case .values, .successOrFailure:  // `argument` gives a failure closure a handler of its own
      if names.isEmpty { return "\(bridge).voidHandler" }
      if names.count > 1 { return "{ @Sendable \(parameters) in \(value)(\(wrapped(all))) }" }
      return isTransferred ? "{ @Sendable in \(value)(\(wrapped("$0"))) }" : value
    case .valuesOrError(_, areOptional: true):
      if names.count == 1 {
        return isTransferred ? "{ @Sendable value, error in \(valueOrError)(\(mapped("value")), error) }" : valueOrError
      }
      // For two values without names, the library has a handler.
      if names.count == 2, callbacks.labels.isEmpty, !isTransferred { return "\(bridge).valuesOrErrorHandler()" }
      let conditions = names.map { "let \($0)" }.joined(separator: ", ")
      let call = "if \(conditions) { \(valueOrError)(\(wrapped(all)), error) } else { \(valueOrError)(nil, error) }"
      return "{ @Sendable \(parameters), error in \(call) }"
    case .valuesOrError(let values, areOptional: false):
      let isOptional = values.count == 1 && aliases.isOptional(values[0])
      if values.count == 1, !isOptional, !isTransferred { return valueOrError }
      // Without `.some` or a wrapper, the compiler takes `nil` for a missing value, and not for a success.
      let success = isOptional && !isTransferred ? ".some(\(all))" : wrapped(all)
      return "{ @Sendable \(parameters), error in \(valueOrError)(\(success), error) }"
    case .response(_, let failure):
      return "{ @Sendable response in \(resultHandler(failure))(\(mapped("response.result"))) }"
    case .repeated, .unknown: preconditionFailure("No counterpart is written for \(function.title).")
    }
  }

  /// The library's handler of a `Result` with this failure type.
  private func resultHandler(_ failure: ArraySlice<Token>) -> String {
    if failure.isAnyError { return "\(bridge).resultHandler" }
    // Before `.self`, a type such as `any Fault` needs parentheses.
    let isName = failure.allSatisfy { !["any", "&", "?"].contains($0.text) }
    let type = spelling.text(failure)
    return "\(bridge).resultHandler(of: \(isName ? type : "(\(type))").self)"
  }

  /// The code for a value; wraps it in an `UncheckedTransfer` if the package asks for that.
  func wrapped(_ value: String) -> String { isTransferred ? "\(transfer)(\(value))" : value }

  /// The code for a result or an optional; wraps the value in it as `wrapped` does.
  private func mapped(_ value: String) -> String { isTransferred ? "\(value).map(\(transfer).init)" : value }
}
