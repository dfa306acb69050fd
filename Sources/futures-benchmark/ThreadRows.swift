import Foundation
import Futures

/// The number of operations of each thread: so many that the cost of its start does not matter.
private let operations = 10_000

/// S6: threads that create promises, attach a callback and resolve them, all at once.
///
/// The cost is the elapsed time divided by the operations of all threads. With two cores, two threads should halve the
/// cost.
@Sendable
func threadsThatCreateAndResolve(_ harness: Harness) -> [Row] {
  var rows = [1, 2, 4, 8].map { threads in
    let ours = Body.synchronous { repetitions in
      for _ in 0..<repetitions {
        let sums = (0..<threads).map { _ in
          let sum = Promise<Int, Never>()
          Thread.detachNewThread { sum.succeed(createAndResolve()) }
          return sum.future
        }
        for sum in sums { Sink.add(sum.wait().get()) }
      }
    }
    var row = harness.withFewSamples.measure(
      "S6 \(threads) thread\(threads == 1 ? "" : "s")",
      "threads that create and resolve, per operation",
      parts: threads * operations,
      ours: ours
    )
    row.size = threads
    return row
  }
  let single = rows[0]
  for index in rows.indices { rows[index].setGrowth(from: single) }
  return rows
}

/// Performs the operations of one thread, and returns the sum of their values.
@inline(never)
private func createAndResolve() -> Int {
  nonisolated(unsafe) var sum = 0  // safe, because all callbacks run on this thread
  for index in 0..<operations {
    let promise = Rows.makePromise()
    promise.future.whenSucceeded(on: .immediate) { sum &+= $0 &+ index }
    promise.succeed(index)
  }
  return sum
}
