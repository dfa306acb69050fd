/// Follows the paths through a function, and finds one that ends without its callback.
struct CompletionPaths {
  let text: AsyncText
  private var tokens: SourceTokens { text.tokens }

  private enum End: Equatable {
    /// Each path has called the callback.
    case completes
    case continues

    /// A path has left the `switch` or the loop around it, without its callback.
    case breaks
    case refused(String)
  }

  /// The reason why a path of the function does not call its callback; `nil` if each does.
  func refusal(in body: ClosedRange<Int>) -> String? {
    switch end(of: body.lowerBound + 1..<body.upperBound) {
    case .completes: nil
    case .continues, .breaks: "a path through it ends without calling its callback"
    case .refused(let reason): reason
    }
  }

  private func end(of range: Range<Int>) -> End {
    var breaks = false
    for statement in tokens.statements(in: range) {
      switch end(ofStatement: statement) {
      case .completes: return breaks ? .breaks : .completes
      // Other paths can go on to the next statement.
      case .breaks: breaks = true
      case .refused(let reason): return .refused(reason)
      case .continues: break
      }
    }
    return breaks ? .breaks : .continues
  }

  private func end(ofStatement statement: Range<Int>) -> End {
    var start = statement.lowerBound
    // A label, as in `rows: for row in rows {`.
    if SourceTokens.isWord(tokens[start]), tokens[start + 1] == ":", start + 2 < statement.upperBound { start += 2 }
    if text.ownArguments(start) != nil { return .completes }
    if let hop = QueueHop(at: start, of: text.own?.queueName, in: tokens) { return end(of: hop.content) }
    if let call = text.calls[start] {
      let found = end(of: call)
      return found == .continues && call.site.use == .returned ? refusedEnd(statement) : found
    }
    switch tokens[start] {
    case "break":
      // With a label, `break` can leave an outer statement.
      return statement.count == 1
        ? .breaks : .refused("line \(tokens.line(start)) can leave without calling its callback")
    case "continue": return .breaks
    case "return": return .refused("line \(tokens.line(start)) returns without calling its callback")
    case "throw", "fatalError", "preconditionFailure": return .completes
    case "if": return joined(tokens.blocks(of: statement), isComplete: hasElse(statement))
    case "guard":
      if text.guardOfSelf(start) != nil { return .continues }
      let found = joined(tokens.blocks(of: statement), isComplete: true)
      return found == .completes ? .continues : found == .continues ? refusedEnd(statement) : found
    case "switch":
      guard let brace = statement.first(where: { tokens[$0] == "{" && tokens.parent($0) == tokens.parent(start) })
      else {
        return .continues
      }
      return outside(joined(tokens.cases(brace), isComplete: true))
    case "do":
      let blocks = tokens.blocks(of: statement)
      guard let brace = blocks.first.map({ $0.lowerBound - 1 }) else { return .continues }
      return joined(blocks, isComplete: tokens[brace] == "{")
    case "for", "while", "repeat":
      return outside(joined(tokens.blocks(of: statement), isComplete: false))
    default: return .continues
    }
  }

  /// The end of a `switch` or a loop: after a `break` inside, the path continues.
  private func outside(_ end: End) -> End { end == .breaks ? .continues : end }

  private func refusedEnd(_ statement: Range<Int>) -> End {
    .refused("line \(tokens.line(statement.lowerBound)) returns without calling its callback")
  }

  private func joined(_ ranges: [Range<Int>], isComplete: Bool) -> End {
    let ends = ranges.map(end(of:))
    if let refused = ends.first(where: { if case .refused = $0 { true } else { false } }) { return refused }
    if ends.contains(.breaks) { return .breaks }
    return isComplete && !ends.isEmpty && ends.allSatisfy { $0 == .completes } ? .completes : .continues
  }

  private func hasElse(_ statement: Range<Int>) -> Bool {
    statement.contains {
      tokens[$0] == "else" && tokens[$0 + 1] == "{" && tokens.parent($0) == tokens.parent(statement.lowerBound)
    }
  }

  private func end(of call: AwaitedCall) -> End {
    guard let brace = call.site.callback else { return .completes }
    let body = text.code(of: brace)
    if case .successOrFailure = call.form {
      guard let failure = call.site.failure else {
        return call.site.arguments.map(tokens.arguments)?.contains {
          $0.value.count == 1 && tokens[$0.value.lowerBound] == text.own?.failureName
        } == true
          ? end(of: body)
          : .refused("a failure of the call on line \(tokens.line(call.site.name)) does not reach its callback")
      }
      return joined([body, text.code(of: failure)], isComplete: true)
    }
    if !text.isWhole, let split = CallbackSplit(tokens, call.form, text.parameters(brace), body) {
      return joined([split.success, split.failure], isComplete: true)
    }
    return end(of: body)
  }
}
