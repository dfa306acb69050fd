public import Synchronization

/// What all handles of one future, and its producer, share: the result, once there is one.
@_fixed_layout
@usableFromInline
package final class SharedState<Stored: OutcomeStorage>: AnySharedState, @unchecked Sendable {
  // @unchecked: `outcome` is written once, under the lock, before `phase` announces it, and never changes after that.
  @exclusivity(unchecked) @usableFromInline final var outcome: Stored

  @usableFromInline package typealias Value = Stored.Value
  @usableFromInline package typealias Failure = Stored.Failure

  @inlinable
  package override init(hasPromise: Bool) {
    outcome = .unresolved
    super.init(hasPromise: hasPromise)
  }

  override init(_ start: LazyStart) {
    outcome = .unresolved
    super.init(start)
  }

  @inlinable
  override package func breakPromise(_ reason: BreakReason, in loop: DeliveryLoop?) {
    // An API that is stopped lets go of its completion handler. Who cancels is about to end the state, and says why.
    if Cancelled<Failure>.isExpressible, wasCancelled { return }
    guard let error = reason.error else { return orphan() }
    // `Never` first: the cast is slow, and most futures that cannot hold the error cannot hold any.
    if Failure.self != Never.self, let failure = error as? Failure {
      resolve(.failure(failure), in: loop)
    } else {
      breakForever(reason, in: loop)
    }
  }

  override var hasSucceeded: Bool { result?.isSuccess ?? false }

  override class var canSayCancelled: Bool { Cancelled<Failure>.isExpressible }

  override func endCancelled() {
    // The question first, because the answer allocates.
    guard Cancelled<Failure>.isExpressible, let failure = Cancelled<Failure>.failure else {
      // What has not been started never will be (R2b), so nobody can end it.
      // Relaxed: a hint that saves an array; the phase is looked at again under the lock.
      if phase.load(ordering: .relaxed) == .dormant { orphan(fromAtMost: .dormant) }
      return
    }
    // What was cancelled is not reported as a failure that nobody looked at.
    if resolve(.failure(failure), fromAtMost: .orphaned, in: nil) {
      isUnobservedFailure.store(false, ordering: .relaxed)
    }
  }

  override func reportUnobservedFailure() {
    guard case .failure(let failure)? = outcome.result, !(failure is CancellationError) else { return }
    FuturesDiagnostics.report(.unobservedFailure(label: label, failure))
  }
}

/// The shared state of a `Future<Value, Failure>`.
@usableFromInline
package typealias State<Value: Sendable, Failure: Error> = SharedState<Outcome<Value, Failure>>

// MARK: - Looking at it

extension SharedState {
  /// The result, if there is one, without looking further than this state.
  @inlinable
  package var result: Result<Value, Failure>? {
    // Acquiring: pairs with the releasing store after `outcome` was written.
    phase.load(ordering: .acquiring) >= .delivering ? outcome.result : nil
  }

  /// The result, if there is one, on behalf of somebody who looks at it.
  @inlinable
  func peek() -> Result<Value, Failure>? {
    let result = result
    if case .failure = result { isUnobservedFailure.store(false, ordering: .relaxed) }
    return result
  }

  /// The result, if there is one and all that came before have been told, so that nobody has to queue behind them.
  @inlinable
  var deliveredResult: Result<Value, Failure>? {
    // Acquiring: as in `result`.
    phase.load(ordering: .acquiring) == .resolved ? peek() : nil
  }

  /// The state that stands for this one.
  @inlinable
  var typedRoot: SharedState {
    phase.load(ordering: .relaxed) == .merged ? unsafeDowncast(root, to: SharedState.self) : self
  }
}

// MARK: - Resolving

extension SharedState {
  /// What has to happen after an attempt to resolve a state, outside its lock.
  @usableFromInline
  enum Resolution {
    /// It was resolved, or settled, before.
    case rejected
    /// It is resolved, and nobody waits; or the thread that tells the listeners of the progress delivers it.
    case done
    /// It is resolved, and its consumers are due.
    case deliver
    /// It was merged: the attempt belongs to its root.
    case merged
  }

  /// The transition of a resolution: the first one wins (R1).
  ///
  /// `last` is the last phase from which it may happen: `pending`, or `following` for the one that is followed.
  @inlinable
  func transition(to result: Result<Value, Failure>, fromAtMost last: Phase) -> Resolution {
    var ended: Ended?
    let resolution = lock.withLock { () -> Resolution in
      let current = phase.load(ordering: .relaxed)
      guard current <= last else { return current == .merged ? .merged : .rejected }
      outcome = Stored(result)
      var isTelling = false
      let isUnobserved: Bool
      if details.isTrivial {
        isUnobserved = consumers.isEmpty
      } else {
        ended = takeDetails()
        isUnobserved = consumers.isEmpty
        isTelling = endProgress(isSuccess: result.isSuccess)
      }
      if isUnobserved, case .failure = result { isUnobservedFailure.store(true, ordering: .relaxed) }
      let isIdle = consumers.isEmpty
      // Releasing: whoever sees the phase sees the outcome.
      phase.store(isIdle ? .resolved : .delivering, ordering: .releasing)
      return isIdle || isTelling ? .done : .deliver
    }
    ended?.release()
    return resolution
  }

  /// Resolves the state, if that is still to be done, and sees to it that the consumers get to know.
  /// - Parameters:
  ///   - result: What it is resolved with.
  ///   - last: `pending` for a promise, which `follow` disarms; `orphaned` for what is followed, for stages, and to cancel.
  ///   - loop: The loop of the delivery in which a stage of the library does this; `nil` in user code.
  /// - Returns: Whether this resolution was the first.
  @inlinable
  @discardableResult
  package func resolve(
    _ result: Result<Value, Failure>,
    fromAtMost last: Phase = .orphaned,
    in loop: DeliveryLoop?
  ) -> Bool {
    switch transition(to: result, fromAtMost: last) {
    case .rejected: return false
    case .done: return true
    case .deliver:
      deliver(in: loop)
      return true
    case .merged:
      return typedRoot.resolve(result, fromAtMost: last, in: loop)
    }
  }
}
