/// Finds out whether code only passes a result on, so that its queue makes no difference.
///
/// Such code chooses and binds values. It calls the callback of its function, or other functions with that callback or
/// with the queue of that callback. It reads nothing of `self`, which the queue can protect.
struct ForwardingCheck {
  let tokens: SourceTokens

  /// The names of the callbacks of the function around the code.
  let callbacks: [String]

  /// The name of the queue parameter of that function.
  let queue: String?

  /// Whether a closure only passes a result on; a capture of `self` lets it use `self` without saying so.
  func onlyForwards(closureAt brace: Int) -> Bool {
    tokens.closureSignature(at: brace)?.captures == nil && onlyForwards(tokens.content(of: brace))
  }

  func onlyForwards(_ range: Range<Int>) -> Bool { tokens.statements(in: range).allSatisfy(isForwarding) }

  private func isForwarding(_ statement: Range<Int>) -> Bool {
    let start = statement.lowerBound
    switch tokens[start] {
    case "let", "var": return !statement.contains { tokens[$0] == "{" || tokens[$0] == "self" }
    case "break": return true
    case "return": return statement.count == 1 || passesOn(start + 1..<statement.upperBound)
    case "if", "guard", "do":
      let blocks = tokens.blocks(of: statement)
      let head = statement.filter { index in !blocks.contains { $0.contains(index) } }
      return !head.contains { tokens[$0] == "self" } && blocks.allSatisfy(onlyForwards)
    case "switch":
      guard let brace = statement.first(where: { tokens[$0] == "{" && tokens.parent($0) == tokens.parent(start) })
      else { return false }
      return !(start..<brace).contains { tokens[$0] == "self" } && tokens.cases(brace).allSatisfy(onlyForwards)
    default: return passesOn(statement)
    }
  }

  private func passesOn(_ statement: Range<Int>) -> Bool {
    let start = statement.lowerBound
    if let hop = QueueHop(at: start, of: queue, in: tokens) { return onlyForwards(hop.content) }
    guard !statement.dropFirst().contains(where: { tokens[$0] == "self" }) else { return false }
    if callbacks.contains(tokens[start]), ["(", "?", "!"].contains(tokens[start + 1]) { return true }
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
