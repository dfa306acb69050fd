/// The text that the tool writes itself for a call, or for a function with a callback.
enum OwnText {
  /// The text for a call in async code, with the calls in its callback.
  static func of(
    _ call: CallbackCall,
    in tokens: SourceTokens,
    _ calls: [CallbackCall],
    _ functions: [AwaitableFunction]
  ) -> Result<String, ConvertedText.Refusal> {
    guard let site = call.site else { return .failure(ConvertedText.Refusal("it is no call")) }
    if let line = conditionalLine(site.start...site.end, tokens) {
      return .failure(ConvertedText.Refusal("it has an `#if` on line \(line), of which the compiler sees one branch"))
    }
    let inside = checked(call, calls, functions)
    do throws(ConvertedText.Refusal) {
      let start = AsyncText.statementStart(of: site)
      let new = try keepingComments(SourceTokens(String(tokens.text(start...site.end)))) {
        isWhole throws(ConvertedText.Refusal) in
        try AsyncText(tokens, inside.compactMap { awaited($0, functions) }, isWhole: isWhole).copy(start..<site.end + 1)
      }
      return .success(new)
    } catch {
      return .failure(error)
    }
  }

  /// The checked calls that are converted together: a call, and those in its callback.
  static func checked(
    _ call: CallbackCall,
    _ calls: [CallbackCall],
    _ functions: [AwaitableFunction]
  ) -> [CallbackCall] {
    guard let site = call.site else { return [] }
    return calls.filter { other in
      other.path == call.path && other.callClass == .ready && functions[other.target].hasCounterpart
        && (other.scope?.outerCalls.contains(site.name) == true || other.site?.name == site.name)
    }
  }

  /// The body of a function as an async function, without its braces.
  static func body(
    of function: AwaitableFunction,
    _ text: FunctionText,
    _ inside: [CallbackCall],
    in tokens: SourceTokens,
    _ functions: [AwaitableFunction]
  ) throws(ConvertedText.Refusal) -> String {
    guard let form = function.form, let braces = text.body else {
      throw ConvertedText.Refusal("its callback gets a failure inside a value")
    }
    let own = OwnCallback(
      name: function.callbackName,
      failureName: function.failureName,
      queueName: MainQueueHops.queue(of: function, in: braces, inside, tokens),
      form: form,
      function: text.name
    )
    if let line = conditionalLine(braces, tokens) {
      throw ConvertedText.Refusal("it has an `#if` on line \(line), of which the compiler sees one branch")
    }
    let new = try keepingComments(SourceTokens(String(tokens.text(braces)))) { isWhole throws(ConvertedText.Refusal) in
      let writer = AsyncText(tokens, inside.compactMap { awaited($0, functions) }, own: own, isWhole: isWhole)
      if let reason = CompletionPaths(text: writer).refusal(in: braces) { throw ConvertedText.Refusal(reason) }
      return try writer.text(braces.lowerBound + 1..<braces.upperBound)
    }
    let written = SourceTokens(new)
    if let queue = own.queueName, written.uses(queue, in: written.items.indices) {
      throw ConvertedText.Refusal("it uses `\(queue)` for more than its callback")
    }
    // A `return` without a value is not needed at the end of a function.
    guard form.valueCount == 0, let last = written.items.last, last.text == "return",
      last.range.upperBound == new.utf8.count
    else { return new }
    let rest = new.dropLast("return".count)
    return rest.last?.isWhitespace == true && rest.trimmed.last != "{" ? String(rest.trimmed) : new
  }

  /// The shorter text if it keeps all comments, and otherwise the text in which each callback stays whole.
  private static func keepingComments(
    _ old: SourceTokens,
    _ write: (_ isWhole: Bool) throws(ConvertedText.Refusal) -> String
  ) throws(ConvertedText.Refusal) -> String {
    let short = try write(false)
    if hasComments(of: old, SourceTokens(short)) { return short }
    let whole = try write(true)
    guard hasComments(of: old, SourceTokens(whole)) else { throw ConvertedText.Refusal("a comment would be lost") }
    return whole
  }

  private static func conditionalLine(_ range: ClosedRange<Int>, _ tokens: SourceTokens) -> Int? {
    range.first { tokens[$0] == "#if" }.map(tokens.line)
  }

  /// The call with the facts that its await needs; `nil` if the tool cannot await it.
  static func awaited(_ call: CallbackCall, _ functions: [AwaitableFunction]) -> AwaitedCall? {
    let function = functions[call.target]
    guard let site = call.site, let form = function.form else { return nil }
    return AwaitedCall(
      site: site,
      form: form,
      name: function.counterpartName,
      omitted: function.omittedLabels,
      queue: function.called.queue,
      canThrow: function.canCounterpartThrow,
      isSync: function.isSync
    )
  }

  private static func hasComments(of old: SourceTokens, _ new: SourceTokens) -> Bool {
    let own: Set<String> = ["// The callback ignored the failure.", "// The callback did not come."]
    return old.comments.sorted() == new.comments.filter({ !own.contains($0) }).sorted()
  }
}
