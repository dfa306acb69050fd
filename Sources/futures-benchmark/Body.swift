import AllocationCounter
import Dispatch
import Futures
import FuturesAsync

/// Code to measure: runs one operation a number of times.
enum Body: Sendable {
  case synchronous(@Sendable (_ repetitions: Int) -> Void)
  case asynchronous(@Sendable (_ repetitions: Int) async -> Void)

  /// Runs the given number of repetitions, and measures nothing.
  func run(_ repetitions: Int) {
    around(repetitions, read: {}, difference: { _, _ in })
  }

  /// Returns the nanoseconds of the given number of repetitions; the task of an asynchronous body reads the clock.
  func nanoseconds(_ repetitions: Int) -> Double {
    around(repetitions, read: { DispatchTime.now().uptimeNanoseconds }, difference: { Double($1 - $0) })
  }

  /// Counts the allocations of the given number of repetitions, on all threads.
  func allocations(_ repetitions: Int) -> AllocationCounts {
    AllocationCounts.setEnabled(true)
    defer { AllocationCounts.setEnabled(false) }
    return around(repetitions, read: AllocationCounts.ofProcess, difference: { $1 - $0 })
  }

  /// Returns the difference between a reading before the repetitions and one after them; waits for an asynchronous body.
  private func around<Reading: Sendable, Difference: Sendable>(
    _ repetitions: Int,
    read: @escaping @Sendable () -> Reading,
    difference: @escaping @Sendable (Reading, Reading) -> Difference
  ) -> Difference {
    switch self {
    case .synchronous(let run):
      let before = read()
      run(repetitions)
      return difference(before, read())
    case .asynchronous(let run):
      return Future.detached {
        let before = read()
        await run(repetitions)
        return difference(before, read())
      }
      .wait().get()
    }
  }
}

extension AllocationCounts {
  static func - (later: AllocationCounts, earlier: AllocationCounts) -> AllocationCounts {
    AllocationCounts(
      allocations: later.allocations - earlier.allocations,
      allocatedBytes: later.allocatedBytes - earlier.allocatedBytes,
      liveBlocks: later.liveBlocks - earlier.liveBlocks,
      liveBytes: later.liveBytes - earlier.liveBytes
    )
  }
}
