internal import Dispatch

/// The pending timers of the process, on Dispatch's monotonic clock: one timer source, and a heap of deadlines.
///
/// Q: Why not a timer source for each? A: A source takes a kilobyte, and Dispatch frees a cancelled one later. A timer of the heap is
/// an object of 64 bytes and a place of 8.
///
/// Q: Why not `asyncAfter`? A: It retains a cancelled work item until its deadline.
final class Timers: @unchecked Sendable {
  // @unchecked: `lock` protects `heap`, the places of the timers, and `armed`.
  static let shared = Timers()

  final class Timer: @unchecked Sendable {
    // @unchecked: the lock of the timers protects `place` and `work`. The thread that removes the timer from the heap takes `work`.
    fileprivate let deadline: UInt64
    fileprivate let queue: DispatchQueue
    fileprivate var work: (@Sendable () -> Void)?

    /// The place in the heap; -1 outside of it.
    fileprivate var place = -1

    fileprivate init(_ deadline: UInt64, _ queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
      self.deadline = deadline
      self.queue = queue
      self.work = work
    }
  }

  private let lock = Lock()

  /// A binary heap, whose timers know their places, so that a cancelled one leaves in O(log n).
  private var heap: [Timer] = []

  /// The time at which the source fires next; `.max` if it is not scheduled.
  private var armed = UInt64.max
  private let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "futures.timers"))

  private init() {
    source.setEventHandler { [unowned self] in startDueWork() }  // `shared` is never released
    source.activate()
  }

  /// Submits `work` to `queue` after a delay.
  /// - Returns: A closure that cancels the timer, and releases the work at once. O(log n) for n pending timers.
  func start(
    afterNanoseconds delay: Int64,
    on queue: DispatchQueue,
    _ work: @escaping @Sendable () -> Void
  ) -> @Sendable () -> Void {
    let timer = Timer(DispatchTime(afterNanoseconds: delay).uptimeNanoseconds, queue, work)
    lock.withLock {
      heap.append(timer)
      moveUp(timer, from: heap.count - 1)
      arm()
    }
    return { self.cancel(timer) }
  }

  private func cancel(_ timer: Timer) {
    let work = lock.withLock { timer.place < 0 ? nil : remove(timer) }  // `nil` if it has fired or was cancelled before
    _ = work  // released here, outside the lock
  }

  /// Submits the work that is due now, when the source has fired.
  ///
  /// No work runs on this thread, so none delays another.
  private func startDueWork() {
    let now = DispatchTime.now().uptimeNanoseconds
    lock.withLock { armed = .max }  // the source has fired, so it is not scheduled
    while let (queue, work) = lock.withLock({ takeDueWork(now) }) { queue.async(execute: work) }
  }

  // MARK: - Under the lock

  /// Takes the work of the first timer if it is due; otherwise lets the source fire at the next deadline.
  private func takeDueWork(_ now: UInt64) -> (DispatchQueue, @Sendable () -> Void)? {
    guard let timer = heap.first, timer.deadline <= now, let work = remove(timer) else {  // `remove` never gives `nil`
      arm()
      return nil
    }
    return (timer.queue, work)
  }

  /// Schedules the source for the next deadline, unless it fires by then anyway.
  private func arm() {
    guard let next = heap.first?.deadline, next < armed else { return }
    armed = next
    source.schedule(deadline: DispatchTime(uptimeNanoseconds: next))
  }

  /// Takes a timer out of the heap; the heap's last timer takes its place, and moves up or down from there.
  /// - Returns: The work, never `nil` for a timer of the heap, for the caller to submit, or to release after unlocking.
  private func remove(_ timer: Timer) -> (@Sendable () -> Void)? {
    let (place, last) = (timer.place, heap.removeLast())
    timer.place = -1
    if last !== timer {
      moveUp(last, from: place)
      if last.place == place { moveDown(last) }
    }
    if heap.isEmpty { heap = [] }  // frees the memory
    return timer.work.take()
  }

  /// Puts a timer at the free place `start`, or further up: parents that are due later move down.
  private func moveUp(_ timer: Timer, from start: Int) {
    var place = start
    while place > 0, case let parent = (place - 1) / 2, timer.deadline < heap[parent].deadline {
      put(heap[parent], at: place)
      place = parent
    }
    put(timer, at: place)
  }

  /// Moves a timer of the heap down until none of its children is due earlier.
  private func moveDown(_ timer: Timer) {
    var place = timer.place
    while true {
      let children = (2 * place + 1..<2 * place + 3).clamped(to: 0..<heap.count)  // none, one or two
      guard let child = children.min(by: { heap[$0].deadline < heap[$1].deadline }),
        heap[child].deadline < timer.deadline
      else { break }
      put(heap[child], at: place)
      place = child
    }
    put(timer, at: place)
  }

  /// Writes a timer to a place, and notes the place.
  private func put(_ timer: Timer, at place: Int) {
    heap[place] = timer
    timer.place = place
  }
}

