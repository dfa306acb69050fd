public import Futures

/// An execution context whose work runs when the test says so, on the test's thread, and whose time is virtual.
///
/// ```swift
/// let manual = ManualContext()
/// let late = Future<Int, any Error>.never
///   .timeout(after: .seconds(5), on: manual.context)
/// manual.advance(by: .seconds(5))
/// #expect(late.isResolved)
/// ```
///
/// Work that is handed over is ready at once; work with a delay is ready when the test has advanced the time that far. Among
/// what is ready, what was due first runs first, and what was handed over first runs first where that is equal. Any thread
/// may hand over work, and run it.
public final class ManualContext: Sendable {
  private let agenda = Locked(Agenda())

  /// Makes a context that has nothing to do; its time is zero.
  public init() {}

  /// The context that hands its work to this object, which it keeps alive.
  public var context: ExecutionContext {
    ExecutionContext { work in
      self.agenda.withLock { $0.add(work) }
    } after: { delay, work in
      let turn = self.agenda.withLock { $0.add(work, after: delay) }
      return { self.remove(turn) }
    }
  }

  /// How many pieces of work have not been started, those with a delay included.
  public var pendingCount: Int { agenda.withLock { $0.count } }

  /// Runs the piece of work whose turn it is, without moving the time.
  /// - Returns: Whether there was one that is ready.
  @discardableResult
  public func runNext() -> Bool {
    guard let work = agenda.withLock({ $0.takeNext(until: $0.now) }) else { return false }
    work()
    return true
  }

  /// Runs what is ready, and what that hands over, without moving the time, until nothing is ready.
  ///
  /// Work that hands over work for ever never ends it.
  /// - Returns: How many pieces of work were run.
  @discardableResult
  public func runAll() -> Int {
    var count = 0
    while runNext() { count += 1 }
    return count
  }

  /// Moves the time, and runs what becomes ready on the way, each when it is due.
  ///
  /// So work that hands over further work with a delay finds the time that it would find in reality.
  /// - Parameter duration: How far to move; zero or less runs what is ready now.
  public func advance(by duration: Duration) {
    let end = agenda.withLock { min($0.now + min(max(duration, .zero), .longest), .longest) }
    while let work = agenda.withLock({ $0.takeNext(until: end) }) { work() }
    agenda.withLock { $0.advance(to: end) }
  }

  private func remove(_ turn: Agenda.Turn) {
    let work = agenda.withLock { $0.remove(turn) }
    _ = work  // released here, outside the lock
  }
}

/// What a manual context still has to do.
private struct Agenda {
  typealias Work = @Sendable () -> Void

  /// When a piece of work is due; what was handed over first comes first where the time is equal.
  struct Turn: Comparable {
    let due: Duration
    let number: Int

    static func < (left: Turn, right: Turn) -> Bool { (left.due, left.number) < (right.due, right.number) }
  }

  private(set) var now = Duration.zero

  /// What was handed over without a delay, in order.
  private var ready = FIFO<(turn: Turn, work: Work)>()

  /// The work with a delay, by the number of its turn.
  private var delayed: [Int: Work] = [:]

  /// The turns of `delayed`, and of cancelled work.
  private var turns = Heap<Turn>()

  private var lastNumber = 0

  var count: Int { ready.count + delayed.count }

  mutating func add(_ work: @escaping Work) {
    ready.append((nextTurn(after: .zero), work))
  }

  /// O(log n).
  mutating func add(_ work: @escaping Work, after delay: Duration) -> Turn {
    let turn = nextTurn(after: delay)
    delayed[turn.number] = work
    turns.insert(turn)
    return turn
  }

  private mutating func nextTurn(after delay: Duration) -> Turn {
    lastNumber += 1
    return Turn(due: min(now + min(delay, .longest), .longest), number: lastNumber)
  }

  mutating func advance(to time: Duration) { now = max(now, time) }

  /// Takes out the piece of work whose turn it is, if it is due until `end`, and moves the time to when that is.
  mutating func takeNext(until end: Duration) -> Work? {
    removeCancelledTurns()
    guard let turn = [ready.first?.turn, turns.first].compactMap(\.self).min(), turn.due <= end else { return nil }
    advance(to: turn.due)
    if turn == ready.first?.turn { return ready.popFirst()?.work }
    turns.removeFirst()
    return delayed.removeValue(forKey: turn.number)
  }

  /// Takes out what was added with a delay, unless its turn has come.
  ///
  /// Amortised O(1).
  mutating func remove(_ turn: Turn) -> Work? {
    guard let work = delayed.removeValue(forKey: turn.number) else { return nil }
    // At least half of the turns belong to cancelled work.
    if turns.elements.count > 2 * delayed.count {
      turns = Heap(turns.elements.filter { delayed[$0.number] != nil })
    }
    return work
  }

  private mutating func removeCancelledTurns() {
    while let first = turns.first, delayed[first.number] == nil { turns.removeFirst() }
  }
}

extension Duration {
  /// So long that nobody gets there, and so short that no sum of it overflows.
  fileprivate static var longest: Duration { .seconds(Int64.max / 2) }
}
