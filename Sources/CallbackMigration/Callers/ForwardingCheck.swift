/// Finds out whether code only passes a result on, so that its queue makes no difference.
///
/// Such code chooses and binds values. It calls the callback of its function, or other functions with that callback or
/// with the queue of that callback. It can pass on a variable from outside, as in `.failure(error)`, but reads nothing
/// of it, as in `model.name`, because the queue can protect that. It calls functions only on its own values.
struct ForwardingCheck {
  let tokens: SourceTokens

  /// The names of the callbacks of the function around the code.
  let callbacks: [String]

  /// The name of the queue parameter of that function.
  let queue: String?

  /// The names that the code declares.
  private var names: Set<String> = []

  init(_ tokens: SourceTokens, callbacks: [String], queue: String?) {
    self.tokens = tokens
    self.callbacks = callbacks
    self.queue = queue
  }

  /// Whether a closure only passes a result on; a capture of `self` lets it use `self` without saying so.
  func onlyForwards(closureAt brace: Int) -> Bool {
    let signature = tokens.closureSignature(at: brace)
    return signature?.captures == nil && onlyForwards(tokens.content(of: brace), signature?.parameters ?? [])
  }

  /// Whether statements only pass a result on.
  /// - Parameters:
  ///   - range: The statements.
  ///   - parameters: The names of their closure's parameters.
  /// - Returns: Whether they do.
  func onlyForwards(_ range: Range<Int>, _ parameters: [String] = []) -> Bool {
    guard !range.isEmpty else { return true }
    var check = self
    let text = SourceTokens(String(tokens.text(range.lowerBound...range.upperBound - 1)))
    check.names = ConvertedText.boundNames(text).union(parameters)
    return check.areForwarding(range)
  }

  private func areForwarding(_ range: Range<Int>) -> Bool { tokens.statements(in: range).allSatisfy(isForwarding) }

  private func isForwarding(_ statement: Range<Int>) -> Bool {
    let start = statement.lowerBound
    switch tokens[start] {
    case "let", "var": return !statement.contains { tokens[$0] == "{" || readsState($0) }
    case "break": return true
    case "return": return statement.count == 1 || passesOn(start + 1..<statement.upperBound)
    case "if", "guard", "do":
      let blocks = tokens.blocks(of: statement)
      let head = statement.filter { index in !blocks.contains { $0.contains(index) } }
      return !head.contains(where: readsState) && blocks.allSatisfy(areForwarding)
    case "switch":
      guard let brace = statement.first(where: { tokens[$0] == "{" && tokens.parent($0) == tokens.parent(start) })
      else { return false }
      return !(start..<brace).contains(where: readsState) && tokens.cases(brace).allSatisfy(areForwarding)
    default: return passesOn(statement)
    }
  }

  private func passesOn(_ statement: Range<Int>) -> Bool {
    let start = statement.lowerBound
    if let hop = QueueHop(at: start, of: queue, in: tokens) { return areForwarding(hop.content) }
    guard !statement.dropFirst().contains(where: readsState) else { return false }
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

  /// Whether a token is `self`, or a variable or a function from outside that the code reads or calls.
  private func readsState(_ index: Int) -> Bool {
    let word = tokens[index]
    if word == "self" || word == "super" || word == "Self" { return true }
    guard word.first?.isLowercase == true || word.first == "_", tokens[index - 1] != ".", !names.contains(word),
      !Self.keywords.contains(word), !callbacks.contains(word), word != queue
    else { return false }
    var next = index + 1
    while ["?", "!"].contains(tokens[next]), tokens.touch(next - 1, next) { next += 1 }
    return [".", "[", "("].contains(tokens[next]) && tokens.touch(next - 1, next)
  }

  private static let keywords: Set<String> = [
    "if", "guard", "else", "switch", "case", "default", "where", "let", "var", "do", "catch", "try", "as", "is", "in",
    "return", "nil", "true", "false",
  ]
}
