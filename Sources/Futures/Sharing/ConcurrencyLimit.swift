/// Runs work that arrives at any time, at most `limit` pieces of it at once.
///
/// `Future.concurrent` limits a list that is known from the start. This object limits work that screens, requests and tasks
/// bring later. Futures and async code share one queue.
///
/// ```swift
/// let downloads = ConcurrencyLimit(4)
///
/// func thumbnail(_ url: URL) -> Future<Data, any Error> {
///   downloads.run(priority: .low) { download(url) }
/// }
/// ```
///
/// Waiting work starts in the order of its priority, and then of its arrival. Work runs until its future
/// resolves, or can never resolve.
///
/// Cancellation: if `Failure` can represent it, cancelling the future of waiting work removes the work, which never starts.
/// Cancelling the future of running work leaves the work's own future (R17).
///
/// Work that waits or runs keeps this object alive.
public final class ConcurrencyLimit: Sendable {
  /// The maximum number of pieces of work that run at the same time.
  public let limit: Int

  fileprivate let queue = Locked(WorkQueue())

  /// Makes an object without work.
  /// - Parameter limit: The maximum number of running pieces of work. Less than 1 traps.
  public init(_ limit: Int) {
    require(limit >= 1, "ConcurrencyLimit needs a limit of at least 1, but limit is \(limit).")
    self.limit = limit
  }

  /// Runs work when fewer than `limit` pieces of work run.
  ///
  /// `work` runs once, outside every lock. If there is room, it runs at once, on the calling thread. Otherwise it runs on the
  /// thread that resolves earlier work. A million pieces of work that complete at once take no stack.
  ///
  /// A call starts its own work, and at most 16 pieces that other threads add while it runs. A resolution of earlier work starts
  /// the work that waited for it, and at most 16 pieces more. The rest starts on the global queue.
  ///
  /// O(log n) for n waiting pieces of work.
  /// - Parameters:
  ///   - priority: Work of a higher priority starts first. It is not the priority of a thread or task.
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  ///   - work: Starts the work.
  /// - Returns: A future that resolves as the work's future does, with its progress. If `Failure` cannot represent
  ///   cancellation, waiting work starts in spite of its cancellation. Then the returned future leaves the work's own at once.
  public func run<Value: Sendable, Failure: Error>(
    priority: TaskPriority = .medium,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ work: @escaping @Sendable () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    run("ConcurrencyLimit.run", priority: priority, fileID: fileID, line: line, isCancellable: true) { [self] slot in
      let future = work()
      future.whenSettled { [self] in release(slot) }
      return future
    }
  }

  /// Runs `work` when a slot is free; `work` must give its slot back, by one call of `release`.
  ///
  /// `isCancellable`, for diagnostics: whether the slot is also given back when the future that `work` returns is cancelled.
  @usableFromInline
  package func run<Value: Sendable, Failure: Error>(
    _ label: String,
    priority: TaskPriority,
    fileID: StaticString,
    line: UInt,
    isCancellable: Bool = false,
    inSlot work: @escaping @Sendable (Slot) -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    let promise = Promise<Value, Failure>(label, fileID: fileID, line: line)
    let id = ObjectIdentifier(promise.state)  // `raisePriority` finds the work by its future
    let isRemovable = Cancelled<Failure>.isExpressible  // other cancelled work still starts
    // Weak: the closure of `enqueue` keeps this object while the work waits, and later there is nothing to remove.
    promise.onCancel { [weak self] in if isRemovable { self?.remove(id) } }
    let wait = WaitForSlot(self)
    enqueue(id, priority) { [self] slot in
      guard !promise.isResolved else { return release(slot) }  // cancelled after it left the queue
      let future = work(slot)
      if case .sharedState(let state) = future.storage {
        queue.withLock { $0.noteHolder(of: slot, (state, isCancellable)) }
        if let priority = wait.priority { state.raiseTasks(to: priority) }  // of tasks that await `promise.future`
      }
      promise.follow(future)
    }
    // `onlyIfFirst`: `enqueue` can have started the work. Then the promise follows the work's future, and waits for no slot.
    promise.state.setProducer(.inputs(wait), onlyIfFirst: true)
    return promise.future
  }

