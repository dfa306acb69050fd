/// The arguments of a callback, made from the outcome of an await, for a callback that does not divide.
extension AsyncText {
  /// Declares the callback's parameters, sets them by the await, and copies the statements of the callback.
  func whole(
    _ call: AwaitedCall,
    _ names: [String],
    _ brace: Int,
    _ body: Range<Int>,
    _ callee: String
  ) throws(Refusal) -> String {
    let used = names.map { usesName($0, body) }
    let code = try text(body)
    guard used.contains(true) else { return lines("_ = \(callee.replacing(prefix: "try ", with: "try? "))", code) }
    let types = explicitTypes(brace)
    switch call.form.withOptionalValues {
    case .result(let value, let failure):
      let type = types[names[0]] ?? "Result<\(value), \(failure)>"
      guard call.canThrow else { return lines("let \(names[0]): \(type) = .success(\(callee))", code) }
      let binding = """
        let \(names[0]): \(type)
        do { \(names[0]) = .success(\(callee)) } catch { \(names[0]) = .failure(error) }
        """
      return lines(binding, code)
    case .valuesOrError(let values) where values.count == 1 && !used[1]:
      return lines("let \(names[0]) = \(callee.replacing(prefix: "try ", with: "try? "))", code)
    case .valuesOrError(let values): return optionals(names, used, values, types, callee, code)
    case .error: return optionals(names, used, [], types, callee, code)
    default: throw Refusal("its callback gets values beside an error, and does not divide into success and failure")
    }
  }

  /// Declares the values and the error as optionals, sets them in a `do` and its `catch`, and adds the code.
  func optionals(
    _ names: [String],
    _ used: [Bool],
    _ values: [String],
    _ types: [String: String],
    _ callee: String,
    _ code: String
  ) -> String {
    let error = used[values.count] ? names[values.count] : nil
    let some = values.indices.filter { used[$0] }
    var declarations = some.map { "let \(names[$0]): \(types[names[$0]] ?? values[$0] + "?")" }
    var succeeding: [String] = []
    if some.isEmpty {
      succeeding.append(values.isEmpty ? callee : "_ = \(callee)")
    } else {
      let all = values.indices.map { used[$0] ? names[$0] : "_" }
      succeeding.append((all.count == 1 ? all[0] : "(\(all.joined(separator: ", ")))") + " = \(callee)")
    }
    var failing = some.map { "\(names[$0]) = nil" }
    if let error {
      declarations.append("let \(error): (any Error)?")
      succeeding.append("\(error) = nil")
      failing.append("\(error) = thrown")
    }
    let head = error == nil ? "} catch {" : "} catch let thrown {"
    return lines((declarations + ["do {"] + succeeding + [head] + failing + ["}"]).joined(separator: "\n"), code)
  }

  /// The types that the head of a closure names, by the names of the parameters.
  func explicitTypes(_ brace: Int) -> [String: String] {
    guard let end = tokens.closureSignature(at: brace)?.end,
      let open = (brace..<end).first(where: { tokens[$0] == "(" && tokens.parent($0) == brace }),
      let close = tokens.partner(open)
    else { return [:] }
    var types: [String: String] = [:]
    var start = open + 1
    var depth = 0
    for index in open + 1...close {
      if tokens[index] == "<" { depth += 1 } else if tokens[index] == ">" { depth -= 1 }
      guard index == close || tokens[index] == "," && depth == 0 && tokens.parent(index) == open else { continue }
      if tokens[start + 1] == ":", start + 2 < index {
        types[tokens[start]] = String(tokens.text(start + 2...index - 1))
      }
      start = index + 1
    }
    return types
  }
}
