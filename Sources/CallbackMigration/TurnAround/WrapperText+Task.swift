/// Wrappers for targets that do not depend on the library.
extension WrapperText {
  /// A task that awaits the counterpart, and calls the callback on its queue.
  func taskLines(_ outcome: Outcome) throws(CallRefusal) -> [String] {
    let success = [hasValue ? "let \(value) = \(work)" : work, try delivery(outcome.success)]
    guard canThrow, let failure = outcome.failure else { return ["Task {"] + success + ["}"] }
    let start = typedFailure.map { "do throws(\($0)) {" } ?? "do {"
    return ["Task {", start] + success + ["} catch {", try delivery(failure(try caughtError)), "}", "}"]
  }

  /// A call on the queue of the callback.
  private func delivery(_ call: String) throws(CallRefusal) -> String {
    // The task is on the main actor, too.
    if context == ".main", function.globalActor == "@MainActor" { return call }
    if context == ".main" || context.hasPrefix(".global(") { return "DispatchQueue\(context).async { \(call) }" }
    guard context.hasPrefix(".queue(") else { throw CallRefusal("a task has no context `\(context)`") }
    return "\(context.dropFirst(".queue(".count).dropLast()).async { \(call) }"
  }
}
