import Synchronization

/// A state whose changes a test can await.
final class Watched<State: Sendable>: Sendable {
  private struct Waiter: Sendable {
    let isMet: @Sendable (State) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private let storage: Mutex<(state: State, waiters: [Int: Waiter], lastNumber: Int)>

  init(_ state: State) { storage = Mutex((state, [:], 0)) }

  var state: State { storage.withLock { $0.state } }

  @discardableResult
  func change<Answer: Sendable>(_ change: @Sendable (inout State) -> Answer) -> Answer {
    let (answer, done) = storage.withLock { storage in
      let answer = change(&storage.state)
      let done = storage.waiters.filter { $0.value.isMet(storage.state) }
      for number in done.keys { storage.waiters[number] = nil }
      return (answer, done.values.map(\.continuation))
    }
    for continuation in done { continuation.resume() }
    return answer
  }

  /// Returns when the state fulfils the condition; throws when the time limit of the test cancels its tasks.
  func until(_ isMet: @escaping @Sendable (State) -> Bool) async throws {
    let number = storage.withLock { storage in
      storage.lastNumber += 1
      return storage.lastNumber
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDone = storage.withLock { storage in
          if isMet(storage.state) || Task.isCancelled { return true }
          storage.waiters[number] = Waiter(isMet: isMet, continuation: continuation)
          return false
        }
        if isDone { continuation.resume() }
      }
    } onCancel: {
      storage.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume()
    }
    try Task.checkCancellation()
  }
}
