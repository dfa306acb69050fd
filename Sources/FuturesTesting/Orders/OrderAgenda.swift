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

  /// Returns the index of the context with a name; makes the context on first use.
  mutating func context(_ source: Int32) -> Int {
    if let index = contexts.firstIndex(where: { $0.source == source }) { return index }
    contexts.append(Context(source: source))
    return contexts.count - 1
  }

  mutating func submit(_ work: @escaping Work, to context: Int) { submit(.work(work), to: context) }

  mutating func submit(_ work: MainWork) { submit(.main(work), to: context(OrderNames.main)) }

  mutating func submit(_ work: MainWork, after delay: Duration, named source: Int32) {
    _ = add(.main(work), in: context(OrderNames.main), after: delay, named: source)
  }

  private mutating func submit(_ action: Action, to context: Int) {
    contexts[context].submitted += 1
    let move = OrderMove(source: contexts[context].source, ordinal: contexts[context].submitted)
    contexts[context].items.append(Item(number: nextNumber(), move: move, action: action))
  }

  /// Adds a timer that runs work in a context, and returns the timer's number.
  mutating func submit(_ work: @escaping Work, to context: Int, after delay: Duration, named source: Int32) -> Int {
    add(.work(work), in: context, after: delay, named: source)
  }

  /// Adds a timer that submits work to the main queue, and returns the timer's number.
  mutating func submitOnMain(_ work: @escaping Work, after delay: Duration, named source: Int32) -> Int {
    add(.workOnMain(work), in: context(OrderNames.main), after: delay, named: source)
  }

  /// Submits the job that wakes a task.
  mutating func submit(_ job: UnownedJob, after delay: Duration, named source: Int32) {
    _ = add(.job(job), in: nil, after: delay, named: source)
  }

  private mutating func add(_ action: Action, in context: Int?, after delay: Duration, named source: Int32) -> Int {
    let item = Item(number: nextNumber(), move: nextMove(source), action: action)
    let timer = Timer(due: now + min(delay, .seconds(Int64.max / 4)), context: context, item: item)
    let index = timers.firstIndex { timer.due < $0.due } ?? timers.count
    timers.insert(timer, at: index)
    return item.number
  }

  /// Removes a timer that has not fired.
  /// - Returns: Its item, for release after unlocking.
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

  var hasMainWork: Bool { contexts.contains { $0.source == OrderNames.main && !$0.items.isEmpty } }

  /// Whether several pieces of work can run next.
  var hasChoice: Bool { possible.count > 1 }

  var hasTimers: Bool { !timers.isEmpty }

  /// Removes the timers of the contexts.
  /// - Returns: Their items, for release after unlocking.
  mutating func removeTimers() -> [Item] {
    let removed = timers.filter { $0.context != nil }
    timers.removeAll { $0.context != nil }
    return removed.map(\.item)
  }

  mutating func submit(_ job: UnownedJob, as move: OrderMove) {
    unordered.append(Item(number: nextNumber(), move: move, action: .job(job)))
  }

  /// Submits work that belongs to no context.
  mutating func submit(_ work: @escaping Work, named source: Int32) {
    unordered.append(Item(number: nextNumber(), move: nextMove(source), action: .work(work)))
  }

  mutating func submit(_ step: UnsafeContinuation<Void, Never>, named source: Int32) {
    unordered.append(Item(number: nextNumber(), move: nextMove(source), action: .step(step)))
  }

  var hasWork: Bool { !unordered.isEmpty || !timers.isEmpty || contexts.contains { !$0.items.isEmpty } }

  private mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  private mutating func nextMove(_ source: Int32) -> OrderMove {
    counts[source, default: 0] += 1
    return OrderMove(source: source, ordinal: counts[source, default: 0])
  }

  /// The moves that are possible now, in the order of submission; a timer comes last.
  var possible: [(place: Place, move: OrderMove)] {
    var found: [(number: Int, place: Place, move: OrderMove)] = []
    for (index, context) in contexts.enumerated() {
      if let item = context.items.first { found.append((item.number, .context(index), item.move)) }
    }
    for (index, item) in unordered.enumerated() { found.append((item.number, .unordered(index), item.move)) }
    found.sort { $0.number < $1.number }
    if let timer = timers.first, mayFire(timer) { found.append((timer.item.number, .timer, timer.item.move)) }
    return found.map { ($0.place, $0.move) }
  }

  /// The place of the oldest item that is no timer; `nil` if there is none.
  var oldest: Place? {
    var oldest: (number: Int, place: Place)?
    if let item = unordered.first { oldest = (item.number, .unordered(0)) }
    for (index, context) in contexts.enumerated() {
      guard let number = context.items.first?.number, number < oldest?.number ?? .max else { continue }
      oldest = (number, .context(index))
    }
    return oldest?.place
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
