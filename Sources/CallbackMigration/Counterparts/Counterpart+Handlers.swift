/// The handlers that the bodies of counterparts pass to the callback function.
extension Counterpart {
  var completion: String {
    switch callbacks.shape {
    case .result(_, let failure):
      let handler = resultHandler(failure)
      return isTransferred ? "{ @Sendable in \(handler)(\(mapped("$0"))) }" : handler
    case .error: return "\(bridge).errorHandler"
    case .values(let values), .successOrFailure(let values):
      switch values.count {
      case 0: return "\(bridge).voidHandler"
      case 1:
        return isTransferred ? "{ @Sendable in \(bridge).valueHandler(\(wrapped("$0"))) }" : "\(bridge).valueHandler"
      default:
        let all = names(values.count)
        return "{ @Sendable \(all.joined(separator: ", ")) in \(bridge).valueHandler(\(wrapped(tuple(all)))) }"
      }
    case .valuesOrError(let values, areOptional: true):
      switch values.count {
      case 1:
        let handler = "\(bridge).valueOrErrorHandler"
        return isTransferred ? "{ @Sendable value, error in \(handler)(\(mapped("value")), error) }" : handler
      // For two values without names, the library has a handler.
      case 2 where callbacks.labels.isEmpty && !isTransferred: return "\(bridge).valuesOrErrorHandler()"
      default:
        let all = names(values.count)
        let handler = "\(bridge).valueOrErrorHandler"
        let areThere = all.map { "let \($0)" }.joined(separator: ", ")
        let call = "if \(areThere) { \(handler)(\(wrapped(tuple(all))), error) } else { \(handler)(nil, error) }"
        return "{ @Sendable \(all.joined(separator: ", ")), error in \(call) }"
      }
    case .valuesOrError(let values, areOptional: false):
      let isOptional = values.count == 1 && aliases.isOptional(values[0])
      if values.count == 1, !isOptional, !isTransferred { return "\(bridge).valueOrErrorHandler" }
      let all = names(values.count)
      // Without `.some`, the compiler takes `nil` for a missing value, and not for a success.
      let plain = isOptional && !isTransferred ? ".some(\(all[0]))" : all.count == 1 ? all[0] : tuple(all)
      let value = wrapped(plain)
      let call = "\(bridge).valueOrErrorHandler(\(value), error)"
      return "{ @Sendable \(all.joined(separator: ", ")), error in \(call) }"
    case .response(_, let failure):
      return "{ @Sendable response in \(resultHandler(failure))(\(mapped("response.result"))) }"
    case .repeated, .unknown: preconditionFailure("No counterpart is written for \(function.title).")
    }
  }

  private func resultHandler(_ failure: ArraySlice<Token>) -> String {
    if ["any Error", "Error", "any Swift.Error", "Swift.Error"].contains(failure.text) {
      return "\(bridge).resultHandler"
    }
    let isName = failure.allSatisfy { $0.text != "any" && $0.text != "&" && $0.text != "?" }
    let type = spelling.text(failure)
    return "\(bridge).resultHandler(of: \(isName ? type : "(\(type))").self)"
  }

  /// The value, in an `UncheckedTransfer` if the package asks for that.
  func wrapped(_ value: String) -> String { isTransferred ? "\(transfer)(\(value))" : value }

  /// The result or optional, whose value is in an `UncheckedTransfer` if the package asks for that.
  private func mapped(_ value: String) -> String { isTransferred ? "\(value).map(\(transfer).init)" : value }

  private func names(_ count: Int) -> [String] { (1...count).map { "value\($0)" } }
}
