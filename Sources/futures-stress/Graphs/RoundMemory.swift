import AllocationCounter

/// The growth of the process's live bytes from round to round.
struct RoundMemory {
  /// The bytes that Dispatch, the runtime and the threads' caches can keep from one round to the next.
  static let tolerance = 256 * 1_024

  private var before: Int64?

  /// Runs a round.
  /// - Returns: The growth of the live bytes since the previous round, or zero for the first.
  mutating func growth(_ round: () -> Void) -> Int {
    round()
    let after = AllocationCounts.ofProcess().liveBytes
    defer { before = after }
    return Int(after - (before ?? after))
  }
}
