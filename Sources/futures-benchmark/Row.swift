import AllocationCounter

/// The cost of one operation of one contender.
struct Measurement {
  var name: String
  var nanoseconds: Double?
  var allocations: Double
  var bytes: Double
  /// Live bytes after all repetitions, minus the live bytes before them.
  var bytesLeft: Int?
}

/// One row of the table: the library's cost, the floor below it, and the budget.
struct Row {
  var name: String
  var work: String
  var ours: Measurement
  var floor: Measurement?
  /// The library's time in relation to the time of the floor, from the same samples.
  var timesFloor: Double?
  /// The number of parts or threads, for rows that differ only in that number.
  var size: Int?
  /// The cost of one part divided by its cost in a row of another size; with a floor, both costs are relative to their floors.
  var growth: Double?
  /// The number of operations that `Repetition` ran.
  var repeatedOperations: Int?
  var budget: [Limit]

  /// Sets the growth: the cost of this row in relation to the cost of `reference`, if both have a time.
  mutating func setGrowth(from reference: Row) {
    guard let cost = timesFloor ?? ours.nanoseconds else { return }
    guard let referenceCost = reference.timesFloor ?? reference.ours.nanoseconds else { return }
    growth = cost / referenceCost
  }
}

/// The relation of a row to its budget.
enum Verdict: String {
  case met = "yes"
  /// Above a limit of time by less than a slower or busy machine explains.
  case near = "near"
  case missed = "NO"
}

/// One part of a budget.
enum Limit {
  /// The most that a ratio of times differs between machines, although the code is the same.
  ///
  /// A limit is the highest value of quiet machines. A machine of half their speed exceeded nine limits, by up to 12 %.
  private static let tolerance = 1.3

  case timesFloor(Double)
  case allocations(Double)
  case allocationsAboveFloor(Double)
  case bytes(Double)
  case bytesLeft(Int)
  case growth(Double)

  var text: String {
    switch self {
    case .timesFloor(let limit): "≤ \(short(limit)) × floor"
    case .allocations(let limit): "≤ \(short(limit)) allocs"
    case .allocationsAboveFloor(let limit): "≤ floor + \(short(limit)) allocs"
    case .bytes(let limit): "≤ \(short(limit)) B"
    case .bytesLeft(let limit): "\(limit) B left"
    case .growth(let limit): "growth ≤ \(short(limit))"
    }
  }

  /// Whether the limit is one of allocations; not every system counts them.
  var isOfAllocations: Bool {
    switch self {
    case .timesFloor, .growth: false
    case .allocations, .allocationsAboveFloor, .bytes, .bytesLeft: true
    }
  }

  /// Whether the row stays within the limit; `false` if this system cannot measure it.
  func isMet(by row: Row) -> Bool {
    (AllocationCounts.areSupported || !isOfAllocations) && isWithin(row)
  }

  /// Returns how the row relates to this limit; only a limit of time can be near.
  func verdict(on row: Row) -> Verdict {
    if isMet(by: row) { return .met }
    switch self {
    case .timesFloor(let limit) where row.timesFloor.map { $0 <= limit * Self.tolerance } ?? false: return .near
    case .growth(let limit) where row.growth.map { $0 <= limit * Self.tolerance } ?? false: return .near
    default: return .missed
    }
  }

  /// Whether the row's figure is at most the limit; `false` if the row has no such figure.
  ///
  /// Allocations can exceed it by 0.05, and bytes by 0.5, because the runtime allocates for itself.
  private func isWithin(_ row: Row) -> Bool {
    switch self {
    case .timesFloor(let limit): row.timesFloor.map { $0 <= limit } ?? false
    case .allocations(let limit): row.ours.allocations <= limit + 0.05
    case .allocationsAboveFloor(let limit):
      // Rounded: Dispatch caches its items per thread, so both counts vary by a fraction.
      row.floor.map { (row.ours.allocations - $0.allocations).rounded() <= limit } ?? false
    case .bytes(let limit): row.ours.bytes <= limit + 0.5
    case .bytesLeft(let limit): row.ours.bytesLeft.map { $0 <= limit } ?? false
    case .growth(let limit): row.growth.map { $0 <= limit } ?? false
    }
  }
}

/// Formats a number without trailing zeros: 7, 1.05.
private func short(_ number: Double) -> String {
  number == number.rounded() ? String(Int(number)) : String(number)
}