  /// Raises the priority of work that waits.
  ///
  /// Among work of the new priority, the work keeps the order of its arrival. O(log n).
  /// - Parameters:
  ///   - future: A future that `run` returned.
  ///   - priority: The new priority. A lower one than before has no effect.
  /// - Returns: Whether the work waits, and has at least this priority now.
  @discardableResult
  public func raisePriority<Value, Failure>(of future: Future<Value, Failure>, to priority: TaskPriority) -> Bool {
    guard case .sharedState(let state) = future.storage else { return false }
    return queue.withLock { $0.raise(ObjectIdentifier(state), to: priority) }
  }

  /// The number of pieces of work that have not started.
  public var waitingCount: Int { queue.withLock { $0.waiting.count } }

  /// The number of pieces of work that run.
  public var runningCount: Int { queue.withLock { $0.running } }
}

// MARK: - Starting

extension ConcurrencyLimit {
  /// The number of a running piece of work.
  @usableFromInline package typealias Slot = Int

  /// The maximum number of pieces of work of other threads that one call starts besides its own (R28).
  private static var maximumForOthers: Int { 16 }

  /// Adds work, and starts work if there is room.
  /// - Parameters:
  ///   - id: Names the work for `remove` and `raisePriority`: the identity of an object that `start` keeps alive.
  ///   - priority: The priority of the work.
  ///   - start: Starts the work in the slot that it gets. `release` must be called once with that slot.
  @usableFromInline
  package func enqueue(_ id: ObjectIdentifier, _ priority: TaskPriority, _ start: @escaping @Sendable (Slot) -> Void) {
    queue.withLock { $0.add(id, priority, start) }
    startWork(1 + Self.maximumForOthers)  // 1: this work
  }

  /// Ends a running piece of work, and starts work that waits.
  ///
  /// If the start of this work has not returned yet, this call starts nothing: the thread in `startWork` takes the next work. So
  /// a chain of work that ends at once takes no stack.
  @usableFromInline
  package func release(_ slot: Slot) {
    guard let waiting = queue.withLock({ $0.release(slot) }).waiting else { return }  // releases the holder unlocked
    startWork(waiting + Self.maximumForOthers)  // at most: the work that waits now, and some that others add meanwhile
  }

  /// As `release`, for work that ends in a task: if other work waits, it starts on the global queue, and not in that task (R8).
  @usableFromInline
  package func releaseFromTask(_ slot: Slot) {
    guard let waiting = queue.withLock({ $0.release(slot) }).waiting, waiting > 0 else { return }
    handOn { [self] in startWork(waiting + Self.maximumForOthers) }  // the maximum as in `release`
  }

  /// Notes, for the graph and for raises of the priority, that the promise's future waits for the running work.
  ///
  /// Called after async work has asked for a slot. Has no effect if the slot has come meanwhile: then the promise is resolved.
  @usableFromInline
  package func showWaiting<Value, Failure>(_ promise: Promise<Value, Failure>) {
    promise.state.setProducer(.inputs(WaitForSlot(self)))
  }

  /// Lets the future of `end` stand in the graph for async work, which has no future; called by the `start` of `enqueue`.
  ///
  /// The caller resolves the promise `end` at the end of the work. Cancelling the future of `end` frees no slot.
  @usableFromInline
  package func hold<Value, Failure>(_ slot: Slot, for end: Promise<Value, Failure>) {
    queue.withLock { $0.noteHolder(of: slot, (end.state, isCancellable: false)) }
  }

  /// Removes the work that `enqueue` added with this `id`; has no effect if the work no longer waits.
  @usableFromInline
  package func remove(_ id: ObjectIdentifier) {
    let work = queue.withLock { $0.remove(id) }
    _ = work  // released here, outside the lock
  }

  /// Starts waiting work while there is room, at most `maximum` pieces of it.
  ///
  /// Several threads can call this at the same time, each for other slots. There is a maximum, because otherwise one call could
  /// start work without an end while other threads add work that ends at once (R28).
  private func startWork(_ maximum: Int) {
    var started: Slot?  // of the previous work, whose start has returned; if it has ended, `queue` frees the slot
    for _ in 0..<maximum {
      guard let (slot, start) = queue.withLock({ $0.takeNext(limit, after: started) }) else { return }
      start(slot)
      started = slot
    }
    // The maximum is reached. If slots are free, the global queue goes on with at most what waits then, and some added later.
    guard queue.withLock({ $0.beginHandingOn(limit, after: started) }) else { return }
    handOn { [self] in startWork(queue.withLock { $0.endHandingOn() } + Self.maximumForOthers) }
  }
}

