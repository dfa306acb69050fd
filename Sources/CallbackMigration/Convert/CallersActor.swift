/// Finds out whether a function reads state on the thread of its caller, before its work begins.
///
/// Its async counterpart has to start on the actor of its caller, as a counterpart of `generate` does.
struct CallersActor {
  let calls: [CallbackCall]
  let functions: [AwaitableFunction]
  let files: SourceFiles

  /// Whether a function reads state at once, itself or in a function that it calls at once.
  func isNeeded(by index: Int) -> Bool {
    var seen: Set<Int> = []
    return isNeeded(by: index, &seen)
  }

  private func isNeeded(by index: Int, _ seen: inout Set<Int>) -> Bool {
    guard seen.insert(index).inserted else { return false }
    let function = functions[index]
    let tokens = files.tokens(function.path)
    guard let body = function.text(in: tokens)?.body else { return false }
    let names = [function.callbackName, function.failureName].compactMap(\.self)
    if StateReads(in: body, names, tokens).first != nil { return true }
    for call in calls where call.owner == index {
      guard let site = call.site, tokens.closureOrFunction(around: site.name) == body.lowerBound else { continue }
      if isNeeded(by: call.target, &seen) { return true }
    }
    return false
  }
}
