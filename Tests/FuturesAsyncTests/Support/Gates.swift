internal import Futures

/// A gate at which tasks wait, also when cancelled, until the test opens it.
final class Gate: Sendable {
  private enum State {
    /// Becomes `open`.
    case closed([UnsafeContinuation<Void, Never>])
    /// Final.
    case open
  }

  private let state = Locked(State.closed([]))

  nonisolated(nonsending) func pass() async {
    await withUnsafeContinuation { continuation in
      let isOpen = state.withLock { state in
        guard case .closed(let waiting) = state else { return true }
        state = .closed(waiting + [continuation])
        return false
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state -> [UnsafeContinuation<Void, Never>] in
      defer { state = .open }
      if case .closed(let waiting) = state { return waiting }
      return []
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// A queue of events that any thread sends and one test receives.
final class Inbox<Event: Sendable>: Sendable {
  private let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation

  init() {
    (events, continuation) = AsyncStream.makeStream()
  }

  func send(_ event: Event) { continuation.yield(event) }

  /// Waits for the next event.
  func next() async -> Event? {
    var iterator = events.makeAsyncIterator()
    return await iterator.next()
  }

  /// Waits for the next `count` events and returns them in the order of their arrival.
  func next(_ count: Int) async -> [Event] {
    var taken: [Event] = []
    while taken.count < count, let event = await next() { taken.append(event) }
    return taken
  }
}

/// The only reference to an object, as an API holds it; a test drops it from any thread.
final class HeldReference<Object: Sendable>: Sendable {
  private let object: Locked<Object?>

  init(_ object: Object? = nil) { self.object = Locked(object) }

  /// The object; `nil` before `hold(_:)` and after `drop()`.
  var current: Object? { object.withLock { $0 } }

  func hold(_ object: Object) { self.object.withLock { $0 = object } }

  func drop() {
    let dropped = object.withLock { $0.take() }
    _ = dropped  // released here, outside the lock
  }
}

/// A task-local value, which callbacks of a resolving task must not see.
enum Local {
  @TaskLocal static var name = "none"
}

/// A failure type with a cancelled case.
enum Interruption: Error, Equatable, CancellableFailure {
  case failed
  case wasCancelled

  static var cancelled: Interruption { .wasCancelled }
}

/// An error with an identity.
final class ReferenceError: Error {}
