internal import Futures

/// The random decisions of a search.
///
/// Two strategies take turns, because each finds bugs that the other misses. Uniform decisions find bugs that need many
/// changes between contexts. Priorities (PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010) find bugs that
/// need few changes at the right places; their probability does not shrink with the number of orders. With priorities,
/// each context and each task gets a random priority, and the possible move with the highest priority is next. At
/// `changes` random places the priority of the next move sinks.
struct OrderStrategy {
  /// The number of places at which a priority sinks; with the start this finds bugs of three ordered moves.
  private static let changes = 2

  private var random: SplitMix64

  /// The priorities of this run, by context and task; `nil` in a run of uniform decisions.
  private var priorities: [OrderSource: UInt64]?
  private var changePlaces: Set<Int> = []
  private var decisions = 0

  /// The number of decisions of the longest run so far.
  private var longest = 1
  private var runs = 0

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  /// Begins a run.
  /// - Parameter isRandom: Whether the run takes random decisions.
  mutating func begin(isRandom: Bool) {
    longest = max(longest, decisions)
    decisions = 0
    priorities = nil
    guard isRandom else { return }
    runs += 1
    guard runs.isMultiple(of: 2) else { return }
    priorities = [:]
    changePlaces = Set((0..<Self.changes).map { _ in random.next(below: longest) })
  }

  /// Returns the index of the next move.
  mutating func select(_ possible: [OrderMove]) -> Int {
    defer { decisions += 1 }
    guard priorities != nil else { return random.next(below: possible.count) }
    var best = highest(possible)
    if changePlaces.contains(decisions) {
      // Lower than all random priorities; a later change gets a lower one.
      let sinking = OrderSource(possible[best])
      priorities?[sinking] = UInt64(max(0, longest - decisions))
      best = highest(possible)
    }
    return best
  }

  private mutating func highest(_ possible: [OrderMove]) -> Int {
    var best = (index: 0, priority: UInt64(0))
    for (index, move) in possible.enumerated() {
      let source = OrderSource(move)
      let priority = priorities?[source] ?? (random.next() | 1 << 63)
      priorities?[source] = priority
      if priority > best.priority { best = (index, priority) }
    }
    return best.index
  }

  /// Counts a decision that was not random.
  mutating func count() { decisions += 1 }
}
