/// Finds out whether code only passes a result on, so that its queue makes no difference.
///
/// Such code chooses and binds values. It calls the callback of its function, or other functions with that callback or
/// with the queue of that callback.
struct ForwardingCheck {
  let tokens: SourceTokens

  /// The names of the callbacks of the function around the code.
  let callbacks: [String]

  /// The name of the queue parameter of that function.
  let queue: String?

  func onlyForwards(_ range: Range<Int>) -> Bool { tokens.statements(in: range).allSatisfy(isForwarding) }

  private func isForwarding(_ statement: Range<Int>) -> Bool {
    let start = statement.lowerBound
    switch tokens[start] {
    case "let", "var": return !statement.contains { tokens[$0] == "{" }
    case "break", "throw": return true
    case "return": return statement.count == 1 || passesOn(start + 1..<statement.upperBound)
    case "if", "guard", "do": return tokens.blocks(of: statement).allSatisfy(onlyForwards)
    case "switch":
      let brace = statement.first { tokens[$0] == "{" && tokens.parent($0) == tokens.parent(start) }
      return brace.map(tokens.cases)?.allSatisfy(onlyForwards) == true
    default: return passesOn(statement)
    }
  }

  private func passesOn(_ statement: Range<Int>) -> Bool {
    let start = statement.lowerBound
    if callbacks.contains(tokens[start]), ["(", "?", "!"].contains(tokens[start + 1]) { return true }
    if let hop = QueueHop(at: start, of: queue, in: tokens) { return onlyForwards(hop.content) }
    let passed = callbacks + [queue].compactMap(\.self)
    return statement.contains { open in
      guard tokens[open] == "(", tokens.parent(open) == tokens.parent(start), let close = tokens.partner(open) else {
        return false
      }
      return tokens.arguments(in: open...close).contains { argument in
        argument.value.count == 1 && passed.contains(tokens[argument.value.lowerBound])
      }
    }
  }
}
