/// The sources of a state if they are orphans: pending without a producer, so only a cancellation of the state ends the wait.
///
/// Q: Why weak? A: The list of a source owns the state, so a counted reference would be a cycle. A source of a join does
/// not own the join, and can go away first.
@usableFromInline
final class OrphanedInputs: Inputs, @unchecked Sendable {
  // @unchecked: only the runtime changes the references, when it clears them. The lock of the orphan protects `notified`.
  private struct Input {
    private(set) weak var source: FutureState?

    /// The consumer in the list of the source; `nil` for an input of a join, which the source only counts.
    private(set) weak var consumer: Consumer?
  }

  private let inputs: [Input]

  /// Whether these are inputs of a join: in no list, but each source counts one as a consumer, until `leaveNotified()`.
  private let areInputsOfJoin: Bool

  /// The interruption (a timeout or a token) that can still resolve the state, which then is no orphan; `nil` for an orphan.
  private let interruption: Inputs?

  /// The number of inputs of joins that this orphan, as their source, has notified and still counts; under the orphan's lock.
  var notified = 0

  /// Whether the state has left its sources; relaxed, because it only picks the thread that leaves.
  private let hasLeft = AtomicByte<Bool>(false)

  /// For a state with one source: `consumer` is the state's stage, which stays in the list of the source.
  init(_ consumer: Consumer, of source: FutureState, interruptedBy interruption: Inputs? = nil) {
    inputs = [Input(source: source, consumer: consumer)]
    areInputsOfJoin = false
    self.interruption = interruption
  }

  /// For a join that becomes an orphan: takes over its inputs with the status `notified`; the others have ended or left.
  ///
  /// This object claims the inputs, so nothing else can remove them. Each source counts its input until `leaveNotified()`.
  init(_ inputs: [JoinedInput]) {
    self.inputs = inputs.filter { $0.state.claimNotified($0.consumer) }.map {
      Input(source: $0.state, consumer: nil)
    }
    areInputsOfJoin = true
    interruption = nil
  }

  // If the join's derived state is released without a cancellation, the sources stop counting the join. None is cancelled.
  deinit {
    guard areInputsOfJoin, claimLeaving() else { return }
    for input in inputs { _ = input.source?.leaveNotified() }
  }

  /// Returns whether the caller is the first to leave the sources.
  private func claimLeaving() -> Bool {
    hasLeft.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
  }

  /// Whether the stage waits for another source now, because a cancellation has resolved its old source meanwhile.
  var stageHasMovedOn: Bool {
    guard !areInputsOfJoin, interruption == nil, let stage = inputs[0].consumer else { return false }
    // The caller has the lock of the stage's target, under which alone the stage's source changes: no load of the status.
    return inputs[0].source.map { !stage.isConsumer(of: $0) } ?? false  // all callers but `tokenEnded` keep the source
  }

  override func removeFromInputs(forResult needsResult: Bool) -> [FutureState] {
    guard claimLeaving() else { return [] }
    _ = interruption?.removeFromInputs(forResult: needsResult)  // returns `[]`; if `needsResult`, it can end the wait
    return inputs.compactMap { input -> FutureState? in  // the sources without other consumers
      guard let source = input.source else {
        if !needsResult, let consumer = input.consumer {  // the source, which would drop its captures, has gone
          consumer.dropContext()
          consumer.dropCaptures()
        }
        return nil
      }
      // Whatever `needsResult` is, the join waits for no result of these inputs, because it has counted each of them as ended.
      if areInputsOfJoin { return source.leaveNotified() ? source : nil }
      guard let consumer = input.consumer else { return nil }
      return source.removeCancelled(consumer, forResult: needsResult) ? source : nil
    }
  }
}
