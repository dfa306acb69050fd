import Foundation
import Futures
import FuturesAsync

/// Threads that call one shared object in a loop, to check that no call does the work of the other threads (R28).
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct SharingRow: Sendable {
  let name: String

  /// The calls that are measured together: about a millisecond, which an interrupt does not lengthen much.
  var callsInUnit = 256

  /// Makes the object, and returns the call that each thread repeats, and a closure that is called at the end.
  let make: @Sendable () -> (call: @Sendable (_ thread: Int, _ number: Int) -> Void, end: @Sendable () -> Void)

  /// The units of one thread, in nanoseconds of its own processor time.
  private struct Times {
    var units: [UInt32] = []
    var longest: Double { Double(units.max() ?? 0) }
    var median: Double { Double(units.isEmpty ? 0 : units.sorted()[units.count / 2]) }
  }

  /// Runs the row, and prints it.
  /// - Returns: Whether the longest unit of each thread takes at most 50 of its medians, and each thread has at least a
  ///   quarter of its fair share of calls.
  func run(threads: Int, seconds: Double) -> Bool {
    let (call, end) = make()
    let times = Locked([Times](repeating: Times(), count: threads))
    let group = DispatchGroup()
    let stop = DispatchTime.now() + seconds
    for thread in 0..<threads {
      group.enter()
      Thread.detachNewThread {
        var own = Times()
        var number = 0
        while DispatchTime.now() < stop {
          let start = processorTime
          for _ in 0..<callsInUnit {
            call(thread, number)
            number += 1
          }
          own.units.append(UInt32(clamping: processorTime - start))
        }
        times.withLock { $0[thread] = own }
        group.leave()
      }
    }
    group.wait()
    end()
    let results = times.withLock { $0 }
    let total = results.reduce(0) { $0 + $1.units.count }
    let share = results.map { Double($0.units.count * threads) / Double(max(total, 1)) }.min() ?? 0
    let ratio = results.map { $0.longest / max($0.median, 1) }.max() ?? 0
    let hasPassed = share >= 0.25 && ratio <= 50
    let counts = "\(total * callsInUnit) calls, longest \(Int(ratio.rounded(.up))) medians"
    print("\(hasPassed ? "passed" : "FAILED")  \(name): \(counts), least share \(Int(share * 100)) %")
    return hasPassed
  }
}

/// The processor time of the calling thread, in nanoseconds.
private var processorTime: Int {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
}
