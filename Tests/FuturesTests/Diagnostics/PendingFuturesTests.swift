internal import AllocationCounter
internal import Futures
internal import Testing

/// Tests of the process-wide switch, one after another.
///
/// The promises of other suites carry other labels.
@Suite("Diagnostics: pending futures", .serialized)
struct PendingFuturesTests {
  /// The pending futures of this test.
  private func stuck(_ label: String) -> [String] {
    FuturesDiagnostics.pendingFutures.filter { $0.hasPrefix("\"\(label)") }
  }

  @Test("Pending futures are listed by label, place, age and consumers, the oldest first, until they are resolved")
  func pendingFutures() {
    let label = "diagnosed pending"
    let untracked = Promise<Int, any Error>(label + " untracked")
    FuturesDiagnostics.tracksPendingFutures = true
    defer { FuturesDiagnostics.tracksPendingFutures = false }
    #expect(FuturesDiagnostics.tracksPendingFutures)
    let (first, line) = (Promise<Int, any Error>(label + " 1"), #line)
    let second = Promise<String, Never>(label + " 2")
    first.future.whenResolved(on: .immediate) { _ in }
    let mapped = first.future.map { $0 + 1 }
    mapped.whenResolved(on: .immediate) { _ in }
    let lines = stuck(label)
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix("\"\(label) 1\" \(#fileID):\(line), pending for ") == true)
    #expect(lines.first?.hasSuffix(", 2 consumers") == true)
    #expect(lines.last?.hasPrefix("\"\(label) 2\"") == true)
    #expect(lines.last?.hasSuffix(", 0 consumers") == true)
    first.succeed(1)
    #expect(stuck(label).count == 1)
    second.future.whenResolved(on: .immediate) { _ in }
    #expect(stuck(label).first?.hasSuffix(", 1 consumer") == true)
    let impatient = second.future.map { $0 }
    impatient.cancel()  // its failure type is `Never`, so it stays pending
    #expect(stuck(label).first?.hasSuffix(", 2 consumers") == true)
    second.succeed("")
    #expect(stuck(label).isEmpty)
    untracked.succeed(1)
  }

  @Test("A future that follows is listed; a cancelled or broken future is not, and no future when tracking is off")
  func pendingFuturesThatEnd() {
    let label = "diagnosed ending"
    FuturesDiagnostics.tracksPendingFutures = true
    defer { FuturesDiagnostics.tracksPendingFutures = false }
    let following = Promise<Int, any Error>(label)
    following.follow(.never)
    #expect(stuck(label).count == 1)
    following.future.cancel()
    #expect(stuck(label).isEmpty)
    let cancelled = Promise<Int, any Error>(label)
    cancelled.future.cancel()
    var broken: Promise<Int, Never>? = Promise(label)
    let future = broken?.future
    _ = future
    #expect(stuck(label).count == 1)
    broken = nil
    #expect(stuck(label).isEmpty)
    let kept = Promise<Int, any Error>(label)
    #expect(stuck(label).count == 1)
    FuturesDiagnostics.tracksPendingFutures = true
    #expect(stuck(label).count == 1)
    FuturesDiagnostics.tracksPendingFutures = false
    #expect(FuturesDiagnostics.pendingFutures.isEmpty)
    withExtendedLifetime((kept, future)) {}
  }

  @Test(
    "Tracking keeps no future alive, and does not grow with ended futures",
    .enabled(if: AllocationCounts.areSupported)
  )
  func pendingFuturesLeaveNothing() {
    FuturesDiagnostics.tracksPendingFutures = true
    defer { FuturesDiagnostics.tracksPendingFutures = false }
    let before = AllocationCounts.ofThread().liveBytes
    weak let released: AnyObject? = {
      final class Released: Sendable {}
      let value = Released()
      Promise<Released, any Error>().succeed(value)
      return value
    }()
    #expect(released == nil)
    for _ in 0..<10_000 { Promise<Int, any Error>().succeed(1) }
    #expect(AllocationCounts.ofThread().liveBytes - before < 100_000)
  }

  @Test("The table shrinks when many futures were pending at once", .enabled(if: AllocationCounts.areSupported))
  func tableShrinks() async {
    // In a separate process: the promises of other tests are in the same table.
    await #expect(processExitsWith: .success) {
      FuturesDiagnostics.tracksPendingFutures = true
      defer { FuturesDiagnostics.tracksPendingFutures = false }
      let before = AllocationCounts.ofThread().liveBlocks
      do {
        let promises = (0..<5_000).map { _ in Promise<Int, any Error>() }
        for promise in promises { promise.succeed(1) }
      }
      for _ in 0..<10_000 { Promise<Int, any Error>().succeed(1) }
      // The table refers to an ended future weakly, which keeps one block until the next sweep.
      var most: Int64 = 0
      for _ in 0..<10_000 {
        Promise<Int, any Error>().succeed(1)
        most = max(most, AllocationCounts.ofThread().liveBlocks - before)
      }
      #expect(most < 1_000)
    }
  }
}
