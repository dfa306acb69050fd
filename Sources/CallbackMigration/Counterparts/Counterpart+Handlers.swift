/// The handlers that the bodies of counterparts pass to the callback function.
extension Counterpart {
  var completion: String { completion(callbacks.shape) }

  private func completion(_ shape: CallbackShape) -> String {
    switch shape {
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
        return
          "{ @Sendable \(all.joined(separator: ", ")), error in \(unwrapping(all, all.map { "let \($0)" }, "error")) }"
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
    case .unpacked(.result(_, let failure), .result):
      return "{ @Sendable response in \(resultHandler(failure))(\(mapped("response.result"))) }"
    case .unpacked(let shape, .tuple(let count)): return unpackedTuple(shape, count)
    case .unpacked(_, .cases(let success, let hasValue, let failure)):
      let value = hasValue ? "(let value)" : ""
      let handler = callbacks.shape.values?.isEmpty == true ? "voidHandler()" : "valueHandler(\(wrapped("value")))"
      return """
        { @Sendable outcome in
          switch outcome {
          case .\(success)\(value): \(bridge).\(handler)
          case .\(failure)(let error): \(bridge).failureHandler(error)
          }
        }
        """
    case .unpacked, .repeated, .unknown: preconditionFailure("No counterpart is written for \(function.title).")
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

  private func unpackedTuple(_ shape: CallbackShape, _ count: Int) -> String {
    let parts = (0..<count - 1).map { "values.\($0)" }
    let error = "values.\(count - 1)"
    var areOptional = false
    if case .valuesOrError(_, areOptional: true) = shape { areOptional = true }
    let all = parts.count == 1 ? areOptional ? mapped(parts[0]) : wrapped(parts[0]) : wrapped(tuple(parts))
    if areOptional, parts.count == 2 {
      guard callbacks.labels.isEmpty, !isTransferred else {
        let names = names(parts.count)
        return "{ @Sendable values in \(unwrapping(names, zip(names, parts).map { "let \($0) = \($1)" }, error)) }"
      }
      return "{ @Sendable values in \(bridge).valuesOrErrorHandler()(\(parts.joined(separator: ", ")), \(error)) }"
    }
    return "{ @Sendable values in \(bridge).valueOrErrorHandler(\(all), \(error)) }"
  }

  /// The value, in an `UncheckedTransfer` if the package asks for that.
  func wrapped(_ value: String) -> String { isTransferred ? "\(transfer)(\(value))" : value }

  /// The result or optional, whose value is in an `UncheckedTransfer` if the package asks for that.
  private func mapped(_ value: String) -> String { isTransferred ? "\(value).map(\(transfer).init)" : value }

  /// Passes the values on if none is missing, and otherwise only the error.
  private func unwrapping(_ names: [String], _ conditions: [String], _ error: String) -> String {
    let (some, none) = ("valueOrErrorHandler(\(wrapped(tuple(names))), \(error))", "valueOrErrorHandler(nil, \(error))")
    return "if \(conditions.joined(separator: ", ")) { \(bridge).\(some) } else { \(bridge).\(none) }"
  }

  func names(_ count: Int) -> [String] { (1...count).map { "value\($0)" } }
}
