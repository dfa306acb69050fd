public import Futures

/// An execution context with virtual time.
///
/// Its work runs on the test's thread, when the test calls `runNext()`, `runAll()` or `advance(by:)`.
///
/// ```swift
/// let manual = ManualContext()
/// let late = Future<Int, any Error>.never
///   .timeout(after: .seconds(5), on: manual.context)
/// manual.advance(by: .seconds(5))
/// #expect(late.isResolved)
/// ```
///
/// Work without a delay is ready at once. Work with a delay is ready when the test has advanced the time that far. Ready work
/// runs in the order of its due time, and then of its submission. Any thread can submit and run work.
///
/// Keep this object as long as the test needs its work. Its `deinit` releases its work and its timers, and their
/// futures break: they fail with `BrokenPromise` if their failure type can hold it. These broken futures never trap,
/// because a test can end with pending work.
public final class ManualContext: Sendable {
  // The closures of `context` capture `agenda`, not `self`. Work owns the closure that cancels its timer, so with
  // `self` a timer would keep this object alive.
  private let agenda = Locked(Agenda())

  /// Makes a context without work, at time zero.
  public init() {}

  deinit {
    var pending: Agenda? = agenda.withLock { $0.close() }
    guard pending?.count != 0 else { return }
    // Futures that break meanwhile on other threads belong to other tests.
    let thread = UInt(bitPattern: UnsafeMutableRawPointer.ofCurrentThread)
    let isThisThread = { @Sendable in thread == UInt(bitPattern: UnsafeMutableRawPointer.ofCurrentThread) }
    FuturesDiagnostics.breakObservers.excuse(onThreadsWhere: isThisThread) {
      pending = nil  // releases the work, which breaks its futures: outside the lock
    }
  }

  /// The execution context that submits work to this object.
  ///
  /// The context does not keep this object alive. Without the object, the context drops its work: the futures of the
  /// work break.
  public var context: ExecutionContext {
    .custom { [agenda] work in
      _ = agenda.withLock { $0.add(work) }  // without its turn: only a timer can be cancelled
    } afterNanoseconds: { [agenda] delay, work in
      guard let turn = agenda.withLock({ $0.add(work, afterNanoseconds: delay) }) else { return {} }  // dropped
      return {
        let work = agenda.withLock { $0.remove(turn) }
        _ = work  // released here, outside the lock
      }
    } now: { [agenda] in
      agenda.withLock { $0.now }
    }
  }

  /// A closure that returns the virtual time, also after this object has gone.
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  var currentTime: @Sendable () -> Duration { { [agenda] in .nanoseconds(agenda.withLock { $0.now }) } }

  /// The place where the queues of this context submit their work.
  var queueBackend: VirtualQueue.Backend {
    VirtualQueue.Backend { [agenda] work in
      // As a timer without a delay: `remove` finds only timers, and `sync` has to remove work.
      let turn = agenda.withLock { $0.add(work, afterNanoseconds: 0) }
      return { turn.flatMap { turn in agenda.withLock { $0.remove(turn) } } }
    } submitAfter: { [agenda] delay, work in
      _ = agenda.withLock { $0.add(work, afterNanoseconds: delay) }  // without its turn: a queue removes no timer
    } willRunAtOnce: {
      // Nothing to do: only a run of `exploreOrders` reports the calls of `sync`.
    }
  }

  /// Runs `body` with this context in the place of the main context: code that says `on: .main` runs without a change.
  ///
  /// ```
  /// @Test @MainActor func reload() {
  ///   let manual = ManualContext()
  ///   manual.asMain {
  ///     screen.reload()  // `.whenSucceeded(on: .main) { … }`, `.timeout(after: .seconds(5), on: .main)`
  ///     manual.advance(by: .seconds(5))
  ///   }
  /// }
  /// ```
  ///
  /// The replacement applies to callbacks and timers of the code that `body` calls, and of the tasks that this code
  /// starts. Other threads, `DispatchQueue.main`, and hops to the main actor are not affected. The callbacks are
  /// isolated to the main actor, so run the work of this context on the main actor, as in `body`.
  @MainActor
  public func asMain<Result>(_ body: @MainActor () throws -> Result) rethrows -> Result {
    try MainContext.replace(with: context) { try body() }
  }

  /// Runs an asynchronous `body` with this context in the place of the main context, for `body` and the tasks that it makes.
  @MainActor
  public func asMain<Result>(_ body: @MainActor () async throws -> Result) async rethrows -> Result {
    try await MainContext.replace(with: context) { try await body() }
  }

  /// The number of pieces of work that have not started, including delayed ones.
  public var pendingCount: Int { agenda.withLock { $0.count } }

