internal import Futures

/// The label and the source position of a wrapped callback, for errors.
struct CallbackSite: Sendable {
  let label: String?
  let place: StaticString
  let line: UInt

  var fileID: String { "\(place)" }

  /// Adds `object`, which waits for the callback, to the graph of pending work, if the program tracks such work.
  func track(_ object: any PendingSite, as kind: PendingEntry.Kind) {
    guard FuturesDiagnostics.mayTrackPendingFutures else { return }
    PendingFutures.shared.add(kind, object, label: label, fileID: place.staticPointer, line: line)
  }

  /// The error of a callback that was released without a call.
  var brokenPromise: BrokenPromise { BrokenPromise(label: label, fileID: fileID, line: line) }

  /// The error of a callback that passed neither a value nor an error.
  var contractViolation: CallbackContractViolation {
    CallbackContractViolation(label: label, fileID: fileID, line: line)
  }
}

/// The shared state of a `withCallback` call and its callback: a slot for one result.
///
/// Three events compete to fill the slot: a result, the release of the callback, and the cancellation of the task. The
/// first one wins, under the lock. A later result is released outside the lock.
final class CallbackSlot<Value>: @unchecked Sendable {
  // @unchecked: `state` is locked. A result is transferred into the slot, and only the task takes it out.
  private typealias Handler = @Sendable () -> Void

  private struct State {
    enum Phase {
      /// The task is not suspended yet. Next is `waiting` or `finished`.
      case idle
      /// The task is suspended, or about to be. Next is `cancelling` or `finished`.
      case waiting(UnsafeContinuation<Void, Never>)
      /// The task is cancelled, and a thread runs the handlers, including handlers added now. Next is `finished`.
      case cancelling
      /// The slot has its result, and no handler runs any more. Final.
      case finished
    }

    var phase = Phase.idle
    var handlers: [Handler] = []
    var isCancelled = false

    /// Whether the callback was called.
    var isCalled = false

    /// The result for the task, until the task takes it.
    var result: Result<Value, any Error>?
  }

  let site: CallbackSite
  private let cancelled: any Error
  private let dropped: any Error
  private let state = Locked(State())

  /// - Parameters:
  ///   - site: The label and the place of the callback.
  ///   - cancelled: The error of a cancelled call.
  ///   - dropped: The error of a callback that was released without a call; `nil` for `BrokenPromise`.
  init(_ site: CallbackSite, cancelled: any Error = CancellationError(), dropped: (any Error)? = nil) {
    self.site = site
    self.cancelled = cancelled
    self.dropped = dropped ?? site.brokenPromise
  }

  /// Suspends the task until the slot has a result.
  ///
  /// `start` calls the API, on the caller's actor. In a task that is already cancelled, this returns without running `start`.
  func wait(
    isolation: isolated (any Actor)?,
    onCancel: @escaping @Sendable () -> Void,
    _ start: () -> Void
  ) async {
    await withTaskCancellationHandler(
      operation: {
        await withUnsafeContinuation(isolation: isolation) { continuation in
          guard begin(continuation, onCancel: onCancel) else { return continuation.resume() }  // already cancelled
          site.track(self, as: .wrappedCallback)
          start()
        }
      },
      onCancel: { cancel() },
      isolation: isolation
    )
  }

