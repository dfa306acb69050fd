#if canImport(Darwin)
  import Futures
#else
  import Synchronization
#endif

/// The floor of C9: a lock and a list of handlers, written by hand.
///
/// It has removal, and runs a handler that comes too late at once, as a token does. Its handlers know no token, so that removal
/// needs both, and nothing is kept for a second cancellation. The entries are out of line, as calls into a library are.
final class HandToken: @unchecked Sendable {
  // @unchecked: the lock protects the list.

  /// A handler, and its neighbours in the list.
  final class Handler: @unchecked Sendable {
    // @unchecked: the lock of the token protects the links.
    let run: @Sendable () -> Void
    fileprivate var next: Handler?
    fileprivate unowned(unsafe) var previous: Handler?

    fileprivate init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private let state = Mutex(false)
  private var first: Handler?
  private unowned(unsafe) var last: Handler?

  @inline(never)
  init() {}

  @inline(never)
  var isCancelled: Bool { state.withLock { $0 } }

  @inline(never) @discardableResult
  func register(_ run: @escaping @Sendable () -> Void) -> Handler {
    let handler = Handler(run)
    let runsNow = state.withLock { isCancelled in
      if isCancelled { return true }
      handler.previous = last
      if let last { last.next = handler } else { first = handler }
      last = handler
      return false
    }
    if runsNow { run() }
    return handler
  }

  @inline(never)
  func remove(_ handler: Handler) {
    state.withLock { _ in
      guard handler.previous != nil || first === handler else { return }
      if let previous = handler.previous { previous.next = handler.next } else { first = handler.next }
      if let next = handler.next { next.previous = handler.previous } else { last = handler.previous }
      handler.previous = nil
      handler.next = nil
    }
  }

  @inline(never)
  func cancel() {
    var handler = state.withLock { isCancelled in
      isCancelled = true
      defer { (first, last) = (nil, nil) }
      return first
    }
    while let current = handler {
      current.run()
      handler = current.next
      current.next = nil
    }
  }
}
