import AllocationCounter

/// The growth of the process's live bytes since the first rounds.
///
/// A leak of a few bytes in each round adds up.
struct RoundMemory {
  /// The bytes that Dispatch, the runtime and the threads' caches can keep.
  static let tolerance = 512 * 1_024

  /// The rounds that fill caches.
  private static let warmUp = 2

  private var rounds = 0
  private var first = Int64(0)

  /// Ends a round.
  /// - Returns: The growth of the live bytes since the end of the warm-up.
  mutating func growth() -> Int {
    let now = AllocationCounts.ofProcess().liveBytes
    rounds += 1
    if rounds <= Self.warmUp { first = now }
    return Int(now - first)
  }
}
