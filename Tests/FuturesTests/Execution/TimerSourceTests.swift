internal import AllocationCounter
internal import Dispatch
import Futures
import TestSupport
import Testing

@Suite(.enabled(if: AllocationCounts.areSupported), .timeLimit(.minutes(20)))
struct TimerSourceTests {
  @Test("R12: a cancelled timer is released before its deadline")
  func cancelledTimersAreReleased() async {
    await #expect(processExitsWith: .success) {
      await expectTimersAreReleased { count in
        let futures = (0..<count).map { _ in Future<Void, any Error>.succeeded(()).delay(by: .seconds(3_600)) }
        for future in futures { future.cancel() }
      }
    }
  }

  // In a process of its own, because the timers of other tests share the heap, whose memory is released when it is empty.
  @Test("A pending timer takes less than 250 bytes, and a cancelled one leaves its memory to the next")
  func bytes() async {
    await #expect(processExitsWith: .success) {
      let count: Int64 = 10_000
      let hour: Int64 = 3_600_000_000_000
      /// The bytes of a pending timer, with 16 for its place in the array of this function.
      func bytesOfTimer() -> Int64 {
        let before = AllocationCounts.ofThread().liveBytes
        let timers = (0..<count).map { _ in ExecutionContext.global().schedule(afterNanoseconds: hour) {} }
        defer { for cancel in timers { cancel() } }
        return (AllocationCounts.ofThread().liveBytes - before) / count
      }
      let before = AllocationCounts.ofThread().liveBytes
      let bytes = bytesOfTimer()
      let left = AllocationCounts.ofThread().liveBytes - before
      #expect(bytes < 250)
      #expect(left < 10_000)
    }
  }

  @Test("R12: a timer that has fired is released")
  func firedTimersAreReleased() async {
    await #expect(processExitsWith: .success) {
      await expectTimersAreReleased { count in
        let futures = (0..<count).map { _ in Future<Void, any Error>.succeeded(()).delay(by: .microseconds(1)) }
        await withCheckedContinuation { continuation in
          Future.all(futures).whenResolved(on: .immediate) { _ in continuation.resume() }
        }
      }
    }
  }
}

/// Expects that timers leave nothing.
///
/// The check needs a separate process, because Dispatch releases a timer on a thread of its own.
private func expectTimersAreReleased(_ use: (_ count: Int) async -> Void) async {
  let count = 10_000  // many more than the 1,024 freed blocks of ended work that each thread of Dispatch keeps
  await use(count)
  let before = AllocationCounts.ofProcess().liveBlocks
  await use(count)
  // A timer that is not released leaves several blocks. A timer that is released needs some turns of Dispatch.
  for _ in 0..<10_000 where AllocationCounts.ofProcess().liveBlocks - before > count {
    await waitForATurnOfDispatch()
  }
  #expect(AllocationCounts.ofProcess().liveBlocks - before <= count)
}

/// Waits until Dispatch has cancelled a timer of its own.
private func waitForATurnOfDispatch() async {
  await withCheckedContinuation { continuation in
    let source = DispatchSource.makeTimerSource(queue: .global())
    source.setCancelHandler { continuation.resume() }
    source.activate()
    source.cancel()
  }
}
