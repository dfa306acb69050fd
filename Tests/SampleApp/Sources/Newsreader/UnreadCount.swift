import Synchronization

/// The number of unread articles.
final class UnreadCount: Sendable {
  private struct State {
    var count = 0
    var listeners: [Int: @Sendable (Int) -> Void] = [:]
  }

  private let state = Mutex(State())
  private let numbers = Counter()

  var listenerCount: Int { state.withLock { $0.listeners.count } }

  func set(_ count: Int) {
    let listeners = state.withLock { state in
      state.count = count
      return state.listeners.sorted { $0.key < $1.key }.map(\.value)
    }
    for listener in listeners { listener(count) }
  }

  /// Calls back with the count, and with each new one, until it is cancelled.
  func listen(_ listener: @escaping @Sendable (Int) -> Void) -> any Cancellable {
    let number = numbers.next()
    let count = state.withLock { state in
      state.listeners[number] = listener
      return state.count
    }
    listener(count)
    return CancelAction { self.state.withLock { _ = $0.listeners.removeValue(forKey: number) } }
  }
}
