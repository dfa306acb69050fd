/// Finds out whether a function with a callback does the same as an async function.
///
/// The async function is written from its text: each call of the callback becomes a `return` or a `throw`.
struct FunctionChecks {
  let tokens: SourceTokens
  let function: MigratedFunction
  let text: FunctionText

  /// The calls in it.
  let calls: [CallbackCall]

  /// The reason why it stays; `nil` if it can be converted.
  var refusal: String? {
    guard let body = text.body else { return "it has no body" }
    if function.returnsValue { return "it returns a value besides its callback" }
    if !function.isPlain { return "it is a requirement, a witness or an override" }
    if calls.contains(where: \.ignoresFailure) || !calls.allSatisfy(\.looksAtResult) {
      return "a failure inside it does not reach its callback"
    }
    var callbacks: [Int: CallSite] = [:]
    for site in calls.compactMap(\.site) { if let brace = site.callback { callbacks[brace] = site } }
    var uses = 0
    for index in body where tokens[index] == function.callbackName && tokens[index - 1] != "." {
      let isLabel = tokens[index + 1] == ":" && ["(", ","].contains(tokens[index - 1])
      if isLabel { continue }
      uses += 1
      if calls.contains(where: { passesOn($0, index) }) { continue }
      if let reason = refusal(ofUse: index, callbacks) { return reason }
    }
    if uses == 0 { return "it never calls its callback" }
    return function.isVoid ? pathRefusal(body, uses) : nil
  }

  private func passesOn(_ call: CallbackCall, _ index: Int) -> Bool {
    guard let site = call.site, site.callback == nil, let arguments = site.arguments else { return false }
    return arguments.upperBound - 1 == index
  }

  private func refusal(ofUse index: Int, _ callbacks: [Int: CallSite]) -> String? {
    let line = tokens.line(index)
    let isReturned = tokens[index - 1] == "return"
    guard let site = CallSite(name: index, in: tokens, label: ""), site.use == .statement || isReturned else {
      return "line \(line) uses its callback without calling it"
    }
    let scope = CallScope(of: site, in: tokens, callbacks: callbacks)
    guard case .function(let name, _) = scope.boundary, name == text.name else {
      return "line \(line) calls its callback in a closure that is not awaited"
    }
    if scope.levels.contains(where: { $0.block == .loop || $0.block == .deferred }) {
      return "line \(line) calls its callback in a loop or a `defer`"
    }
    if isReturned { return nil }
    return tokens.statement(after: scope).map { "line \(tokens.line($0)) runs after its callback" }
  }

  /// The compiler finds the paths that return no value, but not those that return nothing and called nothing.
  private func pathRefusal(_ body: ClosedRange<Int>, _ uses: Int) -> String? {
    let words: Set<String> = ["if", "guard", "switch", "return", "for", "while", "do", "try"]
    guard uses == 1, !body.contains(where: { words.contains(tokens[$0]) }) else {
      return "nothing shows that each path through it calls its callback"
    }
    return nil
  }
}
