internal import CFutures
internal import Dispatch

/// Finds work that a future needs, and that cannot run while the main thread or a serial queue waits for that future (R10a).
///
/// The search goes from each state to its producer. A state that a promise, an unknown task or an interruption can resolve
/// ends the search, because then another thread can end the wait.
///
/// The search reads one state after another, while other threads change them. Work that it finds stays unfinished nevertheless,
/// because it cannot run before the waiting thread goes on.
struct BlockedWorkSearch {
  private enum Work {
    /// A task that is isolated to the main actor, and has not ended.
    case task
    /// A transform that the queue of the waiting thread has not started: a serial queue, or the main queue for `nil`.
    case transform(serialQueue: String?)
  }

  /// The work that a pending state needs before it can resolve.
  private enum Need {
    case mainActor
    /// The source of a stage; `isQueued` if the stage runs its transform on a queue, which can be the blocked one.
    case source(Derivation, isQueued: Bool)
    case inputs([FutureState], each: Bool)
    /// Another thread might resolve the state.
    case unknown
  }

  /// Bounds the stack, because each join is a recursive call; a wait for a deeper join is not reported.
  private static let maximumDepthOfJoins = 100

  /// Whether a sentence was written; relaxed, because it publishes nothing.
  private static let hasWritten = AtomicByte<Bool>(false)

  /// Whether the waiting thread is the main thread, also while that runs the work of a serial queue inside `sync`.
  private let isOnMain: Bool

  /// The visited states, with the work that they need.
  ///
  /// Keeps them alive, so that no other state gets the identity of one.
  private var visited: [ObjectIdentifier: (state: FutureState, work: Work?)] = [:]

  /// Reports a wait for work that the wait itself blocks: work of the main actor, the main queue or the current serial queue.
  ///
  /// Returns at once on any other thread. An endless wait traps in debug builds. Otherwise the process writes a sentence, once.
  /// - Parameters:
  ///   - state: The state that the calling thread waits for.
  ///   - isEndless: Whether the wait has no timeout.
  static func check(_ state: FutureState, isEndless: Bool) {
    let isOnMain = MainContext.isMainThread
    guard isOnMain || cfutures_is_on_serial_queue(nil, nil) else { return }  // `nil`: any serial queue
    var search = Self(isOnMain: isOnMain)
    guard let work = search.work(neededBy: state, depth: 0) else { return }
    let origin = state.nearestLabel.map { " \"\($0.text)\" (\(String(cString: $0.fileID)):\($0.line))" } ?? ""
    let sentence = sentence(for: work, origin)
    #if DEBUG
      if isEndless { preconditionFailure(sentence) }
    #endif
    guard hasWritten.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
    FuturesDiagnostics.write(sentence)
  }

  /// Returns the sentence that says what blocks the thread; `origin` is the label of the future with its place, or empty.
  private static func sentence(for work: Work, _ origin: String) -> String {
    switch work {
    case .task:
      """
      wait() blocks the main thread, but its future\(origin) needs a task that is isolated to the main actor, and that \
      cannot go on meanwhile. The closure of `Future { … }` inherits the main actor from its place. Start the task with \
      `Future.detached { … }`, or await the future. If the default isolation of your module is the main actor, write \
      `Future.detached { @concurrent in … }`.
      """
    case .transform(serialQueue: nil):
      """
      wait() blocks the main thread, but its future\(origin) needs work that was submitted to the main queue, which cannot \
      start it meanwhile. Run the work elsewhere, with `on: .global()` or `Future.detached { … }`, or await the future.
      """
    case .transform(serialQueue: let label?):
      """
      wait() blocks the serial queue "\(label)", but its future\(origin) needs work that was submitted to this queue, which \
      cannot start it meanwhile. Run the work elsewhere, with `on: .global()` or another queue, or use a callback in place \
      of wait().
      """
    }
  }

  private init(isOnMain: Bool) { self.isOnMain = isOnMain }

