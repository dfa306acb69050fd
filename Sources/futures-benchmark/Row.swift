import AllocationCounter

/// What was measured of one contender, for one operation.
struct Measurement: Codable {
  var name: String
  var nanoseconds: Double?
  var timesBaseline: Double?
  var allocations: Double
  var bytes: Double
  /// Live bytes after all repetitions, less those before them.
  var bytesLeft: Int?
}

/// One row of the table: ours, the floors below it, and the budget.
struct Row {
  var name: String
  var work: String
  var ours: Measurement
  var floors: [Measurement] = []
  /// Ours in relation to the first floor, of the same samples.
  var timesFloor: Double?
  /// The peak memory of a process that does the work of the row at its greatest depth, in bytes.
  var peakMemory: Int?
  /// By how many bytes the peak memory grows from few steps to many.
  var peakGrowth: Int?
  /// How many parts, or threads, there are, where rows differ in nothing else.
  var size: Int?
  /// The cost of one part in relation to that in a smaller row of the kind.
  var growth: Double?
  var budget: [Limit]

  /// Sets the growth, where times are measured.
  mutating func setGrowth(from smaller: Row) {
    guard let cost = ours.timesBaseline, let smallerCost = smaller.ours.timesBaseline else { return }
    growth = cost / smallerCost
  }
}

/// One part of a budget.
enum Limit {
  case timesBaseline(Double)
  case timesFloor(Double)
  case allocations(Double)
  case allocationsAboveFloor(Double)
  case bytes(Double)
  case liveBlocks(Double)
  case bytesLeft(Int)
  case peakGrowth(Int)
  case growth(Double)

  var text: String {
    switch self {
    case .timesBaseline(let limit): "≤ ×\(short(limit))"
    case .timesFloor(let limit): "≤ \(short(limit)) × floor"
    case .allocations(let limit): "≤ \(short(limit)) allocs"
    case .allocationsAboveFloor(let limit): "≤ floor + \(short(limit)) allocs"
    case .bytes(let limit): "≤ \(short(limit)) B"
    case .liveBlocks(let limit): "≤ \(short(limit)) blocks"
    case .bytesLeft(let limit): "\(limit) B left"
    case .peakGrowth(let limit): "peak grows ≤ \(limit >> 20) MiB"
    case .growth(let limit): "growth ≤ \(short(limit))"
    }
  }

  /// Whether it limits allocations, which are not counted on every system.
  var isOfAllocations: Bool {
    switch self {
    case .timesBaseline, .timesFloor, .peakGrowth, .growth: false
    case .allocations, .allocationsAboveFloor, .bytes, .liveBlocks, .bytesLeft: true
    }
  }

  /// Whether the row keeps to it; a limit of something that this system can't measure is not met.
  ///
  /// Counts may be off by 0.05, which is what the runtime allocates for itself.
  func isMet(by row: Row) -> Bool {
    (AllocationCounts.areSupported || !isOfAllocations) && isWithin(row)
  }

  private func isWithin(_ row: Row) -> Bool {
    switch self {
    case .timesBaseline(let limit): row.ours.timesBaseline.map { $0 <= limit } ?? false
    case .timesFloor(let limit): row.timesFloor.map { $0 <= limit } ?? false
    case .allocations(let limit), .liveBlocks(let limit): row.ours.allocations <= limit + 0.05
    case .allocationsAboveFloor(let limit):
      // Rounded, because Dispatch reuses its items thread by thread, so a fraction of them comes and goes on both sides.
      row.floors.first.map { (row.ours.allocations - $0.allocations).rounded() <= limit } ?? false
    case .bytes(let limit): row.ours.bytes <= limit + 0.5
    case .bytesLeft(let limit): row.ours.bytesLeft.map { $0 <= limit } ?? false
    case .growth(let limit): row.growth.map { $0 <= limit } ?? false
    case .peakGrowth(let limit): row.peakGrowth.map { $0 <= limit } ?? false
    }
  }
}

/// A number without the zeros that say nothing: 7, 1.05.
private func short(_ number: Double) -> String {
  number == number.rounded() ? String(Int(number)) : String(number)
}
