/// Finds out whether a function with a callback does the same as an async function.
///
/// The tool writes the async function from the old text: each call of the callback becomes a `return` or a `throw`.
struct FunctionChecks {
  let tokens: SourceTokens
  let function: AwaitableFunction
  let text: FunctionText

  /// The calls in the function.
  let calls: [CallbackCall]

  /// The reason why the function stays; `nil` if it can be converted.
  var refusal: String? {
    guard let body = text.body else { return "it has no body" }
    if function.returnsValue { return "it returns a value besides its callback" }
    if !function.isPlain { return "a call of it can run another body: that of a type that conforms, or of a subclass" }
    var callbacks: [Int: CallSite] = [:]
    for site in calls.compactMap(\.site) {
      for brace in [site.callback, site.failure].compactMap(\.self) { callbacks[brace] = site }
    }
    var uses = 0
    let names = [function.callbackName, function.failureName].compactMap(\.self)
    let queue = MainQueueHops.queue(of: function, in: body, calls, tokens)
    for hop in body.compactMap({ QueueHop(at: $0, of: queue, in: tokens) }) {
      guard ForwardingCheck(tokens: tokens, callbacks: names, queue: queue).onlyForwards(hop.content) else {
        return "the closure on line \(tokens.line(hop.brace)) does more on the queue of the callback than call it"
      }
      callbacks[hop.brace] = hop.site
    }
    for index in body where names.contains(tokens[index]) && tokens[index - 1] != "." {
      let isLabel =
        tokens[index + 1] == ":" && (["(", ","].contains(tokens[index - 1]) || tokens[index + 2] == "{")
      if isLabel || isCaptured(index) { continue }
      uses += 1
      if let call = calls.first(where: { passesOn($0, index) }) {
        if let reason = refusal(ofPassing: call, at: index) { return reason }
        continue
      }
      if let reason = refusal(ofUse: index, callbacks) { return reason }
    }
    if uses == 0 { return "it never calls its callback" }
    return nil
  }

  /// Whether a token stands in the capture list of a closure, as in `[completion] result in`.
  private func isCaptured(_ index: Int) -> Bool {
    guard let open = tokens.parent(index), let brace = tokens.parent(open), tokens[brace] == "{" else { return false }
    let isWhole = ["[", ","].contains(tokens[index - 1]) && ["]", ","].contains(tokens[index + 1])
    return isWhole && tokens.closureSignature(at: brace)?.captures?.lowerBound == open
  }

  private func passesOn(_ call: CallbackCall, _ index: Int) -> Bool {
    guard let site = call.site, let arguments = site.arguments, site.name < index else { return false }
    return tokens.arguments(in: arguments).contains { $0.value == index..<index + 1 }
  }

  /// Refuses code after a call that gets the callback: it would never run, and `--allow` does not accept that.
  private func refusal(ofPassing call: CallbackCall, at index: Int) -> String? {
    guard let site = call.site, let scope = call.scope, site.use != .returned else { return nil }
    return repetition(scope, at: index, isLast: false) ?? laterStatement(scope)
  }

  /// Refuses a call that can run twice; `isLast` says that a `return` follows, which also leaves the loops around it.
  private func repetition(_ scope: CallScope, at index: Int, isLast: Bool) -> String? {
    var isLast = isLast
    for level in scope.levels {
      switch level.block {
      case .loop where isLast: break
      case .loop, .deferred: return "line \(tokens.line(index)) calls its callback in a loop or a `defer`"
      // The `return` leaves this closure, and not the loop around it.
      case .closure: isLast = false
      default: break
      }
    }
    return nil
  }

  /// Whether a call and the bare `return` after it end a block.
  private func isBeforeReturn(_ site: CallSite) -> Bool {
    let word = tokens[site.end + 1] == ";" ? site.end + 2 : site.end + 1
    let next = tokens[word + 1] == ";" ? word + 2 : word + 1
    return tokens[word] == "return" && ["}", "case", "default", "@unknown"].contains(tokens[next])
  }

  private func laterStatement(_ scope: CallScope) -> String? {
    tokens.statement(after: scope).map { "line \(tokens.line($0)) runs after its callback" }
  }

  private func refusal(ofUse index: Int, _ callbacks: [Int: CallSite]) -> String? {
    let line = tokens.line(index)
    let isReturned = tokens[index - 1] == "return"
    // As in `completion?(x)`.
    let name = ["?", "!"].contains(tokens[index + 1]) && tokens[index + 2] == "(" ? index + 1 : index
    if name == index, [",", ")"].contains(tokens[index + 1]), let open = tokens.parent(index), tokens[open] == "(" {
      return "line \(line) passes its callback to `\(tokens[open - 1])`, whose calls cannot be awaited"
    }
    guard let site = CallSite(name: name, in: tokens, label: ""), isStatement(site, index) || isReturned else {
      return "line \(line) uses its callback without calling it"
    }
    let scope = CallScope(of: site, in: tokens, callbacks: callbacks)
    guard case .function(let name, _) = scope.boundary, name == text.name else {
      return "line \(line) calls its callback in a closure that is not awaited"
    }
    if let reason = repetition(scope, at: index, isLast: isReturned || isBeforeReturn(site)) { return reason }
    if let found = deferred(before: index, scope) {
      return
        "the `defer` on line \(tokens.line(found)) ran after its callback, and would run before the code after an await"
    }
    return isReturned ? nil : laterStatement(scope)
  }

  private func deferred(before index: Int, _ scope: CallScope) -> Int? {
    for level in scope.levels {
      let before = level.brace + 1..<index
      if let found = before.first(where: { tokens[$0] == "defer" && tokens.parent($0) == level.brace }) { return found }
    }
    return nil
  }

  private func isStatement(_ site: CallSite, _ index: Int) -> Bool {
    if site.use == .statement { return true }
    let next = site.end + 1
    let ends = ["}", ";"].contains(tokens[next]) || tokens.isFirstOnLine(next)
    return site.name != index && ends && tokens.statementStart(before: index + 1) == index
  }
}
