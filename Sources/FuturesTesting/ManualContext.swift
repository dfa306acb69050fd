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

  struct Entry {
    let turn: Turn
    /// `nil` once it was cancelled.
    var work: Work?
  }

  private(set) var now = Duration.zero

  /// What was handed over without a delay, in order.
  private var ready = FIFO<Entry>()

  /// What was handed over with a delay, sorted from `next` on; what is before that has been run.
  private var delayed: [Entry] = []
  private var next = 0
  private var cancelledCount = 0

  private var lastNumber = 0

  var count: Int { ready.count + delayed.count - next - cancelledCount }

  mutating func add(_ work: @escaping Work) {
    ready.append(Entry(turn: nextTurn(after: .zero), work: work))
  }

  mutating func add(_ work: @escaping Work, after delay: Duration) -> Turn {
    let entry = Entry(turn: nextTurn(after: delay), work: work)
    delayed.insert(entry, at: index(of: entry.turn))
    return entry.turn
  }

  private mutating func nextTurn(after delay: Duration) -> Turn {
    lastNumber += 1
    return Turn(due: min(now + min(delay, .longest), .longest), number: lastNumber)
  }

  mutating func advance(to time: Duration) { now = max(now, time) }

  /// Takes out the piece of work whose turn it is, if it is due until `end`, and moves the time to when that is.
  mutating func takeNext(until end: Duration) -> Work? {
    removeGone()
    let first = next < delayed.count ? delayed[next] : nil
    guard let entry = [ready.first, first].compactMap(\.self).min(by: { $0.turn < $1.turn }), entry.turn.due <= end
    else { return nil }
    advance(to: entry.turn.due)
    if entry.turn == ready.first?.turn { return ready.popFirst()?.work }
    delayed[next].work = nil
    next += 1
    return entry.work
  }

  /// Takes out what was added with a delay, unless its turn has come.
  mutating func remove(_ turn: Turn) -> Work? {
    let index = index(of: turn)
    guard index < delayed.count, delayed[index].turn == turn, let work = delayed[index].work else { return nil }
    delayed[index].work = nil
    cancelledCount += 1
    removeGone()
    return work
  }

  /// Closes the gaps that those leave who have been run, or cancelled, so that each takes O(1) in the long run.
  private mutating func removeGone() {
    while next < delayed.count, delayed[next].work == nil {
      next += 1
      cancelledCount -= 1
    }
    guard (next + cancelledCount) * 2 > delayed.count else { return }
    delayed.removeFirst(next)
    next = 0
    delayed.removeAll { $0.work == nil }
    cancelledCount = 0
  }

  /// Where `turn` is, or belongs, among the delayed ones.
  private func index(of turn: Turn) -> Int {
    var range = next..<delayed.count
    while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
      range = delayed[middle].turn < turn ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}

extension Duration {
  /// So long that nobody gets there, and so short that no sum of it overflows.
  fileprivate static var longest: Duration { .seconds(Int64.max / 2) }
}
