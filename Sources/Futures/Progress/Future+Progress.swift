extension Future {
  /// The current progress of the work.
  ///
  /// A derived future has the progress of its sources. `flatMap` splits it between the first and the second future.
  /// `zip`, `all` and the other joins average it. `race` and `firstSuccess` take the input with the most progress. All
  /// other operators pass it on (R19). Without any report, it is 0 until the future has succeeded.
  ///
  /// It is 0 for a derived future that failed before its progress was first requested.
  ///
  /// Starts nothing. Cost: O(1) after the first request. The first request makes a record for each stage of the chain.
  public var currentProgress: FutureProgress {
    switch storage {
    case .succeeded: return .finished
    case .failed: return .none
    case .sharedState(let state):
      state.requestProgress()
      return state.lastProgress
    }
  }

  /// Calls `callback` with the current progress, and then with each change of it.
  ///
  /// The last call comes before the callbacks of the future, and before waiters resume. Its fraction is 1 if the future
  /// has succeeded. No call follows it. During this call, `peek` already returns the result. On an ended future there
  /// is one call, with the last state (R20). The calls of one callback never overlap on `.immediate` and on serial
  /// contexts. If two threads report at once, one call can cover both, with the newest state.
  ///
  /// Observing the progress starts a lazy future, but adds no consumer (R16). So a future without consumers is
  /// cancelled even if its progress is observed. `callback` must not wait for the future itself.
  ///
  /// Cost: two allocations, one of them the closure, and O(1) for each report. A context other than `.immediate` adds
  /// one submission for each report.
  /// - Parameters:
  ///   - context: Where `callback` runs.
  ///   - callback: Gets the progress.
  /// - Returns: A registration that removes the callback. It does not wait for a call on another thread. It can be
  ///   ignored: the callback is released when the future ends.
  @discardableResult
  public func whenProgressed(
    on context: ExecutionContext,
    _ callback: @escaping @Sendable (FutureProgress) -> Void
  ) -> Registration {
    observeProgress(on: context, includingEnd: false, callback)  // a failure without new progress makes no call
  }

  /// Does the same as `whenProgressed`; if `includesEnd`, always calls `callback` at the end, also without a new progress.
  ///
  /// Foundation's `Progress` needs that call, because it finishes when the future fails, too.
  package func observeProgress(
    on context: ExecutionContext,
    includingEnd includesEnd: Bool,
    _ callback: @escaping @Sendable (FutureProgress) -> Void
  ) -> Registration {
    if case .sharedState(let state) = storage {
      state.requestProgress()  // makes the record, which lists the observer
      let observer = ProgressObserver(on: context, includingEnd: includesEnd, callback)
      if state.addListener(observer) {
        state.start()  // the work of a lazy future
        return Registration(.future(state, observer))
      }
    }
    // The future has ended. A resolved future of its last progress makes the only call, on `context`.
    let progress = currentProgress
    return Future<FutureProgress, Never>.succeeded(progress).whenSucceeded(on: context, callback)
  }

  /// Calls `callback` on the main actor with the current progress, and then with each change of it.
  ///
  /// The closure needs no annotation. All else is as in the overload for an `ExecutionContext`.
  /// - Returns: A registration that removes the callback. It can be ignored: the callback is released when the future
  ///   ends.
  @discardableResult
  public func whenProgressed(
    on context: MainContext,
    _ callback: @escaping @MainActor (FutureProgress) -> Void
  ) -> Registration {
    whenProgressed(on: context.context) { progress in MainActor.assumeIsolated { callback(progress) } }
  }
}

extension Future {
  /// The state whose progress readers read; a new one if the future was resolved without a state.
  package var progressState: FutureState { asSharedState.withState { $0 } }
}
