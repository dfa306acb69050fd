import Synchronization

typealias Completion<Value> = @Sendable (Result<Value, any Error>) -> Void

/// Calls back exactly once: ignores a second answer, and fails if it is released without an answer.
final class Once<Value: Sendable>: Sendable {
  private let completion: Mutex<Completion<Value>?>

  init(_ completion: @escaping Completion<Value>) { self.completion = Mutex(completion) }

  deinit { self(.failure(NewsError.unanswered)) }

  func callAsFunction(_ result: Result<Value, any Error>) {
    let completion = completion.withLock { completion in
      defer { completion = nil }
      return completion
    }
    completion?(result)
  }
}
