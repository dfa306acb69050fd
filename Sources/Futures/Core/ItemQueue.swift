public import Synchronization

/// Work on a list of items, of which at most `limit` are under way at any time.
///
/// One thread at a time starts items, in their order: the one that calls `startItems` first, and then whichever frees a place
/// while nobody does. A thread that frees a place while another starts items leaves that to it. So items that are done at
/// once run in a loop, and take no stack.
@_fixed_layout
@usableFromInline
final class ItemQueue<Item: Sendable, Value: Sendable, Failure: Error>: InputHolder, @unchecked Sendable {
  // @unchecked: the variables are protected by `lock`.
  @usableFromInline let start: @Sendable (Item) -> Future<Value, Failure>
  @usableFromInline let limit: Int
  @usableFromInline let total: Int
  @usableFromInline let derived: State<[Value], Failure>
  @usableFromInline let lock = Lock()

  /// The items to be started, last first, so that each is released when it has been started.
  @exclusivity(unchecked) @usableFromInline var waiting: [Item]
  /// The values of the items that are done, in the order of the items.
  @exclusivity(unchecked) @usableFromInline var values: [Value?] = []
  /// The items that are under way, by their index.
  @exclusivity(unchecked) @usableFromInline var running: [Int: GatheredInput] = [:]
  /// How many of those will never be done, and why.
  @exclusivity(unchecked) @usableFromInline var broken = 0
  @exclusivity(unchecked) @usableFromInline var reason: BreakReason?
  /// How many items have been started and are not done.
  @exclusivity(unchecked) @usableFromInline var active = 0
  @exclusivity(unchecked) @usableFromInline var isStarting = false
  @exclusivity(unchecked) @usableFromInline var isOver = false
  /// Whether the whole was cancelled but cannot say so, so that items are still done, and count for nobody.
  @exclusivity(unchecked) @usableFromInline var isSilent = false

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

  /// What is to be done next, outside the lock.
  @usableFromInline
  enum Step {
    case start(Item, index: Int)
    case succeed([Value])
    case breakForever(BreakReason)
    case wait
  }

  /// Starts items as long as there are places for them, unless another thread does.
  @inlinable
  func startItems(in loop: DeliveryLoop?) {
    let isOurs = lock.withLock {
      guard !isStarting, !isOver else { return false }
      isStarting = true
      return true
    }
    guard isOurs else { return }
    while true {
      switch lock.withLock(nextStep) {
      case .start(let item, let index): add(start(item), index: index, in: loop)
      case .succeed(let values):
        derived.resolve(.success(values), in: loop)
        return
      case .breakForever(let reason):
        derived.breakPromise(reason, in: loop)
        return
      case .wait: return
      }
    }
  }

  /// Under the lock; any step but `start` gives up the right to start items.
  @inlinable
  func nextStep() -> Step {
    guard !isOver else { return .wait }
    if active < limit, let item = waiting.popLast() {
      active += 1
      values.append(nil)
      return .start(item, index: values.count - 1)
    }
    isStarting = false
    guard active == broken else { return .wait }
    isOver = true
    guard let reason else { return .succeed(values.map { $0.unsafelyUnwrapped }) }
    return .breakForever(reason)
  }

  @inlinable
  func add(_ future: Future<Value, Failure>, index: Int, in loop: DeliveryLoop?) {
    if let result = future.peek() {
      switch result {
      case .success(let value): derived.addProgressPart(of: total) { note(index, value) }
      case .failure(let error): fail(error, in: loop)
      }
    } else if case .shared(let state) = future.storage {
      let node = CallbackNode(kind: .input) { _, source, loop in
        if let result = unsafeDowncast(source, to: State<Value, Failure>.self).result {
          self.finish(index, result, in: loop)
        } else {
          self.lose(index, source.breakReason)
        }
        self.startItems(in: loop)
      }
      var (isOver, isSilent) = (false, false)
      derived.addProgressPart(of: total, state) {
        lock.withLock {
          (isOver, isSilent) = (self.isOver, self.isSilent)
          if isSilent { node.status.store(.silent, ordering: .relaxed) }  // nobody else has the node yet
          if !isOver { running[index] = GatheredInput(state: state, node: node) }
        }
      }
      if !isOver { state.attach(node) }
      if isOver || isSilent { state.cancelIfUnneeded() }
    }
  }

  @inlinable
  func finish(_ index: Int, _ result: Result<Value, Failure>, in loop: DeliveryLoop?) {
    switch result {
    case .success(let value): note(index, value)
    case .failure(let error): fail(error, in: loop)
    }
  }

  @inlinable
  func lose(_ index: Int, _ reason: BreakReason?) {
    note(index) {
      if self.reason?.error == nil { self.reason = reason ?? .never }
      broken += 1
    }
  }

  @inlinable
  func note(_ index: Int, _ value: Value) {
    note(index) {
      values[index] = value
      active -= 1
    }
  }

  /// Notes, under the lock, that an item is not under way any more.
  @inlinable
  func note(_ index: Int, _ change: () -> Void) {
    let input = lock.withLock { () -> GatheredInput? in
      guard !isOver else { return nil }
      change()
      return running.removeValue(forKey: index)
    }
    _ = input  // released here, outside the lock
  }

  @inlinable
  func fail(_ error: Failure, in loop: DeliveryLoop?) {
    let isFirst = lock.withLock {
      defer { isOver = true }
      return !isOver
    }
    guard isFirst else { return }
    derived.resolve(.failure(error), in: loop)
    leaveItems()
  }

  override var progressParts: ProgressParts {
    lock.withLock {
      let share = 1 / Double(total)
      return ProgressParts(
        states: running.map(\.value.state),
        share: share,
        done: Double(values.count - active) * share,
        awaited: total - (values.count - active)
      )
    }
  }

  /// Leaves what is under way, gives up the rest, and cancels what nobody else needs.
  @inlinable
  func leaveItems() { AnySharedState.cancel(leaveInputs(silently: false)) }

  @usableFromInline
  override func leaveInputs(silently isSilent: Bool) -> [AnySharedState] {
    let (running, waiting, values) = lock.withLock { () -> ([Int: GatheredInput], [Item], [Value?]) in
      self.isSilent = isSilent
      guard !isSilent else { return (self.running, [], []) }
      isOver = true
      defer {
        self.running = [:]
        self.waiting = []
        self.values = []
      }
      return (self.running, self.waiting, self.values)
    }
    _ = (waiting, values)  // released here, outside the lock
    return running.sorted { $0.key < $1.key }.map(\.value)
      .filter { $0.state.leave($0.node, silently: isSilent) }.map(\.state)
  }
}
