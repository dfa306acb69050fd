internal import Futures

/// Where the API of a callback is called from, and what it is called.
struct CallbackSite: Sendable {
  let label: String?
  let fileID: String
  let line: UInt

  /// The error of a call whose callback went away.
  var brokenPromise: BrokenPromise { BrokenPromise(label: label, fileID: fileID, line: line) }

  /// The error of a callback that gave neither a value nor an error.
  var contractViolation: CallbackContractViolation {
    CallbackContractViolation(label: label, fileID: fileID, line: line)
  }
}

/// What a call of `withCallback` and its callback share: a place for one result.
///
/// The first of three decides, under the lock: a result, the loss of the callback, the cancellation of the task. What the
/// others bring is released, outside the lock.
final class CallbackSlot<Value>: @unchecked Sendable {
  // @unchecked: a result is handed over: whoever brings it gives it away, and the task is the only one that takes it.
  private typealias Handler = @Sendable () -> Void

  private struct State {
    enum Phase {
      /// Nothing has happened. Next is `waiting` or `over`.
      case idle
      /// The task is suspended, or about to be. Next is `over`.
      case waiting(UnsafeContinuation<Void, Never>)
      /// It is decided. Final.
      case over
    }

    var phase = Phase.idle
    var handlers: [Handler] = []
    var isCancelled = false

    /// Whether the callback was called.
    var isCalled = false

    /// What the task is to take.
    var result: Result<Value, any Error>?
  }

  let site: CallbackSite
  private let state = Locked(State())

  init(_ site: CallbackSite) { self.site = site }

  /// Notes that the task is suspended.
  /// - Returns: Whether it was not cancelled before.
  func begin(_ continuation: UnsafeContinuation<Void, Never>, onCancel: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard case .idle = state.phase else { return false }
      state.phase = .waiting(continuation)
      state.handlers = [onCancel]
      return true
    }
  }

  /// Takes the result; only the task does, once it has been resumed.
  func takeResult() -> sending Result<Value, any Error> {
    // Unsafe: whoever brought the result gave it away, and nothing of it is left here.
    nonisolated(unsafe) let result = state.withLock { state in
      defer { state.result = nil }
      return state.result
    }
    guard let result else { preconditionFailure("A task was resumed although its callback had no result.") }
    return result
  }

  /// Notes a call of the callback, and resumes the task if nothing came before it.
  func resume(with result: sending Result<Value, any Error>) {
    let isSecond = state.withLock { state in
      defer { state.isCalled = true }
      // What comes after a cancellation comes too late, which is no mistake.
      return state.isCalled && !state.isCancelled
    }
    decide(result)
    if isSecond { FuturesDiagnostics.reportResolvedTwice(label: site.label) }
  }

  /// Notes that nobody can call the callback any more.
  func loseCallback() {
    decide(.failure(site.brokenPromise))
  }

  private func decide(_ result: sending Result<Value, any Error>) {
    var previous = end(with: result, isCancelled: false)
    guard case .waiting(let continuation) = previous.phase else { return }
    // Released here, outside the lock, and before the call returns.
    previous.handlers = []
    continuation.resume()
  }

  /// Has the call throw `CancellationError`, unless it is decided, when all handlers have run.
  func cancel() {
    var previous = end(with: .failure(CancellationError()), isCancelled: true)
    guard case .waiting(let continuation) = previous.phase else { return }
    for handler in previous.handlers { handler() }
    // Released before the call returns.
    previous.handlers = []
    continuation.resume()
  }

  /// Decides, unless that is done.
  /// - Returns: The phase before, and the handlers that can no longer run, or are to run now.
  private func end(
    with result: Result<Value, any Error>,
    isCancelled: Bool
  ) -> (phase: State.Phase, handlers: [Handler]) {
    state.withLock { state in
      if case .over = state.phase { return (.over, []) }
      defer {
        state.phase = .over
        state.handlers = []
        state.isCancelled = isCancelled
        state.result = result
      }
      return (state.phase, state.handlers)
    }
  }

  /// Adds a handler for the cancellation; runs it at once if it was cancelled, and releases it if it is over otherwise.
  func addHandler(_ handler: @escaping @Sendable () -> Void) {
    let isCancelled = state.withLock { state in
      if case .waiting = state.phase { state.handlers.append(handler) }
      return state.isCancelled
    }
    if isCancelled { handler() }
  }
}
