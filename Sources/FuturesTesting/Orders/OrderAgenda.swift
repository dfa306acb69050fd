/// The pending work of a run, and the rules that say which item can run next.
///
/// The first item of each lane can run next, and each item without a lane, and the earliest timer. A timer runs in its lane, at
/// any time, but not before an item that was in the lane when the timer was set: a serial queue keeps that order.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct OrderAgenda {
  typealias Work = @Sendable () -> Void

  enum Action {
    case work(Work)
    case job(UnownedJob)
    case step(UnsafeContinuation<Void, Never>)
  }

  struct Item {
    /// The number of the submission, which all kinds of work share.
    let number: Int
    let move: OrderMove

    /// The context or serial queue, whose items keep their order; `nil` for a job, a step or an item of a concurrent queue.
    let lane: OrderSource?

    /// The time of a timer.
    let due: Duration?
    let action: Action

    var isOnMain: Bool { lane == .main }
  }

  private(set) var now = Duration.zero

  /// Sorted by number.
  private var items: [Item] = []

  /// Sorted by due time, then by number.
  private var timers: [Item] = []

  /// How many items of each name there were.
  private var counts: [OrderSource: Int32] = [:]
  private var lastNumber = 0

  /// Adds an item, or a timer if there is a delay, and returns its number.
  @discardableResult
  mutating func add(
    _ action: Action,
    named source: OrderSource,
    in lane: OrderSource? = nil,
    after delay: Duration? = nil
  ) -> Int {
    counts[source, default: 0] += 1
    return add(action, as: OrderMove(source: source, ordinal: counts[source, default: 0]), in: lane, after: delay)
  }

  @discardableResult
  mutating func add(_ action: Action, as move: OrderMove, in lane: OrderSource?, after delay: Duration? = nil) -> Int {
    lastNumber += 1
    let due = delay.map { now + min($0, .seconds(Int64.max / 4)) }
    let item = Item(number: lastNumber, move: move, lane: lane, due: due, action: action)
    if let due {
      timers.insert(item, at: timers.firstIndex { due < $0.due ?? due } ?? timers.count)
    } else {
      items.append(item)
    }
    return lastNumber
  }

  /// Removes and returns an item; a timer that is taken as a move moves the time.
  mutating func take(_ number: Int, asMove isMove: Bool = true) -> Item? {
    if let index = items.firstIndex(where: { $0.number == number }) { return items.remove(at: index) }
    guard let index = timers.firstIndex(where: { $0.number == number }) else { return nil }
    let timer = timers.remove(at: index)
    if isMove { now = max(now, timer.due ?? now) }
    return timer
  }

  /// Removes the timers of contexts, and keeps those of sleeping tasks.
  mutating func takeTimers() -> [Item] {
    defer { timers.removeAll { $0.lane != nil } }
    return timers.filter { $0.lane != nil }
  }

  mutating func takeAll() -> [Item] {
    defer { (items, timers) = ([], []) }
    return items + timers
  }

  /// The items that can run next, in the order of submission; a timer comes last.
  var possible: [Item] {
    var lanes: [OrderSource] = []
    var found = items.filter { item in
      guard let lane = item.lane else { return true }
      if lanes.contains(lane) { return false }
      lanes.append(lane)
      return true
    }
    if let timer = timers.first {
      let isBehind = found.contains { $0.lane == timer.lane && $0.lane != nil && $0.number < timer.number }
      if !isBehind { found.append(timer) }
    }
    return found
  }
}
