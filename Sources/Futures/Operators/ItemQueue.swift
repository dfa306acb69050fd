/// Runs work on a list of items, at most `limit` of them at any time.
///
/// One thread at a time starts items, in their order. The first is the caller of `startItems`. Later it is any thread that frees
/// a slot while no other thread starts items. So items that complete at once run in a loop, and take no stack.
@_fixed_layout
@usableFromInline
final class ItemQueue<Item: Sendable, Value: Sendable, Failure: Error>: Inputs, @unchecked Sendable {
  // @unchecked: the variables are protected by `lock`.
  @usableFromInline let start: @Sendable (Item) -> Future<Value, Failure>
  @usableFromInline let limit: Int
  @usableFromInline let total: Int
  @usableFromInline let derived: State<[Value], Failure>
  @usableFromInline let lock = Lock()

  /// The items that have not started, in reverse order; starting an item releases it.
  @exclusivity(unchecked) @usableFromInline var waiting: [Item]
  /// The values of the completed items, in the order of the items.
  @exclusivity(unchecked) @usableFromInline var values: [Value?] = []
  /// By index, the running items and the orphans: items whose future only a cancellation can resolve.
  @exclusivity(unchecked) @usableFromInline var running: [Int: JoinedInput] = [:]
  /// The number of started items whose futures never resolve, and their strongest reason: `nil` only without such an item.
  @exclusivity(unchecked) @usableFromInline var broken = 0
  @exclusivity(unchecked) @usableFromInline var reason: BreakReason?
  /// The number of started items without a value, including the broken ones.
  @exclusivity(unchecked) @usableFromInline var active = 0
  @exclusivity(unchecked) @usableFromInline var isStarting = false  // a thread is in `startItems`
  @exclusivity(unchecked) @usableFromInline var isFinished = false  // no item counts any more
  /// Whether the derived future was cancelled but cannot represent cancellation.
  ///
  /// This queue still starts items and gets their results, but no longer counts as a consumer of their futures (R16).
  @exclusivity(unchecked) @usableFromInline var isResultOnly = false
  /// The highest priority of the tasks that await the derived future, for the items that start later.
  @exclusivity(unchecked) @usableFromInline var priority: TaskPriority?

  @inlinable
  init(
    _ items: some Collection<Item>,
    limit: Int,
    resolving derived: State<[Value], Failure>,
    _ start: @escaping @Sendable (Item) -> Future<Value, Failure>
  ) {
    waiting = items.reversed()
    total = waiting.count
    self.limit = limit
    self.derived = derived
    self.start = start
  }

  /// The next action, performed outside the lock.
  @usableFromInline
  enum Step {
    case start(Item, index: Int)
    case succeed([Value])
    case breakForever(BreakReason, leaving: [JoinedInput])  // the orphans, which still list this queue
    /// No slot is free, or no item is left to start. The next result calls `startItems` again.
    case wait
  }

  /// Starts items while slots are free, unless another thread does so; resolves or breaks the derived future after the last item.
  @_alwaysEmitIntoClient
  func startItems(in trampoline: Trampoline? = nil) {
    let isOurTurn = lock.withLock {
      guard !isStarting, !isFinished else { return false }
      isStarting = true  // `nextStep` sets it to `false`
      return true
    }
    guard isOurTurn else { return }
    while true {
      switch lock.withLock(nextStep) {
      case .start(let item, let index): add(start(item), index: index, in: trampoline)
      case .succeed(let values):
        derived.resolve(.success(values), in: trampoline)
        return
      case .breakForever(let reason, let inputs):
        derived.breakPromise(reason, leaving: inputs, in: trampoline)
        return
      case .wait: return
      }
    }
  }

  /// Returns the next action of the thread in `startItems`, under the lock; the thread goes on only after the action `start`.
  @_alwaysEmitIntoClient
  func nextStep() -> Step {
    guard !isFinished else { return .wait }  // no thread starts items any more, so `isStarting` can stay `true`
    if active < limit, let item = waiting.popLast() {
      active += 1
      values.append(nil)
      return .start(item, index: values.count - 1)
    }
    isStarting = false
    // An active item that is not broken can still get a value, and then frees its slot.
    guard active == broken else { return .wait }
    isFinished = true
    // Without a reason, no item is broken or active. So a slot was free above, but no item was left: each has its value.
    guard let reason else { return .succeed(values.map { $0.unsafelyUnwrapped }) }
    defer { running = [:] }
    return .breakForever(reason, leaving: Array(running.values))
  }

