/// The text that the tool writes itself for a call, or for a function with a callback.
enum OwnText {
  /// The text for a call in async code, with the calls in its callback.
  static func of(
    _ call: CallbackCall,
    in tokens: SourceTokens,
    _ calls: [CallbackCall],
    _ functions: [MigratedFunction]
  ) -> Result<String, ConvertedText.Refusal> {
    guard let site = call.site else { return .failure(ConvertedText.Refusal("it is no call")) }
    if let line = conditionalLine(site.start...site.end, tokens) {
      return .failure(ConvertedText.Refusal("it has an `#if` on line \(line), of which the compiler sees one branch"))
    }
    let inside = calls.filter { other in
      other.path == call.path && other.callClass == .ready && functions[other.target].hasCounterpart
        && (other.scope?.outerCalls.contains(site.name) == true || other.site?.name == site.name)
    }
    let text = AsyncText(tokens, inside.compactMap { awaited($0, functions) })
    do throws(ConvertedText.Refusal) {
      let start = site.use == .discarded ? site.start - 2 : site.start
      let new = try text.copy(start..<site.end + 1)
      try compareComments(SourceTokens(String(tokens.text(start...site.end))), SourceTokens(new))
      return .success(new)
    } catch {
      return .failure(error)
    }
  }

  /// The body of a function as an async function, without its braces.
  static func body(
    of function: MigratedFunction,
    _ text: FunctionText,
    _ inside: [CallbackCall],
    in tokens: SourceTokens,
    _ functions: [MigratedFunction]
  ) throws(ConvertedText.Refusal) -> String {
    guard let form = function.form, let braces = text.body else {
      throw ConvertedText.Refusal("its callback gets a failure inside a value")
    }
    let own = OwnCallback(
      name: function.callbackName,
      failureName: function.failureName,
      form: form,
      function: text.name
    )
    if let line = conditionalLine(braces, tokens) {
      throw ConvertedText.Refusal("it has an `#if` on line \(line), of which the compiler sees one branch")
    }
    let writer = AsyncText(tokens, inside.compactMap { awaited($0, functions) }, own: own)
    if let reason = CompletionPaths(text: writer).refusal(in: braces) { throw ConvertedText.Refusal(reason) }
    let range = braces.lowerBound + 1..<braces.upperBound
    var new = try writer.text(range)
    try compareComments(SourceTokens(String(tokens.text(braces))), SourceTokens(new))
    // Nothing follows the last `return` of a function that returns nothing.
    if form.valueCount == 0, new.hasSuffix("\nreturn") { new = String(new.dropLast("\nreturn".count)) }
    return new
  }

  private static func conditionalLine(_ range: ClosedRange<Int>, _ tokens: SourceTokens) -> Int? {
    range.first { tokens[$0] == "#if" }.map(tokens.line)
  }

  private static func awaited(_ call: CallbackCall, _ functions: [MigratedFunction]) -> AwaitedCall? {
    let function = functions[call.target]
    guard let site = call.site, let form = function.form else { return nil }
    return AwaitedCall(
      site: site,
      form: form,
      name: function.counterpartName,
      omitted: function.omittedLabels,
      canThrow: function.canCounterpartThrow
    )
  }

  private static func compareComments(
    _ old: SourceTokens,
    _ new: SourceTokens
  ) throws(ConvertedText.Refusal) {
    let own: Set<String> = ["// The callback ignored the failure.", "// The callback did not come."]
    guard old.comments.sorted() != new.comments.filter({ !own.contains($0) }).sorted() else { return }
    throw ConvertedText.Refusal("a comment would be lost")
  }
}
