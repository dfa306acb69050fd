/// The producer of a state: a promise, a stage, a task or several inputs.
@usableFromInline
enum Producer {
  /// A promise, which needs no object here, or no producer. Any other case can follow.
  case none
  /// A stage that waits for its source: the state itself, or the stage of a promise that follows a future.
  ///
  /// Not owned, since the source owns the stage. Invariant 6 of `FutureState` says when it is alive.
  case stage(Unmanaged<FutureState>)
  /// A task, which is cancelled with the state.
  case task(Task<Void, any Error>)
  /// Several inputs, or an interruption: a deadline or a token. A cancelled state leaves its inputs.
  case inputs(Inputs)
  /// The closure that starts the producer of a dormant state.
  case start(LazyStart)
  /// No producer: the state is broken. Final.
  case broken(BreakReason)
  /// The extras of the state, which then hold its producer. Only `producerOrExtras` has this case.
  case extras(StateExtras)
}

/// The label, the file (a static, null-terminated string) and the line of a promise.
@usableFromInline typealias PromiseLabel = (text: String, fileID: UnsafePointer<UInt8>, line: UInt)

/// The file (a static, null-terminated string) and the line of a promise.
typealias PromisePlace = (fileID: UnsafePointer<UInt8>, line: UInt)

/// The `onCancel` handlers of a state.
///
/// The subclass is the state of a token; the core uses only these two functions.
@usableFromInline
package class CancellationHandlers: @unchecked Sendable {
  // @unchecked: the subclass says how its variables are protected.

  @usableFromInline
  package init() {}

  /// Runs the handlers of the subclass, as part of the cancellation of a future.
  ///
  /// At once, because they must run before the future resolves (R15). The caller bounds how deep cancellations nest.
  func run() {}

  /// Releases the handlers of the subclass, which can no longer run, because the future is settled.
  @usableFromInline
  package func end() {}
}

/// The closure that starts the producer of a dormant state.
@usableFromInline
final class LazyStart: @unchecked Sendable {
  // @unchecked: `start` changes in the deinitializer only.
  typealias Start = @Sendable (FutureState) -> Void

  private(set) var start: Start?

  init(_ start: @escaping Start) { self.start = start }

  deinit {
    // The closure can own the next lazy future, and so on. So its release nests only as deep as deliveries do.
    let trampoline = Trampoline.current
    guard trampoline.enter() else {
      let start = start  // the deferred closure captures this, and not `self`, which ends here
      return trampoline.defer { _ = start }
    }
    start = nil  // released here, inside the counted level
    trampoline.leave()
  }
}

// MARK: - Names

extension FutureState {
  /// The labelled promise of this state, or of its nearest source that has one.
  ///
  /// The search ends at a resolved state, which no longer refers to its source. O(length of the chain).
  final var nearestLabel: PromiseLabel? {
    var next: FutureState? = self
    while let state = next {
      let origin = state.origin
      if let label = origin.label { return label }
      next = origin.derivation?.source
    }
    return nil
  }

  /// The label of the promise whose future follows this private state, directly or through other private states.
  final var labelOfFollower: PromiseLabel? {
    var next = privateFollower
    while let state = next {
      if let label = state.origin.label { return label }
      next = state.privateFollower
    }
    return nil
  }
}
