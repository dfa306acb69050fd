public import Synchronization

/// Several futures that together resolve one.
///
/// It counts the inputs that are still to come, and knows how to leave those that are not needed any more. It stores no
/// results: the last input to come reads them from the inputs, in their order. So one input costs one node.
///
/// The nodes own the gathering, and the gathering the nodes, to leave their inputs; that ends when the derived future is
/// resolved, or when no input is left that could come.
@_fixed_layout
@usableFromInline
final class Gathering<Derived: OutcomeStorage>: InputHolder, @unchecked Sendable {
  // @unchecked: `inputs`, `complete` and `reason` are protected by `lock`.
  @usableFromInline typealias Resolution = Result<Derived.Value, Derived.Failure>

  @usableFromInline let derived: SharedState<Derived>

  /// Of how many futures the whole is made, those included that need no waiting for.
  @usableFromInline let total: Int

  @usableFromInline let rule: ProgressRule

  @usableFromInline let lock = Lock()

  /// How many inputs have not come yet.
  @usableFromInline let awaited = Atomic<Int>(0)

  @exclusivity(unchecked) @usableFromInline var inputs: [GatheredInput] = []

  /// Makes the result of all inputs.
  @exclusivity(unchecked) @usableFromInline var complete: (@Sendable () -> Resolution)?

  /// Why there will be no result, if an input broke.
  @exclusivity(unchecked) @usableFromInline var reason: BreakReason?

  @inlinable
  init(
    _ derived: SharedState<Derived>,
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
      guard complete != nil else { return ProgressParts() }  // it is over, and ends as it is
      let share = 1 / Double(total)
      return ProgressParts(
        rule: rule,
        states: inputs.map(\.state),
        share: share,
        done: Double(total - inputs.count) * share,
        awaited: inputs.count
      )
    }
  }

  /// Attaches to all inputs, in order; any of them may come meanwhile.
  @inlinable
  func start(_ inputs: [GatheredInput]) {
    awaited.store(inputs.count, ordering: .relaxed)  // nobody else has the gathering yet
    lock.withLock { self.inputs = inputs }
    derived.details = .inputs(self)  // nobody else has the derived state yet
    // By index: iterating counts a reference to each state and node.
    for index in inputs.indices { inputs[index].state.attach(.passRetained(inputs[index].node)) }
  }

  /// Notes that an input has come, which alone decides if `decision` says so.
  @inlinable
  func add(_ decision: Resolution?, in loop: DeliveryLoop) {
    if let decision {
      if derived.resolve(decision, in: loop) { leaveInputs() }
    } else {
      countDown(in: loop)
    }
  }

  /// Notes that an input will never come.
  ///
  /// The others may still decide.
  @usableFromInline
  func lose(_ reason: BreakReason?, in loop: DeliveryLoop) {
    lock.withLock {
      // A mistake is told, also where another input never was to resolve.
      if self.reason?.error == nil { self.reason = reason ?? .never }
    }
    countDown(in: loop)
  }

  @inlinable
  func countDown(in loop: DeliveryLoop) {
    // Releasing what this thread has seen of its input, acquiring what the others have seen of theirs.
    guard awaited.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
    let complete = release().complete
    if let reason = lock.withLock({ reason }) {
      derived.breakPromise(reason, in: loop)
    } else if let complete {
      derived.resolve(complete(), in: loop)
    }
  }

  /// Leaves the inputs that have not come, and cancels those that nobody else needs (R12).
  @usableFromInline
  func leaveInputs() { AnySharedState.cancel(leaveInputs(silently: false)) }

  @usableFromInline
  override func leaveInputs(silently isSilent: Bool) -> [AnySharedState] {
    let inputs = isSilent ? lock.withLock { self.inputs } : release().inputs
    return inputs.filter { $0.state.leave($0.node, silently: isSilent) }.map(\.state)
  }

  /// Takes out what holds the inputs; it is released by the caller, outside the lock.
  @inlinable
  func release() -> (inputs: [GatheredInput], complete: (@Sendable () -> Resolution)?) {
    lock.withLock {
      defer {
        inputs = []
        complete = nil
      }
      return (inputs, complete)
    }
  }
}

/// An input of a gathering, and the gathering's place in it.
@frozen
@usableFromInline
struct GatheredInput {
  @usableFromInline let state: AnySharedState
  @usableFromInline let node: CallbackNode

  @inlinable
  init(state: AnySharedState, node: CallbackNode) {
    self.state = state
    self.node = node
  }
}

/// The consumer by which an input comes to its gathering.
@_fixed_layout
@usableFromInline
final class InputNode<Input: OutcomeStorage, Derived: OutcomeStorage>: CallbackNode, @unchecked Sendable {
  // @unchecked: as the base class says.
  @usableFromInline typealias Decision =
    @Sendable (Result<Input.Value, Input.Failure>) -> Gathering<Derived>.Resolution?

  @usableFromInline let gathering: Gathering<Derived>

  /// What the result of this input makes of the whole, if it alone decides.
  @usableFromInline let decide: Decision

  @inlinable
  init(_ gathering: Gathering<Derived>, decide: @escaping Decision) {
    self.gathering = gathering
    self.decide = decide
    super.init(kind: .input) { node, source, loop in
      let node = unsafeDowncast(node, to: InputNode.self)
      if let result = unsafeDowncast(source, to: SharedState<Input>.self).result {
        node.gathering.add(node.decide(result), in: loop)
      } else {
        node.gathering.lose(source.breakReason, in: loop)
      }
    }
  }
}

extension Future {
  /// This future as an input of `gathering`; `nil` if it needs no waiting for.
  @inlinable
  func input<Derived>(
    of gathering: Gathering<Derived>,
    decide: @escaping InputNode<Outcome<Value, Failure>, Derived>.Decision
  ) -> GatheredInput? {
    guard case .shared(let state) = storage else { return nil }
    return GatheredInput(state: state, node: InputNode<Outcome<Value, Failure>, Derived>(gathering, decide: decide))
  }

  /// The value, where this future has succeeded.
  @inlinable var peekedValue: Value? { peek()?.success }

  /// The error, where this future has failed.
  @inlinable var peekedError: Failure? { peek()?.failure }
}

extension Result {
  @inlinable var success: Success? { if case .success(let value) = self { value } else { nil } }
  @inlinable var isSuccess: Bool { if case .success = self { true } else { false } }
  @inlinable var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
