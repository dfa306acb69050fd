internal import AllocationCounter

/// Returns the number of blocks that `body` leaves allocated on the calling thread: the least of several runs.
///
/// A leak shows in each run. A single run can also leave a table that the Swift runtime makes on first use, or a block
/// that another thread frees later. A negative number is no leak: this thread can free a block of another thread, and a
/// sanitizer hides the allocation of a weak reference but not its release. So expect `<= 0`. The first run with that
/// result is the last.
/// - Parameters:
///   - count: The number of operations of each run.
///   - warmUp: The number of uncounted operations before the first run, at most `count`.
///   - attempts: The greatest number of runs.
///   - body: Performs `count` operations. If `count` is one, `body` can ignore the argument.
/// - Returns: The least number of blocks.
public func leastBlocksLeft(
  count: Int = 1,
  warmUp: Int = 100,
  attempts: Int = 20,
  _ body: (_ count: Int) throws -> Void
) rethrows -> Int64 {
  try leastLeft(\.liveBlocks, count, warmUp, attempts, body)
}

/// Returns the number of bytes that `body` leaves allocated on the calling thread: the lesser of two runs.
///
/// Unlike `leastBlocksLeft`, this function finds a table that grows with each use. Such a table allocates only when its
/// size has doubled. The second run still allocates. A third run might not.
/// - Parameters:
///   - count: The number of operations of each run. At most a hundred uncounted operations come before.
///   - body: Performs `count` operations.
/// - Returns: The lesser number of bytes.
public func leastBytesLeft(count: Int, _ body: (_ count: Int) throws -> Void) rethrows -> Int64 {
  try leastLeft(\.liveBytes, count, 100, 2, body)
}

private func leastLeft(
  _ live: (AllocationCounts) -> Int64,
  _ count: Int,
  _ warmUp: Int,
  _ attempts: Int,
  _ body: (_ count: Int) throws -> Void
) rethrows -> Int64 {
  try body(min(count, warmUp))
  var least = Int64.max
  for _ in 0..<attempts where least > 0 {
    let before = AllocationCounts.ofThread()
    try body(count)
    let after = AllocationCounts.ofThread()
    least = min(least, live(after) - live(before))
  }
  return least
}

/// The growth of a thread's live bytes, from the thousandth call on.
public final class MemoryGrowth: @unchecked Sendable {
  // @unchecked: used by one thread.

  /// The number of calls of `note`.
  public private(set) var calls = 0
  /// The greatest growth so far, in bytes.
  public private(set) var growth: Int64 = 0
  private var base: Int64 = 0

  /// Makes a measurement without calls.
  public init() {}

  /// Measures the memory, once for each step of the code under test.
  public func note() {
    calls += 1
    let live = AllocationCounts.ofThread().liveBytes
    if calls == 1_000 { base = live }
    if calls > 1_000 { growth = max(growth, live - base) }
  }
}