  /// Stores the continuation of the suspended task, and the first cancellation handler.
  /// - Returns: `false` if `cancel` has already filled the slot. Then no work starts, and the caller resumes the task.
  func begin(_ continuation: UnsafeContinuation<Void, Never>, onCancel: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard case .idle = state.phase else { return false }
      state.phase = .waiting(continuation)
      state.handlers = [onCancel]
      return true
    }
  }

  /// Removes and returns the result; only the resumed task calls this.
  func takeResult() -> sending Result<Value, any Error> {
    // Unsafe: the result was transferred into the slot, and the slot keeps no reference to it.
    nonisolated(unsafe) let result = state.withLock { state in
      defer { state.result = nil }
      return state.result
    }
    guard let result else {
      preconditionFailure("withCallback resumed its task without a result. Report this as a bug in swift-futures.")
    }
    return result
  }

  /// Fills an empty slot with the callback's result, and resumes the task; reports a second call.
  func resume(with result: sending Result<Value, any Error>) {
    let isSecond = state.withLock { state in
      defer { state.isCalled = true }
      // After a cancellation a call is late, which is no misuse.
      return state.isCalled && !state.isCancelled
    }
    complete(with: result)
    if isSecond { FuturesDiagnostics.reportSecondCall(label: site.label, fileID: site.fileID, line: site.line) }
  }

  /// Fills an empty slot with the error of a dropped callback; the deinitializer of the callback calls this.
  func breakCallback() {
    complete(with: .failure(dropped))
  }

  /// Fills an empty slot, and resumes the task.
  private func complete(with result: sending Result<Value, any Error>) {
    guard var waiting = fill(with: result) else { return }  // the slot was full
    waiting.handlers = []  // releases the handlers outside the lock, and before `withCallback` returns
    waiting.task.resume()
  }

  /// Called when the task is cancelled: fills an empty slot with `cancelled`, runs all handlers, and resumes the task.
  func cancel() {
    guard case .waiting(let continuation) = beginCancelling() else { return }  // a full slot, or no suspended task yet
    // In batches, because a handler can add another one.
    while let handlers = takeHandlers() {
      for handler in handlers { handler() }
    }
    continuation.resume()
  }

  /// Stores the result, if the slot is empty.
  /// - Returns: The task to resume, and the handlers to release before that; `nil` if the slot was full.
  private func fill(
    with result: Result<Value, any Error>
  ) -> (task: UnsafeContinuation<Void, Never>, handlers: [Handler])? {
    state.withLock { state in
      // The slot is full while `cancelling` or `finished`. The phase is not `idle`, because a callback exists only after `begin`.
      guard case .waiting(let task) = state.phase else { return nil }
      defer { (state.phase, state.handlers, state.result) = (.finished, [], result) }
      return (task, state.handlers)
    }
  }

  /// Stores the error of a cancelled call, if the slot is empty.
  /// - Returns: The phase before the call: only after `waiting` does the caller run handlers and resume the task.
  private func beginCancelling() -> State.Phase {
    state.withLock { state in
      let previous = state.phase
      switch previous {
      case .idle: state.phase = .finished  // `begin` comes later, returns `false`, and its caller resumes the task
      case .waiting: state.phase = .cancelling  // until `takeHandlers` finds no more
      case .cancelling, .finished: return previous
      }
      state.isCancelled = true
      state.result = .failure(cancelled)
      return previous
    }
  }

  /// Removes and returns the handlers to run; if there are none, ends the cancellation and returns `nil`.
  private func takeHandlers() -> [Handler]? {
    state.withLock { state in
      guard !state.handlers.isEmpty else {
        state.phase = .finished
        return nil
      }
      defer { state.handlers = [] }
      return state.handlers
    }
  }

  /// Adds a cancellation handler; runs it at once if a cancellation has already run the others.
  ///
  /// Releases the handler without running it if the call has ended without a cancellation.
  func addHandler(_ handler: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      switch state.phase {
      case .waiting, .cancelling:
        state.handlers.append(handler)
        return false
      case .idle, .finished: return state.isCancelled  // while `idle`, no callback exists that could add a handler
      }
    }
    if isLate { handler() }
  }
}

extension CallbackSlot: PendingSite {
  var pendingStatus: PendingSiteStatus {
    let status = state.withLockIfAvailable { state -> PendingSiteStatus in
      switch state.phase {
      case .idle: .pending(isCancelled: false, task: nil)
      // A continuation is a reference to its task, in all versions of the runtime.
      case .waiting(let task): .pending(isCancelled: false, task: unsafeBitCast(task, to: UnsafeRawPointer.self))
      case .cancelling: .pending(isCancelled: true, task: nil)
      case .finished: .ended
      }
    }
    return status ?? .busy  // `nil`: another thread has the lock, and the graph does not wait for locks
  }
}