  /// Takes the future of an item that has started: counts its result, or attaches to it while it is pending.
  @_alwaysEmitIntoClient
  func add(_ future: Future<Value, Failure>, index: Int, in trampoline: Trampoline?) {
    if let result = future.peek() {
      switch result {
      case .success(let value): derived.addProgressPart(of: total) { storeValue(index, value) }  // a part that is done
      case .failure(let error): fail(error, in: trampoline)
      }
    } else if let input = input(from: future, index: index) {  // never `nil`: without a state, there is a result
      // While `start` ran, `running` lacked this input, and other threads could finish this queue, or cancel or await the derived
      // future. So the code below, outside the lock, cancels the input if nothing else waits for it (R16), or raises its tasks.
      var (isFinished, isResultOnly) = (false, false)
      var priority: TaskPriority?
      derived.addProgressPart(of: total, input.state) {  // locks `derived`, so a progress record counts the item once
        lock.withLock {
          (isFinished, isResultOnly, priority) = (self.isFinished, self.isResultOnly, self.priority)
          if isResultOnly { input.consumer.enter(.resultOnly) }  // not attached, so this needs no lock of its source
          if !isFinished { running[index] = input }
        }
      }
      // An input that does not attach drops its closure: the item's state can have stored the closure, which owns this queue.
      if isFinished { input.consumer.dropCaptures() } else { input.attach() }
      if isFinished || isResultOnly { input.state.cancelIfUnneeded() }  // result-only: `derived` was cancelled
      if let priority { input.state.raiseTasks(to: priority) }
    }
  }

  /// Makes an item's future an input, whose result frees the slot for the next item; `nil` if it was resolved from the start.
  @_alwaysEmitIntoClient
  func input(from future: Future<Value, Failure>, index: Int) -> JoinedInput? {
    future.input { _, source, trampoline in
      switch unsafeDowncast(source, to: State<Value, Failure>.self).result {
      case .success(let value)?: self.storeValue(index, value)
      case .failure(let error)?: self.fail(error, in: trampoline)
      case nil: self.markBroken(index, source.breakReason)  // broken, or an orphan (pending without a producer)
      }
      self.startItems(in: trampoline)
    }
  }

  /// Counts an item that keeps its slot because its future never resolves.
  ///
  /// The future is broken for `reason`. If that is `nil`, the future is an orphan, which only a cancellation can resolve.
  @usableFromInline
  func markBroken(_ index: Int, _ reason: BreakReason?) {
    let input = lock.withLock { () -> JoinedInput? in
      guard !isFinished else { return nil }
      self.reason.takeStronger(reason)  // `nil` counts as `never`, so `self.reason` has a value from now on
      broken += 1
      // An orphan still counts this queue as a consumer. So it stays in `running` until `nextStep` breaks the derived future.
      return reason == nil ? nil : running.removeValue(forKey: index)
    }
    _ = input  // released here, outside the lock
  }

  /// Stores the value of an item, and frees its slot.
  @_alwaysEmitIntoClient
  func storeValue(_ index: Int, _ value: Value) {
    let input = lock.withLock { () -> JoinedInput? in
      guard !isFinished else { return nil }
      values[index] = value
      active -= 1
      return running.removeValue(forKey: index)
    }
    _ = input  // released here, outside the lock
  }

  /// Fails the derived future with the error of an item, and leaves the other items; changes nothing if the queue has finished.
  @_alwaysEmitIntoClient
  func fail(_ error: Failure, in trampoline: Trampoline?) {
    let wasFinished = lock.withLock {
      defer { isFinished = true }
      return isFinished
    }
    guard !wasFinished else { return }
    derived.resolve(.failure(error), in: trampoline)
    leaveItems()
  }

  /// Returns the states of `running`, whose tasks the caller raises to `priority`; keeps `priority` for items that start later.
  override func pendingInputs(raisingLaterTasksTo priority: TaskPriority?) -> [FutureState] {
    lock.withLock {
      // The lowest priority, `background`, raises no task.
      if let priority, priority > self.priority ?? .background { self.priority = priority }
      return running.map(\.value.state)
    }
  }

  override func describe(into facts: inout NodeFacts) {
    // The failure of an item that is starting can end the derived future, but that item is no input yet. If another thread has the
    // lock, one might be starting.
    (facts.inputs, facts.canEndWithoutInputs) =
      lock.withLockIfAvailable { (running.map(\.value.state), isStarting) } ?? (nil, true)
  }

  override var startsInputs: Bool { true }  // the next item starts when a slot is free

  override var progressParts: ProgressParts {
    lock.withLock {
      let share = 1 / Double(total)
      let completed = values.count - active  // `values` also has a place for each active item
      return ProgressParts(
        states: running.map(\.value.state),
        share: share,
        done: Double(completed) * share,
        awaited: total - completed
      )
    }
  }

  /// Leaves the running items, drops the items that have not started, and cancels futures without other consumers.
  @_alwaysEmitIntoClient
  func leaveItems() { FutureState.cancel(removeFromInputs(forResult: false)) }  // `false`: needs no more results

  @usableFromInline
  override func removeFromInputs(forResult needsResult: Bool) -> [FutureState] {
    let (running, waiting, values) = lock.withLock { () -> ([Int: JoinedInput], [Item], [Value?]) in
      isResultOnly = needsResult  // then items that start later are result-only from the start
      // If the derived future still needs its result, it needs each item's result. So the waiting items still start.
      guard !needsResult else { return (self.running, [], []) }
      isFinished = true
      defer {
        self.running = [:]
        self.waiting = []
        self.values = []
      }
      return (self.running, self.waiting, self.values)
    }
    _ = (waiting, values)  // released here, outside the lock
    return running.sorted { $0.key < $1.key }.map(\.value)  // the caller cancels in the order of the items
      .filter { $0.state.removeCancelled($0.consumer, forResult: needsResult) }.map(\.state)
  }
}
