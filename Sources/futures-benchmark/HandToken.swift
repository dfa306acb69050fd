/// The floor of C9 and B7: a lock and a list of handlers, written by hand.
///
/// The token can remove a handler, and runs a handler at once that is registered after the cancellation. A handler does
/// not refer to its token, so a removal needs both. Every function that a row calls is out of line, as in a library.
final class HandToken: Sendable {
  /// A handler, and its neighbours in the list.
  final class Handler: @unchecked Sendable {
    // @unchecked: the lock of the token protects the links until `cancel` takes the list. After that, the rows remove none.
    let run: @Sendable () -> Void
    fileprivate var next: Handler?
    fileprivate unowned(unsafe) var previous: Handler?

    fileprivate init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private struct State {
    var isCancelled = false
    var first: Handler?
    unowned(unsafe) var last: Handler?
  }

  private let state = Mutex(State())

  @inline(never)
  init() {}

  @inline(never)
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  @inline(never) @discardableResult
  func register(_ run: @escaping @Sendable () -> Void) -> Handler {
    let handler = Handler(run)
    let runsNow = state.withLock { state in
      if state.isCancelled { return true }
      handler.previous = state.last
      if let last = state.last { last.next = handler } else { state.first = handler }
      state.last = handler
      return false
    }
    if runsNow { run() }
    return handler
  }

  @inline(never)
  func remove(_ handler: Handler) {
    state.withLock { state in
      guard handler.previous != nil || state.first === handler else { return }  // it is not in the list
      if let previous = handler.previous { previous.next = handler.next } else { state.first = handler.next }
      if let next = handler.next { next.previous = handler.previous } else { state.last = handler.previous }
      handler.previous = nil
      handler.next = nil
    }
  }

  @inline(never)
  func cancel() {
    var handler = state.withLock { state in
      defer { (state.first, state.last) = (nil, nil) }
      state.isCancelled = true
      return state.first
    }
    while let current = handler {
      current.run()
      handler = current.next
      current.next = nil  // so that handlers are released one after another, without recursion
    }
  }
}
