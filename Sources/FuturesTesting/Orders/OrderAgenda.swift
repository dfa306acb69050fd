internal import Futures

/// The pending work of a run, and the rules that say which item can run next.
///
/// The agenda runs nothing itself.
///
/// The first item of each context can run next, and each job of a task, each step, and the earliest timer. A timer runs
/// in its context, at any time, but not before an item that was in the context when the timer was set: a serial queue
/// keeps that order.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct OrderAgenda {
  typealias Work = @Sendable () -> Void

  enum Action {
    case work(Work)
    case job(UnownedJob)
    case step(UnsafeContinuation<Void, Never>)
    case main(MainWork)
    /// Work for the main queue, which a timer submits.
    case workOnMain(Work)
  }

  struct Item {
    /// The number of the submission, which all kinds of work share.
    let number: Int
    let move: OrderMove
    let action: Action
  }

  /// A place from which an item can run next.
  enum Place {
    case context(Int)
    case unordered(Int)
    case timer
  }

  /// An item that can run next.
  struct Possible {
    let number: Int
    let place: Place
    let move: OrderMove
  }

  private struct Context {
    let source: Int32
    var items = FIFO<Item>()
    var submitted: Int32 = 0

    mutating func remove(_ number: Int) -> Item? {
      var (others, removed) = (FIFO<Item>(), nil as Item?)
      while let item = items.popFirst() {
        if item.number == number { removed = item } else { others.append(item) }
      }
      items = others
      return removed
    }
  }

  private struct Timer {
    let due: Duration
    /// The context in which the timer runs; `nil` for a task that sleeps.
    let context: Int?
    let item: Item
  }

  private(set) var now = Duration.zero
  private var contexts: [Context] = []

  /// Jobs and steps, which can run in any order; sorted by number.
  private var unordered: [Item] = []

  /// Sorted by due time, then by number.
  private var timers: [Timer] = []

  /// How many timers and steps of each name there were.
  private var counts: [Int32: Int32] = [:]

  private(set) var lastNumber = 0

  // MARK: - Adding

  /// Returns the index of the context with a name; makes the context on first use.
  mutating func context(_ source: Int32) -> Int {
    if let index = contexts.firstIndex(where: { $0.source == source }) { return index }
    contexts.append(Context(source: source))
    return contexts.count - 1
  }

  /// Submits work to a context.
  mutating func submit(_ action: Action, to context: Int) {
    contexts[context].submitted += 1
    let move = OrderMove(source: contexts[context].source, ordinal: contexts[context].submitted)
    contexts[context].items.append(Item(number: nextNumber(), move: move, action: action))
  }

  /// Submits a part of a task.
  mutating func submit(_ job: UnownedJob, as move: OrderMove) {
    unordered.append(Item(number: nextNumber(), move: move, action: .job(job)))
  }

  /// Submits work that belongs to no context.
  mutating func submit(_ action: Action, named source: Int32) {
    unordered.append(Item(number: nextNumber(), move: nextMove(source), action: action))
  }

  /// Adds a timer.
  /// - Parameters:
  ///   - action: The work.
  ///   - context: The context in which it runs; `nil` for a task that sleeps.
  ///   - delay: The time from now.
  ///   - source: The name.
  /// - Returns: The timer's number.
  mutating func submit(_ action: Action, to context: Int?, after delay: Duration, named source: Int32) -> Int {
    let item = Item(number: nextNumber(), move: nextMove(source), action: action)
    let timer = Timer(due: now + min(delay, .seconds(Int64.max / 4)), context: context, item: item)
    let index = timers.firstIndex { timer.due < $0.due } ?? timers.count
    timers.insert(timer, at: index)
    return item.number
  }

  private mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  private mutating func nextMove(_ source: Int32) -> OrderMove {
    counts[source, default: 0] += 1
    return OrderMove(source: source, ordinal: counts[source, default: 0])
  }

  // MARK: - Removing: the item is for release after unlocking

  /// Removes a timer that has not fired.
  mutating func removeTimer(_ number: Int) -> Item? {
    guard let index = timers.firstIndex(where: { $0.item.number == number }) else { return nil }
    return timers.remove(at: index).item
  }

  /// Removes an item of a context, or an item that belongs to no context.
  mutating func remove(_ number: Int) -> Item? {
    if let index = unordered.firstIndex(where: { $0.number == number }) { return unordered.remove(at: index) }
    for index in contexts.indices {
      if let item = contexts[index].remove(number) { return item }
    }
    return nil
  }

  /// Removes the timers of the contexts, and keeps those of sleeping tasks.
  mutating func removeTimers() -> [Item] {
    let removed = timers.filter { $0.context != nil }
    timers.removeAll { $0.context != nil }
    return removed.map(\.item)
  }

  /// Removes all work, and keeps the contexts: work that comes later finds its context.
  mutating func removeAll() -> [Item] {
    var removed = unordered + timers.map(\.item)
    (unordered, timers) = ([], [])
    for index in contexts.indices {
      while let item = contexts[index].items.popFirst() { removed.append(item) }
    }
    return removed
  }

  // MARK: - What can come next

  var hasTimers: Bool { !timers.isEmpty }
  var hasMainWork: Bool { contexts.contains { $0.source == OrderNames.main && !$0.items.isEmpty } }

  func isMain(_ place: Place) -> Bool {
    if case .context(let index) = place { contexts[index].source == OrderNames.main } else { false }
  }

  /// The moves that are possible now, in the order of submission; a timer comes last.
  var possible: [Possible] {
    var found: [Possible] = []
    for index in contexts.indices {
      guard let item = contexts[index].items.first else { continue }
      found.append(Possible(number: item.number, place: .context(index), move: item.move))
    }
    for index in unordered.indices {
      found.append(Possible(number: unordered[index].number, place: .unordered(index), move: unordered[index].move))
    }
    if found.count > 1 { found.sort { $0.number < $1.number } }
    if let timer = timers.first, mayFire(timer) {
      found.append(Possible(number: timer.item.number, place: .timer, move: timer.item.move))
    }
    return found
  }

  private func mayFire(_ timer: Timer) -> Bool {
    guard let context = timer.context, let first = contexts[context].items.first else { return true }
    return timer.item.number < first.number
  }

  /// Removes and returns the item of a possible move; a timer moves the time.
  mutating func take(_ place: Place) -> Item? {
    switch place {
    case .context(let index): return contexts[index].items.popFirst()
    case .unordered(let index): return unordered.remove(at: index)
    case .timer:
      let timer = timers.removeFirst()
      now = max(now, timer.due)
      return timer.item
    }
  }
}