  /// Runs the next ready piece of work, without moving the time.
  /// - Returns: Whether there was one.
  @discardableResult
  public func runNext() -> Bool {
    guard let work = agenda.withLock({ $0.takeNext(until: $0.now) }) else { return false }
    work()
    return true
  }

  /// Runs ready work until none is left, without moving the time.
  ///
  /// Work that is submitted during the call runs too. So the call never ends if the work always submits more work.
  /// - Returns: The number of pieces of work that ran.
  @discardableResult
  public func runAll() -> Int {
    var count = 0
    while runNext() { count += 1 }
    return count
  }

  /// Moves the time, and runs each piece of work at its due time.
  ///
  /// Work that submits more work with a delay sees its own due time as the current time.
  /// - Parameter duration: The time to advance. Zero or less runs only the work that is ready.
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public func advance(by duration: Duration) {
    let end = agenda.withLock { $0.time(afterNanoseconds: duration.nanoseconds) }
    while let work = agenda.withLock({ $0.takeNext(until: end) }) { work() }
    agenda.withLock { $0.advance(to: end) }
  }
}

/// The pending work of a manual context.
private struct Agenda {
  typealias Work = @Sendable () -> Void

  /// The place of a piece of work: by due time, then by submission.
  struct Turn: Comparable {
    let due: Int64
    let number: Int

    static func < (left: Turn, right: Turn) -> Bool { (left.due, left.number) < (right.due, right.number) }
  }

  /// The virtual time in nanoseconds.
  private(set) var now: Int64 = 0

  /// The work without a delay, in order.
  private var ready = FIFO<(turn: Turn, work: Work)>()

  /// The work with a delay, by the number of its turn.
  private var delayed: [Int: Work] = [:]

  /// The turns of `delayed`, and turns of cancelled work that are not removed yet.
  private var turns = Heap<Turn>()

  private var lastNumber = 0

  /// Says whether new work is dropped: once the manual context has gone.
  private var closing = Closing()

  var count: Int { ready.count + delayed.count }

  /// Adds work that is ready now, and returns its turn; `nil` if the caller has to drop the work.
  mutating func add(_ work: @escaping Work) -> Turn? {
    guard !closing.mustDropNewWork() else { return nil }  // the manual context has gone
    let turn = makeTurn(afterNanoseconds: 0)
    ready.append((turn, work))
    return turn
  }

  /// Adds work with a delay, and returns its turn; `nil` if the caller has to drop the work.
  ///
  /// O(log n).
  mutating func add(_ work: @escaping Work, afterNanoseconds delay: Int64) -> Turn? {
    guard !closing.mustDropNewWork() else { return nil }  // the manual context has gone
    let turn = makeTurn(afterNanoseconds: delay)
    delayed[turn.number] = work
    turns.insert(turn)
    return turn
  }

  /// Closes the agenda, which then drops new work, and keeps only the time, because contexts and clocks can still read it.
  /// - Returns: The pending work, for release after unlocking.
  mutating func close() -> Agenda {
    let now = now
    defer {
      self = Agenda()
      self.now = now
      closing.isClosed = true
    }
    return self
  }

  /// Makes the turn of new work.
  private mutating func makeTurn(afterNanoseconds delay: Int64) -> Turn {
    lastNumber += 1
    return Turn(due: time(afterNanoseconds: delay), number: lastNumber)
  }

  /// Returns the time after a delay, or the greatest time if the sum overflows.
  func time(afterNanoseconds delay: Int64) -> Int64 {
    let (time, overflow) = now.addingReportingOverflow(delay)
    return overflow ? .max : time
  }

  mutating func advance(to time: Int64) { now = max(now, time) }  // work can itself have advanced the time further

  /// Removes and returns the next piece of work that is due by `end`, and moves the time to its due time.
  mutating func takeNext(until end: Int64) -> Work? {
    // Skips turns whose work is gone, because `remove(_:)` leaves them in the heap.
    while let first = turns.first, delayed[first.number] == nil { turns.removeFirst() }
    guard let turn = [ready.first?.turn, turns.first].compactMap(\.self).min(), turn.due <= end else { return nil }
    advance(to: turn.due)
    if turn == ready.first?.turn { return ready.popFirst()?.work }
    turns.removeFirst()
    return delayed.removeValue(forKey: turn.number)
  }

  /// Removes and returns delayed work; `nil` if it has started or was removed.
  ///
  /// Amortised O(1): `turns` is filtered once more than half of them belong to work that was removed.
  mutating func remove(_ turn: Turn) -> Work? {
    guard let work = delayed.removeValue(forKey: turn.number) else { return nil }
    if turns.elements.count > 2 * delayed.count {
      turns = Heap(turns.elements.filter { delayed[$0.number] != nil })
    }
    return work
  }
}
