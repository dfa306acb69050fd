import Futures
import FuturesAsync

// The code below the line is in Recipes.md. `ScreenRecipeTests` compares both.

// ----

actor Preferences {
  private var values: [String: Int] = [:]

  func set(_ key: String, _ value: Int) { values[key] = value }
  func get(_ key: String) -> Int? { values[key] }

  // The old signatures. Calls of one thread run in the order in which it makes them.
  nonisolated func set(_ key: String, _ value: Int, completion: @escaping @Sendable () -> Void) {
    Future(on: self) { $0.set(key, value) }.whenResolved(on: .immediate) { _ in completion() }
  }

  nonisolated func get(_ key: String, completion: @escaping @Sendable (Int?) -> Void) {
    Future(on: self) { $0.get(key) }.whenSucceeded(on: .immediate, completion)
  }
}

final class Journal: Sendable {
  private let server = JournalServer()
  private let calls = SerialQueue()

  func append(_ line: String, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    _ = calls.future { [server] in
      do {
        completion(.success(try await server.append(line)))
      } catch {
        completion(.failure(error))
      }
    }
  }
}