/// The waiting work of a limit, and its running work.
///
/// A piece of work is waiting → starting → running → ended. Work that ends at once is never running. Each has a number, which is
/// its slot while it starts and runs.
private struct WorkQueue {
  typealias Slot = ConcurrencyLimit.Slot
  typealias Start = @Sendable (Slot) -> Void

  /// The place of waiting work: the least one is that of the highest priority, and then the first to arrive.
  struct Turn: Comparable {
    var priority: TaskPriority
    let number: Slot
    let id: ObjectIdentifier  // the key in `waiting`

    static func < (left: Turn, right: Turn) -> Bool {
      left.priority == right.priority ? left.number < right.number : left.priority > right.priority
    }
  }

  /// The future of running work, and whether the work ends once the future is cancelled.
  typealias Holder = (state: FutureState, isCancellable: Bool)

  private var lastNumber = 0
  private(set) var waiting: [ObjectIdentifier: (turn: Turn, start: Start)] = [:]

  /// The turns of `waiting`, and turns of work that was removed or has a higher priority now.
  private var turns = Heap<Turn>()

  /// The number of pieces of work that are starting or running.
  private(set) var running = 0

  /// For each piece of work that a thread starts now: whether it has already ended.
  private var hasEndedWhileStarting: [Slot: Bool] = [:]

  /// The futures of running work, as far as they are known: for the graph, and for the priority of tasks.
  private(set) var holders: [Slot: Holder] = [:]

  /// Whether the global queue will start work.
  private var isHandedOn = false

  mutating func add(_ id: ObjectIdentifier, _ priority: TaskPriority, _ start: @escaping Start) {
    lastNumber += 1
    let turn = Turn(priority: priority, number: lastNumber, id: id)
    waiting[id] = (turn, start)
    turns.insert(turn)
  }

  /// Raises the priority of waiting work; returns whether the work waits.
  mutating func raise(_ id: ObjectIdentifier, to priority: TaskPriority) -> Bool {
    guard var turn = waiting[id]?.turn else { return false }
    guard turn.priority < priority else { return true }
    turn.priority = priority
    waiting[id]?.turn = turn
    turns.insert(turn)  // the heap keeps the old turn until `popFirst` drops it, or old ones outnumber waiting work
    dropOldTurns()
    return true
  }

  /// Removes waiting work, and returns its start, which the caller releases after unlocking.
  mutating func remove(_ id: ObjectIdentifier) -> Start? {
    defer { dropOldTurns() }  // the turn of this work stays until there are many old ones
    return waiting.removeValue(forKey: id)?.start
  }

  /// Removes and returns the next work, and counts it as starting.
  ///
  /// First notes that the start of the caller's previous work, in the slot `started`, has returned; `nil` for the first work.
  /// - Returns: The slot of the work, and its start; `nil` without room or work.
  mutating func takeNext(_ limit: Int, after started: Slot?) -> (Slot, Start)? {
    endStart(started)
    guard running < limit, let (turn, start) = popFirst() else { return nil }
    running += 1
    hasEndedWhileStarting[turn.number] = false
    return (turn.number, start)
  }

  /// Notes the future of work, for the graph and for priorities, while the work starts; ignores work that has already ended.
  mutating func noteHolder(of slot: Slot, _ holder: Holder) {
    if hasEndedWhileStarting[slot] == false { holders[slot] = holder }  // after `release`, nothing would remove it
  }

  /// Ends a piece of work.
  /// - Returns: The number of pieces of work that wait; `nil` while a thread still starts this work, because that thread takes the
  ///   next work itself. `holder` is the slot's, if one was noted; the caller releases it after unlocking.
  mutating func release(_ slot: Slot) -> (waiting: Int?, holder: Holder?) {
    let holder = holders.removeValue(forKey: slot)
    guard hasEndedWhileStarting[slot] == nil else {
      hasEndedWhileStarting[slot] = true  // `endStart` frees the slot
      return (nil, holder)
    }
    running -= 1
    return (waiting.count, holder)
  }

