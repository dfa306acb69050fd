/// Several input futures that together resolve one derived future.
///
/// A join counts its pending inputs, and can leave them. It stores no results: the last input to resolve reads all results
/// from the inputs, in their order. So an input costs only its consumer, or nothing if it is the state of a promise whose slot
/// for one consumer is still free.
///
/// The consumers own the join. The join owns the consumers, because it removes them when it leaves the inputs. The cycle
/// ends when the derived future is resolved, or when no input can resolve any more.
@_fixed_layout
@usableFromInline
final class Join<Derived: OutcomeStorage>: Inputs, @unchecked Sendable {
  // @unchecked: `inputs`, `complete` and `reason` are protected by `lock`.
  @usableFromInline typealias Resolution = Result<Derived.Value, Derived.Failure>

  @usableFromInline let derived: TypedState<Derived>

  /// The number of all inputs, including inputs that are already resolved.
  @usableFromInline let total: Int

  @usableFromInline let rule: ProgressRule

  @usableFromInline let lock = Lock()

  /// The number of inputs whose result has not arrived.
  @usableFromInline let awaited = AtomicWord(0)

  @exclusivity(unchecked) @usableFromInline var inputs: [JoinedInput] = []

  /// Makes the result from all inputs; `nil` once `takeAll()` has ended the join.
  @exclusivity(unchecked) @usableFromInline var complete: (@Sendable () -> Resolution)?

  /// The strongest reason of an input that never resolves; `nil` if there is no such input.
  @exclusivity(unchecked) @usableFromInline var reason: BreakReason?

  @inlinable
  init(
    _ derived: TypedState<Derived>,
    of total: Int,
    progress rule: ProgressRule,
    complete: @escaping @Sendable () -> Resolution
  ) {
    self.derived = derived
    self.total = total
    self.rule = rule
    self.complete = complete
  }

  override var progressParts: ProgressParts {
    lock.withLock {
      guard complete != nil else { return ProgressParts() }  // finished: the progress stays as it is
      let pending = inputs.map(\.state)
      let working = pending.filter { !$0.has(.onlyWaits) }
      // An input that only waits, as a delay does, is no part of the progress, because it does no work.
      let states = working.isEmpty ? pending : working  // with no part, the progress would be 1
      let ended = total - inputs.count  // the futures that were resolved from the start
      let share = 1 / Double(ended + states.count)
      return ProgressParts(
        rule: rule,
        states: states,
        share: share,
        done: Double(ended) * share,
        awaited: states.count
      )
    }
  }

  override func pendingInputs(raisingLaterTasksTo priority: TaskPriority?) -> [FutureState] {
    // The caller raises the tasks of these inputs; a resolved input has none. `priority` is not kept: no input starts later.
    lock.withLock { inputs.map(\.state) }
  }

  override func describe(into facts: inout NodeFacts) {
    // One input can end a `race` or `firstSuccess`, whose rule is `furthest`. Any other join can end early only by failing.
    facts.endsWithOneInput = rule == .furthest
    facts.needsEachInput = rule == .average && Derived.Failure.self == Never.self
    // Diagnostics wait for no lock. A success can end only a `furthest` join early, so other joins leave out such an input.
    facts.inputs = lock.withLockIfAvailable { inputs.map(\.state).filter { rule == .furthest || !$0.hasSucceeded } }
  }

  /// Attaches to all inputs, in order, after the operator has made them; results can arrive during the call.
  @_alwaysEmitIntoClient
  func start(_ inputs: [JoinedInput]) {
    awaited.store(inputs.count, ordering: .relaxed)  // not shared yet
    self.inputs = inputs  // needs no lock, because only `setProducer` and `attach` share the join with other threads
    derived.setProducer(.inputs(self))
    if FuturesDiagnostics.mayTrackPendingFutures { derived.trackJoin() }
    // By index: iterating counts a reference to each state and consumer.
    for index in inputs.indices { inputs[index].attach() }
  }

  /// Makes the closure that delivers an input's result to this join.
  /// - Parameters:
  ///   - type: The type of the inputs.
  ///   - decide: Returns the result of the derived future if the input alone decides it.
  /// - Returns: One closure for all inputs of `type`, so that an input costs only its consumer.
  @_alwaysEmitIntoClient
  func delivery<Value: Sendable, Failure: Error>(
    of type: Future<Value, Failure>.Type,
    deciding decide: @escaping @Sendable (Result<Value, Failure>) -> Resolution?
  ) -> Consumer.Delivery {
    { [self] _, source, trampoline in
      if let result = unsafeDowncast(source, to: State<Value, Failure>.self).result {
        inputResolved(deciding: decide(result), in: trampoline)
      } else {
        markBroken(source.breakReason, in: trampoline)
      }
    }
  }