/// A deadline or a token that can interrupt an operation.
///
/// An operation that ends by itself ends the interruption. Both can end at the same time, on any thread, even before the
/// interruption has started. As `Inputs`, the interruption is the producer of a stage whose source never resolves, so that a
/// cancellation of the stage also cancels the interruption.
@usableFromInline
final class Interruption: Inputs, @unchecked Sendable {
  // @unchecked: `state` is locked.
  private enum State {
    /// Not started. Next is `running` or `ended`.
    case idle
    /// Started. Next is `ended`.
    case running(cancel: @Sendable () -> Void)
    /// Happened or cancelled. Final.
    case ended
  }

  private let state = Locked(State.idle)

  @usableFromInline
  override init() {}

  /// Cancels the interruption of a cancelled stage, unless the stage still needs a result, which the interruption can supply.
  override func removeFromInputs(forResult needsResult: Bool) -> [FutureState] {
    if !needsResult { cancel() }
    return []  // no inputs that the caller would cancel, too
  }

  /// Starts the interruption.
  /// - Parameter start: Starts the timer or registers with the token; returns a closure that stops the timer or unregisters.
  @usableFromInline
  func start(_ start: () -> @Sendable () -> Void) {
    let cancel = start()
    let hasEnded = state.withLock { state in
      guard case .idle = state else { return true }
      state = .running(cancel: cancel)
      return false
    }
    if hasEnded { cancel() }  // it ended before or during `start()`, when it had no `cancel` yet
  }

  /// Records that the interruption has happened, and releases the closure that cancels it, which can own this object.
  /// - Returns: `false` if it had happened or was cancelled before.
  @usableFromInline
  @discardableResult
  func fire() -> Bool { if case .ended = finish() { false } else { true } }

  /// Whether the interruption has happened, or can no longer happen.
  var hasEnded: Bool { state.withLock { if case .ended = $0 { true } else { false } } }

  /// As `hasEnded`, for diagnostics, which wait for no lock: `false` if another thread has the lock.
  var isSurelyOver: Bool { state.withLockIfAvailable { if case .ended = $0 { true } else { false } } ?? false }

  /// Cancels the interruption, which releases its work.
  func cancel() { if case .running(let cancel) = finish() { cancel() } }

  /// Ends the interruption, and returns its previous state.
  private func finish() -> State {
    state.withLock { state in
      defer { state = .ended }
      return state
    }
  }
}

/// The work of a deadline, which runs once, and after which the future leaves its source (R12).
///
/// Breaks the future if the context drops the work (R2a).
final class DeadlineWork: Sendable {
  private let deadline: Interruption
  private let future: FutureState
  private let source: FutureState
  private let work: Locked<(@Sendable () -> Void)?>

  init(
    _ deadline: Interruption,
    of future: FutureState,
    leaving source: FutureState,
    _ work: @escaping @Sendable () -> Void
  ) {
    self.deadline = deadline
    self.future = future
    self.source = source
    self.work = Locked(work)
  }

  /// Runs the work on the first call; the work itself checks whether the future is resolved.
  func run() {
    guard let work = work.take() else { return }
    deadline.fire()  // notes that the delay is over, and releases the closure that would stop the timer
    work()
    leaveSource()
  }

  /// Cancels the source if nothing else needs it; has no effect if its result has resolved the future.
  private func leaveSource() {
    if source.removeCancelled(future) { source.cancel() }  // as if cancelled: `future` has ended, and needs no result
  }

  deinit {
    // The context dropped the work only if the work has not run, and no resolution or cancellation has ended the deadline.
    guard work.take() != nil, deadline.fire() else { return }
    future.breakPromise(.droppedWork(of: future))
    leaveSource()
  }
}

extension BreakReason {
  /// Makes the reason for a state whose work an execution context dropped, and lets the test kit record the error.
  /// - Parameters:
  ///   - source: The source of the dropped work; for a deadline, the state that the deadline resolves.
  ///   - derived: The state that the work resolves; `nil` for a deadline.
  /// - Returns: A reason that names the labelled promise of `source`, or else of `derived`, or else of the follower of `derived`.
  ///   Without any label, the reason names the `Future(on:)` that made the work, if there is one.
  static func droppedWork(of source: FutureState, resolving derived: FutureState? = nil) -> BreakReason {
    let origin = source.nearestLabel ?? derived?.nearestLabel ?? derived?.labelOfFollower
    let place = origin.map { ($0.fileID, $0.line) } ?? source.startPlace
    let error = BrokenPromise(
      label: origin?.text,
      fileID: place.map { String(cString: $0.fileID) } ?? "",
      line: place?.line ?? 0,
      cause: .workDropped
    )
    let observers = FuturesDiagnostics.breakObservers
    return BreakReason(error, isRecorded: observers.exist && observers.record(error))
  }
}

extension Locked {
  /// Takes the value out, for the caller to release after unlocking.
  func take<Wrapped>() -> Wrapped? where Value == Wrapped? {
    withLock { value in
      defer { value = nil }
      return value
    }
  }
}