  /// Notes `started` as `takeNext` does, and decides whether the caller hands waiting work on to the global queue.
  /// - Returns: Whether the caller hands on: there is room, work waits, and no other thread has handed work on.
  mutating func beginHandingOn(_ limit: Int, after started: Slot?) -> Bool {
    endStart(started)
    guard running < limit, !waiting.isEmpty, !isHandedOn else { return false }
    isHandedOn = true
    return true
  }

  /// Notes that the thread of the global queue starts work now, so that the next caller can hand work on again.
  /// - Returns: The number of pieces of work that wait, which bounds how much work `startWork` then starts.
  mutating func endHandingOn() -> Int {
    isHandedOn = false
    return waiting.count
  }

  /// Notes that the start of a slot's work has returned, and ends work whose `release(_:)` came before that; ignores `nil`.
  private mutating func endStart(_ slot: Slot?) {
    if let slot, let hasEnded = hasEndedWhileStarting.removeValue(forKey: slot), hasEnded { running -= 1 }
  }

  /// Removes and returns the first waiting work; drops old turns, whose work was removed or has a higher priority now.
  private mutating func popFirst() -> (Turn, Start)? {
    while let turn = turns.first {
      turns.removeFirst()
      if waiting[turn.id]?.turn == turn, let work = waiting.removeValue(forKey: turn.id) { return work }
    }
    return nil
  }

  /// Drops the turns of removed work, and the earlier turns of raised work, when they outnumber the waiting work; amortised O(1).
  private mutating func dropOldTurns() {
    guard turns.elements.count > 2 * waiting.count else { return }
    turns = Heap(waiting.values.map(\.turn))
  }
}

/// The wait of a piece of work for a slot; its inputs are the running work, of which one piece has to end.
///
/// The graph reads it, and it keeps the priority of the tasks that await the work. The state of the waiting work owns it, until
/// the work starts or is cancelled.
private final class WaitForSlot: Inputs, @unchecked Sendable {
  // @unchecked: the lock of the queue protects `raised`, and the limit never changes.
  private let limit: ConcurrencyLimit
  private var raised: TaskPriority?

  init(_ limit: ConcurrencyLimit) { self.limit = limit }

  /// The highest priority of the tasks that await the work; `run` raises the work's own tasks to it when the work starts.
  var priority: TaskPriority? { limit.queue.withLock { _ in raised } }

  override func pendingInputs(raisingLaterTasksTo priority: TaskPriority?) -> [FutureState] {
    limit.queue.withLock { queue in
      if let priority { raised = max(raised ?? priority, priority) }
      return queue.holders.values.map(\.state)
    }
  }

  override var startsInputs: Bool { true }  // the waiting work itself can have tasks, which start later

  override func describe(into facts: inout NodeFacts) {
    (facts.inputs, facts.canEndWithoutInputs) =
      limit.queue.withLockIfAvailable { queue in
        // Not only the end of an input can free a slot. A slot without a holder belongs to work that is starting, or whose future is
        // not known. And a cancellable holder gives its slot back when it is cancelled, for example by a timeout of its caller.
        let holders = queue.holders.values
        let isFreedWithoutInput = holders.count < queue.running || holders.contains(where: \.isCancellable)
        return (holders.map(\.state), isFreedWithoutInput)
      } ?? (nil, true)  // another thread has the lock: the inputs are unknown
    facts.endsWithOneInput = true  // which frees its slot
  }
}

extension Future {
  /// Calls `body` once the future is resolved, or can never resolve, on the thread that settles it.
  ///
  /// The call counts neither as a consumer that keeps the work running, nor as a wait for a broken promise.
  func whenSettled(_ body: @escaping @Sendable () -> Void) {
    guard case .sharedState(let state) = storage else { return body() }
    // Only an `input` also learns that the state becomes an orphan, which no producer can resolve any more.
    let consumer = Consumer(kind: .input) { _, _, _ in body() }
    consumer.enter(.resultOnly)  // so it keeps no work running; without the lock, because it is not shared yet
    state.attach(consumer)
  }
}
