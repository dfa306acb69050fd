import AllocationCounter
import Dispatch

/// Code to be measured: it repeats one operation as often as it is told.
enum Body: Sendable {
  case synchronous(@Sendable (_ repetitions: Int) -> Void)
  case asynchronous(@Sendable (_ repetitions: Int) async -> Void)

  /// Nanoseconds for that many repetitions, read inside the task where the body is asynchronous.
  func nanoseconds(_ repetitions: Int) -> Double {
    around(repetitions, read: { DispatchTime.now().uptimeNanoseconds }, difference: { Double($1 - $0) })
  }

  /// What that many repetitions allocated and left behind, on all threads.
  func allocations(_ repetitions: Int) -> AllocationCounts {
    AllocationCounts.setEnabled(true)
    defer { AllocationCounts.setEnabled(false) }
    return around(repetitions, read: AllocationCounts.ofProcess, difference: { $1 - $0 })
  }

  /// The difference between two readings with the repetitions between them.
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
      return runBlocking {
        let before = read()
        await run(repetitions)
        return difference(before, read())
      }
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
