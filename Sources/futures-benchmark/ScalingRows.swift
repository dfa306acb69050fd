import Futures
import FuturesAsync

/// The rows that show how the cost of one part grows with the number of parts.
///
/// The growth of a row is its cost in relation to 1,000 parts. With fewer parts the future itself is a large part of the cost.
let scalingRows = [
  RowDefinition("S1", callbacksOnOneFuture),
  RowDefinition("S2", elementsOfAll),
  RowDefinition("S3", tasksAwaitingOneFuture),
  RowDefinition("S4", handlersOfOneToken),
  RowDefinition("S5", readersOfOneProgress),
  RowDefinition("S6", threadsThatCreateAndResolve),
]

/// S1: callbacks on one future: attaches, runs and releases each of them.
@Sendable
private func callbacksOnOneFuture(_ harness: Harness) -> [Row] {
  harness.measureGrowth("S1", "callbacks on one future, per callback", Rows.callbacksOfOneFuture)
}

/// S2: elements of `Future.all`: makes the promise, passes its future to `all`, and resolves it.
@Sendable
private func elementsOfAll(_ harness: Harness) -> [Row] {
  harness.measureGrowth("S2", "elements of Future.all, resolved in order, per element") {
    Rows.gathering(Array(0..<$0))  // the array is the order in which the promises are resolved
  }
}

/// S3: tasks that all await one future; the time includes starting and ending each task.
///
/// At most 100,000 tasks, because a million tasks take more than a gigabyte.
@Sendable
private func tasksAwaitingOneFuture(_ harness: Harness) -> [Row] {
  harness.measureGrowth("S3", "tasks awaiting one future (at most 100,000), per task", atMost: 100_000) { count in
    .asynchronous { repetitions in
      for index in 0..<repetitions {
        let promise = Rows.makePromise()
        let future = promise.future
        let waiting = Count()
        let tasks = (0..<count).map { _ in
          Task.detached {
            waiting.add(1)
            return (try? await future.value) ?? 0
          }
        }
        await waiting.reach(count)
        promise.succeed(index)
        for task in tasks { Sink.add(await task.value) }
      }
    }
  }
}

/// S4: handlers of one token: registers, runs and releases each of them.
@Sendable
private func handlersOfOneToken(_ harness: Harness) -> [Row] {
  harness.measureGrowth("S4", "registrations with one token, then cancelled, per registration", cancelledHandlers)
}

/// S5: tasks, at most as many as in S3, that all read the progress of one future: its first value, one report and the end.
@Sendable
private func readersOfOneProgress(_ harness: Harness) -> [Row] {
  harness.measureGrowth("S5", "readers of one progress (at most 100,000), per reader", atMost: 100_000) { count in
    .asynchronous { repetitions in
      for index in 0..<repetitions {
        let promise = Rows.makePromise()
        let updates = promise.future.progress
        let reading = Count()
        let readers = (0..<count).map { _ in
          Task.detached {
            var iterator = updates.makeAsyncIterator()
            var last = await iterator.next()
            reading.add(1)
            while let update = await iterator.next() { last = update }
            return Int(last?.completedUnitCount ?? 0)
          }
        }
        await reading.reach(count)
        promise.progress.report(completed: 1, of: 2)
        promise.succeed(index)
        for reader in readers { Sink.add(await reader.value) }
      }
    }
  }
}

extension Harness {
  /// Measures work with 10 to 1,000,000 parts; each row shows its growth from the row of 1,000 parts.
  fileprivate func measureGrowth(
    _ name: String,
    _ work: String,
    atMost limit: Int = 1_000_000,
    _ body: (_ count: Int) -> Body
  ) -> [Row] {
    let sizes = [
      ("10", 10), ("100", 100), ("1,000", 1_000), ("10,000", 10_000), ("100,000", 100_000), ("1,000,000", 1_000_000),
    ]
    let largest = isQuick ? min(limit, 10_000) : limit
    var rows = sizes.filter { $0.1 <= largest }.map { text, size in
      var row = withFewSamples.measure("\(name) \(text)", work, parts: size, ours: body(size))
      row.size = size
      return row
    }
    if let reference = rows.first(where: { $0.size == 1_000 }) {
      for index in rows.indices { rows[index].setGrowth(from: reference) }
    }
    return rows
  }
}

/// The number of tasks that have reached a point.
private final class Count: Sendable {
  private let count = Atomic<Int>(0)

  // Relaxed, here and below: the count orders nothing.
  func add(_ more: Int) { count.add(more, ordering: .relaxed) }

  /// Yields until that many tasks have reached the point.
  func reach(_ total: Int) async {
    while count.load(ordering: .relaxed) < total { await Task.yield() }
  }
}
