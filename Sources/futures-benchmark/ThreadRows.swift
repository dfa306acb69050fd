import Dispatch
import Foundation
import Futures
import FuturesAsync

#if !canImport(Darwin)
  import Synchronization
#endif

/// The number of operations of each thread or task: so many that the cost of its start does not matter.
private let operations = 10_000

/// S6: threads that create promises, attach a callback and resolve them, all at once.
///
/// The cost is the elapsed time divided by the operations of all threads. With two cores, two threads should halve the
/// cost.
@Sendable
func threadsThatCreateAndResolve(_ harness: Harness) -> [Row] {
  harness.measureThreads("S6", "threads that create and resolve, per operation", unit: "thread") { threads in
    .synchronous { repetitions in
      for _ in 0..<repetitions {
        let sums = (0..<threads).map { _ in ThreadSum() }
        let isOver = DispatchSemaphore(value: 0)
        for sum in sums {
          Thread.detachNewThread {
            createAndResolve(sum)
            isOver.signal()
          }
        }
        for sum in sums {
          isOver.wait()
          Sink.add(sum.total)
        }
      }
    }
  }
}

@inline(never)
private func createAndResolve(_ sum: ThreadSum) {
  for index in 0..<operations {
    let promise = Rows.makePromise()
    promise.future.whenResolved(on: .immediate) { sum.add($0, plus: index) }
    promise.succeed(index)
  }
}

/// S7: tasks that create promises, resolve and await them, all at once, on Swift's cooperative threads.
@Sendable
func tasksThatCreateResolveAndAwait(_ harness: Harness) -> [Row] {
  harness.measureThreads("S7", "tasks that create, resolve and await, per operation", unit: "task") { tasks in
    .asynchronous { repetitions in
      for _ in 0..<repetitions {
        let running = (0..<tasks).map { _ in Task.detached { await createResolveAndAwait() } }
        for task in running { Sink.add(await task.value) }
      }
    }
  }
}

@inline(never)
private func createResolveAndAwait() async -> Int {
  var sum = 0
  for index in 0..<operations {
    let promise = Rows.makePromise()
    promise.succeed(index)
    sum &+= (try? await promise.future.value) ?? 0
  }
  return sum
}

extension Harness {
  /// Measures work on one to eight threads; the growth is in relation to one thread.
  fileprivate func measureThreads(
    _ name: String,
    _ work: String,
    unit: String,
    _ body: (_ threads: Int) -> Body
  ) -> [Row] {
    var rows = [1, 2, 4, 8].map { threads in
      var row = withFewSamples.measure(
        "\(name) \(threads) \(unit)\(threads == 1 ? "" : "s")",
        work,
        parts: threads * operations,
        ours: body(threads),
        budget: []
      )
      row.size = threads
      return row
    }
    let single = rows[0]
    for index in rows.indices { rows[index].setGrowth(from: single) }
    return rows
  }
}

/// The sum of the callbacks of one thread, away from the cache lines of other threads.
private final class ThreadSum: Sendable {
  private let sum = Atomic<Int>(0)
  private let padding: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)

  var total: Int { sum.load(ordering: .relaxed) }

  /// Adds a value, as `Sink` does; only one thread adds, so a relaxed load and a relaxed store are enough.
  func add(_ result: Result<Int, any Error>, plus captured: Int) {
    guard case .success(let value) = result else { return }
    sum.store(sum.load(ordering: .relaxed) &+ value &+ captured, ordering: .relaxed)
  }
}
