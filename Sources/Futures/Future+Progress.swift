extension Future {
  /// How far the work has come.
  ///
  /// A future passes on the progress of what it was derived from: `flatMap` splits it between the first future and the second,
  /// `zip`, `all` and their like average it, `race` follows the one that is furthest, all others pass it through (R19). Where
  /// nobody reports, it is 0 until the future has succeeded.
  ///
  /// A derived future of which nobody has asked this before it failed does not know how far its source had come, and says 0.
  ///
  /// Starts nothing. Cost: O(1), where somebody has asked before; the first time a record for each stage of the chain.
  public var currentProgress: FutureProgress {
    switch storage {
    case .succeeded: return .finished
    case .failed: return .none
    case .shared(let state):
      let state = state.root
      state.followProgress()
      return state.lock.withLock { state.lastProgress }
    }
  }

  /// Calls `callback` with the progress as it is now, and then with each change of it.
  ///
  /// The last call, with a fraction of 1 if the future succeeds, comes before the callbacks of the future, and before those who
  /// wait for it go on; there is none after it. (Who looks at the future meanwhile, by `peek`, finds
  /// it resolved.) A future that has ended calls once, with its last state (R20). Calls of
  /// one callback never overlap on `.immediate` and on serial contexts. Where two threads report at once, the newest state
  /// stands for both.
  ///
  /// Listening to the progress starts a lazy future, but does not count as needing it (R16): a future that all others have
  /// left is cancelled, whoever watches its progress. `callback` must not wait for the future itself.
  ///
  /// Cost: two allocations, one of them the closure, and O(1) for each report; on a context other than `.immediate` also that of
  /// handing it over.
  /// - Parameters:
  ///   - context: Where `callback` runs.
  ///   - callback: Gets the progress.
  /// - Returns: What takes the callback away again; a call that another thread is making just then is not waited for. Ignoring it
  ///   is fine: the callback goes when the future ends.
  @discardableResult
  public func whenProgressed(
    on context: ExecutionContext,
    _ callback: @escaping @Sendable (FutureProgress) -> Void
  ) -> Registration {
    observeProgress(on: context, hearingOfEnd: false, callback)
  }

  /// As `whenProgressed`, and `callback` may be called a last time without news, when the future has ended.
  package func observeProgress(
    on context: ExecutionContext,
    hearingOfEnd hearsOfEnd: Bool = true,
    _ callback: @escaping @Sendable (FutureProgress) -> Void
  ) -> Registration {
    if case .shared(let state) = storage {
      let state = state.root
      state.followProgress()
      let observer = ProgressObserver(on: context, hearingOfEnd: hearsOfEnd, callback)
      if state.addListener(observer) {
        state.start()
        return Registration(state: state, node: observer)
      }
    }
    let progress = currentProgress
    return Future<FutureProgress, Never>.succeeded(progress).whenSucceeded(on: context, callback)
  }

  /// Calls `callback` on the main actor with the progress as it is now, and then with each change of it; its closure needs no
  /// annotation.
  ///
  /// As `whenProgressed(on:_:)` for other contexts.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - callback: Gets the progress.
  /// - Returns: What takes the callback away again. Ignoring it is fine: the callback goes when the future ends.
  @discardableResult
  public func whenProgressed(
    on context: MainContext,
    _ callback: @escaping @MainActor (FutureProgress) -> Void
  ) -> Registration {
    whenProgressed(on: context.context) { progress in MainActor.assumeIsolated { callback(progress) } }
  }
}

/// Where those who read the progress of a future find it.
package enum ProgressOrigin: Sendable {
  case state(AnySharedState)
  /// The future needs no state, since it is resolved.
  case last(FutureProgress)
}

extension Future {
  /// Where to read the progress.
  package var progressOrigin: ProgressOrigin {
    guard case .shared(let state) = storage else { return .last(currentProgress) }
    return .state(state.root)
  }
}

extension AnySharedState {
  /// Prepares the progress for being read, and starts what is dormant.
  package final func beginReadingProgress() {
    followProgress()
    start()
  }
}
