internal import Futures

/// A door at which tasks wait until the test opens it; not even cancellation lets them pass before.
final class Gate: Sendable {
  private enum State {
    /// Next is `open`.
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

/// What comes in from any thread, for a test that waits for it.
final class Inbox<Event: Sendable>: Sendable {
  private let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation

  init() {
    (events, continuation) = AsyncStream.makeStream()
  }

  func send(_ event: Event) { continuation.yield(event) }

  /// The next event.
  func next() async -> Event? {
    var iterator = events.makeAsyncIterator()
    return await iterator.next()
  }

  /// The next `count` events, in the order in which they came.
  func next(_ count: Int) async -> [Event] {
    var taken: [Event] = []
    while taken.count < count, let event = await next() { taken.append(event) }
    return taken
  }
}

/// The only reference to an object, which the test drops when it wants, from any thread.
final class Dropping<Object: AnyObject & Sendable>: Sendable {
  private let object: Locked<Object?>

  init(_ object: Object) { self.object = Locked(object) }

  func drop() {
    let dropped = object.withLock { $0.take() }
    _ = dropped  // released here, outside the lock
  }
}

/// What a task passes on, and what a callback must not see.
enum Local {
  @TaskLocal static var name = "none"
}

/// A failure that can say that the work was cancelled.
enum Interruption: Error, Equatable, CancellableFailure {
  case failed
  case wasCancelled

  static var cancelled: Interruption { .wasCancelled }
}

/// An error with an identity.
final class ReferenceError: Error {}
