import Answers
import Dispatch

private let place = DispatchSpecificKey<String>()

@MainActor private func show<Value>(
  _ name: String,
  _ start: (@escaping @Sendable (Value) -> Void) -> Void
) async {
  let line: String = await withCheckedContinuation { continuation in
    start { continuation.resume(returning: "\($0) on \(DispatchQueue.getSpecific(key: place) ?? "another queue")") }
  }
  print("\(name): \(line)")
}

/// Calls each generated callback function, and prints its result and its queue.
@main @MainActor struct RunAnswers {
  static func main() async {
    DispatchQueue.main.setSpecific(key: place, value: "main")
    let answers = Answers()
    await show("number") { answers.number(1, completion: $0) }
    await show("wrong number") { answers.number(0, completion: $0) }
    await show("typed") { (done: @escaping @Sendable (Result<String, Answers.Wrong>) -> Void) in
      answers.typed(0, completion: done)
    }
    await show("save") { answers.save(completion: $0) }
    await show("count") { answers.count(completion: $0) }
    await show("ping") { (done: @escaping @Sendable (String) -> Void) in answers.ping { done("pong") } }
    await show("elsewhere") { answers.elsewhere(completion: $0) }
    await show("same") { answers.same("same", completion: $0) }
    await show("shared") { Answers.shared(completion: $0) }
    await show("desk") { Desk().next(completion: $0) }
    await show("board") { Board().title(completion: $0) }
  }
}
