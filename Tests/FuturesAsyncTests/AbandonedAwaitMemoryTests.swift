internal import AllocationCounter
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// In processes of their own, where nothing else allocates.

@Suite("R22: what abandoned awaits leave behind", .enabled(if: AllocationCounts.areSupported), .timeLimit(.minutes(20)))
struct AbandonedAwaitMemoryTests {
  /// Abandons `count` awaits of `future`, half of them before they attach.
  static func abandon<Failure: Error>(_ count: Int, of future: Future<Int, Failure>) async {
    for number in 0..<count {
      let task = Task.immediate {
        if number.isMultiple(of: 2) { withUnsafeCurrentTask { $0?.cancel() } }
        return await future.result
      }
      task.cancel()
      let result = await task.value
      precondition(!result.isSuccess)
    }
  }

  /// The bytes that 10,000 abandoned awaits of one future leave behind.
  ///
  /// The least of three rounds: what is left behind is left in each of them, and what a new thread of the system takes is not.
  static func bytesLeft<Failure: Error>(_ promise: Promise<Int, Failure>) async -> Int64 {
    var least = Int64.max
    await abandon(1_000, of: promise.future)
    for _ in 0..<3 {
      let before = AllocationCounts.ofProcess().liveBytes
      await abandon(10_000, of: promise.future)
      least = min(least, AllocationCounts.ofProcess().liveBytes - before)
    }
    precondition(!promise.isResolved)
    return least
  }

  /// Less than the smallest object for each.
  static let tolerance = 100_000

  @Test("R22: 10,000 abandoned awaits of one pending future leave no memory behind")
  func anyError() async {
    await #expect(processExitsWith: .success) {
      let bytes = await Self.bytesLeft(Promise<Int, any Error>())
      #expect(bytes < Self.tolerance, "\(bytes) bytes")
    }
  }

  @Test("R22: the same with a `CancellableFailure`")
  func cancellableFailure() async {
    await #expect(processExitsWith: .success) {
      let bytes = await Self.bytesLeft(Promise<Int, Interruption>())
      #expect(bytes < Self.tolerance, "\(bytes) bytes")
    }
  }

  @Test("R22: awaits abandoned while 1,000 others stay leave no memory behind either")
  func amongOthers() async {
    await #expect(processExitsWith: .success) {
      let promise = Promise<Int, any Error>()
      let others = (0..<1_000).map { _ in Task.immediate { try await promise.future.value } }
      let bytes = await Self.bytesLeft(promise)
      #expect(bytes < Self.tolerance, "\(bytes) bytes")
      promise.succeed(1)
      for other in others { #expect((try? await other.value) == 1) }
    }
  }
}