  /// Resolves the derived future if the result of an input decides it; otherwise counts the input as ended.
  @_alwaysEmitIntoClient
  func inputResolved(deciding decision: Resolution?, in trampoline: Trampoline) {
    if let decision {
      if derived.resolve(decision, in: trampoline) { leaveInputs() }
    } else {
      countDown(in: trampoline)
    }
  }

  /// Notes that an input never resolves, and counts it as ended; the other inputs can still decide.
  ///
  /// The input is broken for `reason`. If that is `nil`, the input is an orphan, which only a cancellation can resolve.
  @usableFromInline
  func markBroken(_ reason: BreakReason?, in trampoline: Trampoline) {
    lock.withLock { self.reason.takeStronger(reason) }  // `nil` counts as `never`, so `self.reason` is set now
    countDown(in: trampoline)
  }

  /// Counts an input as ended; the last one resolves the derived future, or breaks it if an input never resolves.
  @_alwaysEmitIntoClient
  func countDown(in trampoline: Trampoline) {
    // Releasing: publishes the result of this thread's input. Acquiring: the last thread sees all results.
    guard awaited.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
    let (inputs, complete) = takeAll()
    if let reason = lock.withLock({ reason }) {
      derived.breakPromise(reason, leaving: inputs, in: trampoline)  // orphans can still count this join as a consumer
    } else if let complete {  // `nil` after a decision of another input, or a cancellation
      derived.resolve(complete(), in: trampoline)
    }
  }

  /// Leaves the pending inputs, and cancels inputs without other consumers (R12).
  @usableFromInline
  func leaveInputs() { FutureState.cancel(removeFromInputs(forResult: false)) }

  override func removeFromInputs(forResult needsResult: Bool) -> [FutureState] {
    // If the cancelled state still needs a result, the join's consumers stay attached, but do not keep the inputs running.
    let inputs = needsResult ? lock.withLock { self.inputs } : takeAll().inputs
    return inputs.filter { $0.state.removeCancelled($0.consumer, forResult: needsResult) }.map(\.state)
  }

  /// Removes and returns the inputs and the completion, for the caller to release after unlocking.
  @_alwaysEmitIntoClient
  func takeAll() -> (inputs: [JoinedInput], complete: (@Sendable () -> Resolution)?) {
    lock.withLock {
      defer {
        inputs = []
        complete = nil
      }
      return (inputs, complete)
    }
  }
}

extension Future {
  /// Makes this future an input of a join.
  /// - Parameter deliver: Passes the result to the join: `Join.delivery(of:deciding:)`.
  /// - Returns: The input, or `nil` if this future was resolved from the start and so has no state.
  @_alwaysEmitIntoClient
  func input(_ deliver: @escaping Consumer.Delivery) -> JoinedInput? {
    guard case .sharedState(let state) = storage else { return nil }
    // A promise's state can store one callback. The caller that removes the flag stores it, and the state is its own consumer.
    guard state.remove(.hasFreeSlot) else {
      return JoinedInput(state: state, consumer: Consumer(kind: .input, deliver: deliver))
    }
    state.kind = .input  // can change, because the state is in no list yet
    unmanagedPromiseState.takeUnretainedValue().storeCallback(.input(deliver))  // `state`, as a promise's state
    return JoinedInput(state: state, consumer: nil)  // `nil`: the state itself
  }

  /// Makes this future an input of a join that fails as soon as this future fails; `nil` if it was resolved from the start.
  ///
  /// `zip` calls this for each element of its pack. The closure is made here, because an optimised `zip` crashed in a closure
  /// that was made in the pack's loop (Swift 6.3).
  @inline(never)
  func input<Derived>(failing join: Join<Derived>) -> JoinedInput? where Derived.Failure == Failure {
    input(join.delivery(of: Future.self) { result in result.failure.map { .failure($0) } })  // a value decides nothing
  }

  /// The value, if this future has succeeded.
  @inlinable var peekedValue: Value? { peek()?.success }

  /// The error, if this future has failed.
  @inlinable var peekedError: Failure? { peek()?.failure }
}
