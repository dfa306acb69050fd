internal import Synchronization

extension Future {
  /// Suspends the current task until the future is resolved, or, where `Failure` can say so, until the task is cancelled.
  ///
  /// Three allocations, and one more that the runtime makes for a cancellation handler.
  @inlinable
  nonisolated(nonsending) package func awaitResult() async -> Result<Value, Failure> {
    guard case .shared(let state) = storage else { return peek().unsafelyUnwrapped }
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *), let task = state.producingTask {
      task.escalatePriority(to: Task.currentPriority)
      return await withTaskPriorityEscalationHandler {
        await Self.awaitResult(of: state)
      } onPriorityEscalated: { _, priority in
        task.escalatePriority(to: priority)
      }
    }
    return await Self.awaitResult(of: state)
  }

  @inlinable
  nonisolated(nonsending) static func awaitResult(of state: State<Value, Failure>) async -> Result<Value, Failure> {
    let waiter = TaskWaiter<Outcome<Value, Failure>>()
    guard Cancelled<Failure>.isExpressible else {
      return await withUnsafeContinuation { continuation in
        waiter.continuation = continuation
        state.attach(waiter)
      }
    }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        state.attach(waiter, resuming: continuation, orIfAbandoned: Self.cancelledResult)
      }
    } onCancel: {
      state.abandon(waiter, with: Self.cancelledResult)
    }
  }

  /// The result of a wait that was abandoned; only where `Failure` can say so.
  @inlinable
  static var cancelledResult: Result<Value, Failure> { .failure(Cancelled<Failure>.failure.unsafelyUnwrapped) }
}

extension AnySharedState {
  /// The task that resolves this state, or what it is derived from.
  ///
  /// O(length of the chain).
  @usableFromInline
  final var producingTask: Task<Void, any Error>? {
    var state = self
    while true {
      let root = state.root
      let (task, source) = root.lock.withLock { () -> (Task<Void, any Error>?, AnySharedState?) in
        switch root.producer {
        case .task(let task): (task, nil)
        // The source is alive now, as `StateDetails.stage` says.
        case .stage(let stage) where root.phase.load(ordering: .relaxed) <= .following:
          (nil, stage._withUnsafeGuaranteedRef { $0.source?.takeUnretainedValue() })
        default: (nil, nil)
        }
      }
      if let task { return task }
      guard let source else { return nil }
      state = source
    }
  }
}
