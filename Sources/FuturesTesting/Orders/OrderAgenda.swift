/// The pending work of a run, and the rules that say which item can run next.
///
/// The first item of each lane can run next, and each item without a lane, and the earliest timer. A timer runs in its lane, at
/// any time, but not before an item that was in the lane when the timer was set: a serial queue keeps that order.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct OrderAgenda {
  typealias Work = @Sendable () -> Void

  enum Action {
    case work(Work)
    /// `task` is `nil` for a job of an actor, or of a `Task.yield()`, which names no task.
    case job(UnownedJob, task: Int32?)
    case step(UnsafeContinuation<Void, Never>)
  }

  struct Item {
    /// The number of the submission, which all kinds of work share; 0 if the item is not in the agenda.
    let number: Int
    let move: OrderMove

    /// The context or serial queue, whose items keep their order; `nil` for a job, a step or an item of a concurrent queue.
    let lane: OrderSource?

    /// The time of a timer or of the end of a sleep.
    let due: Duration?
    let action: Action

    /// Whether the item is a timer with work, and not a sleeping task.
    var isTimer: Bool { if case .work = action { due != nil } else { false } }

    var isOnMain: Bool { if case .main? = lane { true } else { false } }
  }

  private(set) var now = Duration.zero

  /// In the order of submission.
  private var items: [Item] = []

  /// How many items of each name there were.
  private var counts: [OrderSource: Int32] = [:]
  private var lastNumber = 0

  /// Adds an item, or a timer if there is a delay, and returns its number.
  ///
  /// `ordinal` distinguishes the moves of a source. For a job, it names the task; with `nil`, the item gets the next ordinal.
  mutating func add(
    _ action: Action,
    named source: OrderSource,
    _ ordinal: Int32? = nil,
    in lane: OrderSource? = nil,
    after delay: Duration? = nil
  ) -> Int {
    if ordinal == nil { counts[source, default: 0] += 1 }
    let move = OrderMove(source: source, ordinal: ordinal ?? counts[source, default: 0])
    lastNumber += 1
    let due = delay.map { now + min($0, .seconds(Int64.max / 4)) }  // bounded, so that the sum does not overflow
    items.append(Item(number: lastNumber, move: move, lane: lane, due: due, action: action))
    return lastNumber
  }

  /// Removes and returns an item, or `nil` if it has gone; a timer or a sleep that runs now advances the time to its due time.
  mutating func take(_ number: Int, asMove isMove: Bool = true) -> Item? {  // `false`: cancelled, the time stays
    guard let index = items.firstIndex(where: { $0.number == number }) else { return nil }
    let item = items.remove(at: index)
    if isMove, let due = item.due { now = max(now, due) }  // a timer that a thread adds after the choice can be overdue
    return item
  }

  /// Removes and returns the items that satisfy `isTaken`, for the end of a run; the time stays.
  mutating func takeAll(where isTaken: (Item) -> Bool) -> [Item] {
    defer { items.removeAll(where: isTaken) }
    return items.filter(isTaken)
  }

  /// The items that can run next, in the order of submission; last comes the earliest timer, unless its lane has earlier work.
  var possible: [Item] {
    var (found, lanes): ([Item], [OrderSource]) = ([], [])
    var timer: Item?
    found.reserveCapacity(items.count)
    for item in items {
      if let due = item.due {
        if timer?.due.map({ due < $0 }) ?? true { timer = item }
        continue
      }
      if let lane = item.lane {
        if lanes.contains(lane) { continue }
        lanes.append(lane)
      }
      found.append(item)
    }
    guard let timer else { return found }
    let hasEarlier = timer.lane != nil && found.contains { $0.lane == timer.lane && $0.number < timer.number }
    return hasEarlier ? found : found + [timer]
  }
}
