import AllocationCounter

/// By how much the live bytes of the process grow from round to round.
struct RoundMemory {
  /// What Dispatch, the runtime and the threads' caches may keep from one round to the next.
  static let tolerance = 256 * 1_024

  private var before: Int64?

  /// Runs a round.
  /// - Returns: How many more bytes are alive after it than after the one before; zero for the first.
  mutating func growth(_ round: () -> Void) -> Int {
    round()
    let after = AllocationCounts.ofProcess().liveBytes
    defer { before = after }
    return Int(after - (before ?? after))
  }
}
