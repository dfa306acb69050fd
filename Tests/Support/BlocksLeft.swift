internal import AllocationCounter

/// How many blocks `body` leaves allocated on the calling thread: the least of several times.
///
/// What leaks, leaks each time. What one time leaves may also be a table that the Swift runtime makes when something is
/// used for the first time, or a block that another thread will free. A number below zero is no leak, either: another
/// thread may have allocated what this one freed, and a sanitizer hides from the count what a weak reference takes, but
/// not that it is given back. So expect `<= 0`; the first time that leaves no more than that is the last.
/// - Parameters:
///   - count: How much `body` is to do each time.
///   - warmUp: How much it is to do before that, uncounted, if `count` is not less.
///   - attempts: How many times at most.
///   - body: Does as much as it is told to. Where `count` is one, it may ignore that.
/// - Returns: What the time left that left least.
public func leastBlocksLeft(
  count: Int = 1,
  warmUp: Int = 100,
  attempts: Int = 5,
  _ body: (_ count: Int) throws -> Void
) rethrows -> Int64 {
  try leastLeft(\.liveBlocks, count, warmUp, attempts, body)
}

/// How many bytes `body` leaves allocated on the calling thread: the least of two times.
///
/// As `leastBlocksLeft`, and also finds a table that grows with each use. Such a table takes new memory only when its
/// size has doubled: the second time does that too, and a third might not.
/// - Parameters:
///   - count: How much `body` is to do each time, and before that a hundred, uncounted, if `count` is not less.
///   - body: Does as much as it is told to.
/// - Returns: What the time left that left less.
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
