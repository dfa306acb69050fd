import Synchronization

/// Stops work in flight, whose callback then gets an error; has no effect on ended work.
protocol Cancellable: Sendable {
  func cancel()
}

/// Runs a closure when it is cancelled.
struct CancelAction: Cancellable {
  let action: @Sendable () -> Void

  func cancel() { action() }
}

/// A handle of work with several parts, some of which have not started yet.
final class CancelBag: Cancellable {
  private struct State {
    var parts: [any Cancellable] = []
    var isCancelled = false
  }

  private let state = Mutex(State())

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func add(_ part: any Cancellable) {
    let isLate = state.withLock { state in
      if !state.isCancelled { state.parts.append(part) }
      return state.isCancelled
    }
    if isLate { part.cancel() }
  }

  func cancel() {
    let parts = state.withLock { state in
      defer { state = State(isCancelled: true) }
      return state.parts
    }
    for part in parts { part.cancel() }
  }
}