  /// Returns the work without which a state stays pending, cancellation aside; `nil` if another thread might resolve the state.
  ///
  /// Follows the sources of stages in a loop. All states of this chain need the same work. `depth` counts the joins on the way.
  private mutating func work(neededBy first: FutureState, depth: Int) -> Work? {
    var chain: [ObjectIdentifier] = []
    var state = first
    var work: Work?
    search: while true {
      let identity = ObjectIdentifier(state)
      if let known = visited[identity] {
        work = known.work  // `nil` in a circle, for a state whose search has not ended
        break
      }
      visited[identity] = (state, nil)
      chain.append(identity)
      switch Self.need(of: state) {
      case .unknown: break search
      case .mainActor:
        work = isOnMain ? .task : nil  // the main actor goes on while a serial queue is blocked
        break search
      case .source(let derivation, let isQueued):
        if isQueued, let transform = transformOnBlockedQueue(derivation) {
          work = transform
          break search
        }
        guard !derivation.source.isSettled else { break search }  // another thread is about to run the stage
        state = derivation.source
      case .inputs(let inputs, let needsEach):
        work = self.work(neededBy: inputs, each: needsEach, depth: depth)
        break search
      }
    }
    for identity in chain { visited[identity]?.work = work }
    return work
  }

  /// Returns the work that keeps the inputs of a state from resolving it; `nil` if another thread might resolve the state.
  ///
  /// If the state needs each input, one input that needs such work is enough. Otherwise all of them must need such work, because
  /// one result can resolve the state: any result resolves a race, and a failure resolves `all`. `depth` counts the joins on the
  /// way to this state.
  private mutating func work(neededBy inputs: [FutureState], each needsEach: Bool, depth: Int) -> Work? {
    guard depth < Self.maximumDepthOfJoins else { return nil }
    var found: Work?
    for input in inputs {
      // A settled input needs no work, and can resolve a state that does not need each input.
      let neededWork = input.isSettled ? nil : work(neededBy: input, depth: depth + 1)
      if needsEach, let neededWork { return neededWork }
      if !needsEach, neededWork == nil { return nil }
      found = neededWork
    }
    return found
  }

  /// Returns the work that a state needs before it can resolve, as far as its producer tells.
  private static func need(of state: FutureState) -> Need {
    state.underLock {
      guard state.hasProducer else { return .unknown }  // settled meanwhile, or never resolves
      switch state.producer {
      // A promise can resolve the state before its task does.
      case .task: return state.has(.needsMainActor) && !state.has(.hasPromise) ? .mainActor : .unknown
      case .stage:
        guard let derivation = state.derivation, !NodeFacts(of: derivation.stage).isInterruptible else {
          return .unknown  // a timeout or a token can end an interruptible stage; `derivation` is never `nil` here
        }
        return .source(derivation, isQueued: derivation.stage.kind == .queued)
      case .inputs(let inputs):
        var facts = NodeFacts(of: state)
        inputs.describe(into: &facts)
        // `nil` while another thread has the lock of the inputs.
        guard let inputs = facts.inputs, !facts.canEndWithoutInputs else { return .unknown }
        return .inputs(inputs, each: facts.needsEachInput)
      case .none, .start: return .unknown  // such as a promise, a cancelled stage, or a lazy producer before its start
      case .broken, .extras: return .unknown  // never: a broken state has no producer, and `producer` unwraps `.extras`
      }
    }
  }

  /// Returns the transform of a stage if the queue of the waiting thread has to run it; `nil` if another thread can.
  private func transformOnBlockedQueue(_ derivation: Derivation) -> Work? {
    let (stage, source) = (derivation.stage, derivation.source)
    let queue = source.underLock {
      // A stage publishes a new source with its status. So `isConsumer(of:)` is sure to see it only after a load of the status.
      _ = stage.currentStatus
      return stage.isConsumer(of: source) ? stage.queueToRunOn(after: source) as? DispatchQueue : nil
    }
    guard let queue else { return nil }  // the stage has moved to another source, or is not sure to need its queue
    // By label: on Linux each use of the main queue can have another object.
    if queue.label == DispatchQueue.main.label { return isOnMain ? .transform(serialQueue: nil) : nil }
    return Self.isCurrentSerialQueue(queue) ? .transform(serialQueue: queue.label) : nil
  }

  /// Whether the calling thread runs work of `queue`, and the queue is serial.
  ///
  /// Sets a value for a new key. The C function looks whether the thread sees that value, and whether its queue is serial.
  private static func isCurrentSerialQueue(_ queue: DispatchQueue) -> Bool {
    // The system's own queues accept no such value.
    guard !queue.label.hasPrefix("com.apple.") else { return false }
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    defer { queue.setSpecific(key: key, value: nil) }
    return withExtendedLifetime(key) {
      cfutures_is_on_serial_queue(Unmanaged.passUnretained(queue).toOpaque(), Unmanaged.passUnretained(key).toOpaque())
    }
  }
}
