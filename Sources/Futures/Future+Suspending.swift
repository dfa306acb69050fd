internal import Synchronization

/// What a wait does when its task is cancelled.
@usableFromInline
package enum WaitCancellation: Sendable {
  /// It ends without a result.
  case abandon
  /// It ends without a result, and leaves the future, which is cancelled if nobody else needs it.
  case cancel
  /// It goes on.
  case ignore
}

extension Future {
  /// The result, if an await may go on with it at once.
  ///
  /// While the result of a future whose progress was asked for is delivered, those who await it queue behind those who listen,
  /// since the last report comes before the completion (R20).
  @inlinable
  package var settledResult: Result<Value, Failure>? {
    // The result first: where it is there, the phase that is looked at after it is not an older one.
    guard let result = peek() else { return nil }
    // In a cancelled task the wait would end at once, without the result.
    if case .shared(let state) = storage, state.isTellingProgress, !Task.isCancelled { return nil }
    return result
  }

  /// Suspends the current task until the future is resolved, or, where `Failure` can say so, until the task is cancelled.
  ///
  /// Three allocations, and one more that the runtime makes for a cancellation handler.
  @inlinable
  nonisolated(nonsending) package func awaitResult() async -> Result<Value, Failure> {
    let canSayCancelled = Cancelled<Failure>.isExpressible
    if let result = await awaitResult(onCancel: canSayCancelled ? .abandon : .ignore) { return result }
    return .failure(Cancelled<Failure>.failure.unsafelyUnwrapped)
  }

  /// Suspends the current task until the future is resolved, or as `choice` says.
  ///
  /// It raises the priority of the task that resolves the future, if there is one, now and later.
  /// - Parameter choice: What to do when the task is cancelled.
  /// - Returns: The result; `nil` if the wait was ended by cancellation.
  @inlinable
  nonisolated(nonsending) package func awaitResult(onCancel choice: WaitCancellation) async -> Result<Value, Failure>? {
    guard case .shared(let state) = storage else { return peek() }
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), let task = state.producingTask {
      task.escalatePriority(to: Task.currentPriority)
      return await withTaskPriorityEscalationHandler {
        await Self.awaitResult(of: state, onCancel: choice)
      } onPriorityEscalated: { _, priority in
        task.escalatePriority(to: priority)
      }
    }
    return await Self.awaitResult(of: state, onCancel: choice)
  }

  @inlinable
  nonisolated(nonsending) static func awaitResult(
    of state: State<Value, Failure>,
    onCancel choice: WaitCancellation
  ) async -> Result<Value, Failure>? {
    let waiter = TaskWaiter<Outcome<Value, Failure>>()
    guard choice != .ignore else {
      return await withUnsafeContinuation { continuation in state.attach(waiter, resuming: continuation) }
    }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in state.attach(waiter, resuming: continuation) }
    } onCancel: {
      state.abandon(waiter, cancelling: choice == .cancel)
    }
  }
}

extension AnySharedState {
  /// The task that resolves this state, or what it is derived from.
  ///
  /// O(length of the chain).
  @usableFromInline
  final var producingTask: Task<Void, any Error>? {
    var (task, source) = nearestProducer
    while let state = source { (task, source) = state.nearestProducer }
    return task
  }

  /// The task that resolves this state, or else the state to ask next.
  private final var nearestProducer: (task: Task<Void, any Error>?, source: AnySharedState?) {
    lock.withLock {
      if case .merged(let target) = details { return (nil, target) }
      switch producer {
      case .task(let task): return (task, nil)
      // The source is alive now, as `StateDetails.stage` says.
      case .stage(let stage) where phase.load(ordering: .relaxed) <= .following:
        return (nil, stage._withUnsafeGuaranteedRef { $0.source?.takeUnretainedValue() })
      default: return (nil, nil)
      }
    }
  }
}
