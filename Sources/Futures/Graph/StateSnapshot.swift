/// The data of one state for the graph, read under the state's lock if that is free.
struct StateSnapshot {
  var phase: FutureState.Phase
  var isCancelled: Bool
  var isDormant: Bool
  var label: PromiseLabel?
  /// The constants of the state, and the inputs that resolve it together.
  var facts: NodeFacts
  var progress: Double?
  var consumers: [ListedConsumer] = []
  /// Whether `consumers` has all of them.
  var isComplete = true

  /// A list can have a million callbacks, and the lock has to be free again after a tenth of a millisecond.
  private static let maximumConsumers = 2_000

  /// Reads a state; `nil` if another thread keeps its lock.
  init?(_ state: FutureState) {
    // A thread keeps the lock for a few dozen instructions, unless the system has interrupted it. So 1,000 tries are enough.
    for _ in 0..<1_000 {
      if let snapshot = state.underLockIfAvailable({ Self(locked: state) }) {
        self = snapshot
        return
      }
    }
    return nil
  }

  /// Reads a state whose lock the caller has.
  private init(locked state: FutureState) {
    phase = state.currentPhase
    isCancelled = state.isCancelled
    isDormant = state.isDormant
    label = state.extras?.label
    progress = state.progressRecord?.current.fractionCompleted
    facts = NodeFacts(of: state)
    switch state.producer {
    case .task(let task): facts.task = unsafeBitCast(task, to: UnsafeRawPointer.self)  // a `Task` is one reference
    case .inputs(let inputs): inputs.describe(into: &facts)
    default: break
    }
    for consumer in state.consumers {
      isComplete = consumers.count < Self.maximumConsumers
      guard isComplete else { break }
      consumers.append(ListedConsumer(consumer.takeUnretainedValue()))
    }
  }

  /// Returns the only consumer of `state`, of which this is the snapshot, if that consumer is a stage.
  func onlyStage(of state: FutureState) -> (state: FutureState, facts: NodeFacts)? {
    guard consumers.count == 1 else { return nil }
    // A promise's state in its own list stands for a callback, and is no stage.
    guard consumers[0].consumer !== state, let stage = consumers[0].consumer as? FutureState else { return nil }
    return (stage, consumers[0].facts)
  }
}

/// A consumer in the list of a state, with all that the lock of the state protects.
struct ListedConsumer {
  let consumer: Consumer
  let kind: Consumer.Kind
  let facts: NodeFacts

  init(_ consumer: Consumer) {
    self.consumer = consumer
    kind = consumer.kind
    facts = NodeFacts(of: consumer, isListed: true)  // `true`: also the facts that the lock of the state protects
  }
}
