import Futures

extension Rows {
  /// C7: makes many promises, passes their futures to `all`, resolves each promise and reads the values.
  ///
  /// The growth of a row is its cost per element divided by the cost with 1,000 elements in the same order. Both costs
  /// are in relation to their floors: in a shuffled order the floor misses the caches, too.
  @Sendable
  static func gatherAll(_ harness: Harness) -> [Row] {
    [false, true].flatMap { isShuffled in
      var rows: [Row] = []
      for (name, count) in [("1,000", 1_000), ("10,000", 10_000), ("100,000", 100_000)] {
        let indices = isShuffled ? (0..<count).shuffled() : Array(0..<count)
        let limitOfLargest = isShuffled ? 0.82 : 1.11  // a shuffled order slows the floor more than the library
        var row = harness.measure(
          "C7 \(name)\(isShuffled ? " shuffled" : "")",
          "all of \(name) pending futures, resolved in \(isShuffled ? "a shuffled " : "")order, per element",
          parts: count,
          ours: gathering(indices),
          floor: Contender("lock and array by hand", gatheringByHand(indices)),
          budget: [.timesFloor(count == 100_000 ? limitOfLargest : 0.98), .allocations(2), .growth(1.25)]
        )
        row.setGrowth(from: rows.first ?? row)  // the first row has 1,000 elements
        rows.append(row)
      }
      return rows
    }
  }

  /// Passes futures to `all`, and resolves them in an order.
  static func gathering(_ order: [Int]) -> Body {
    Body.synchronous { repetitions in
      for _ in 0..<repetitions {
        let promises = order.indices.map { _ in makePromise() }
        Future.all(promises.map { $0.future }).whenSucceeded(on: .immediate) { Sink.add($0.count) }
        for index in order { promises[index].succeed(index) }
      }
    }
  }

  private static func gatheringByHand(_ order: [Int]) -> Body {
    Body.synchronous { repetitions in
      for _ in 0..<repetitions {
        let promises = order.indices.map { _ in makeHandPromise() }
        handAll(promises.map { $0.future }).whenResolved { Sink.add($0) }
        for index in order { promises[index].succeed(index) }
      }
    }
  }

  /// Does for the floor what `all` does, with an array and a lock; succeeds with the number of values instead of the array.
  private static func handAll(_ futures: [HandFuture]) -> HandFuture {
    let all = makeHandPromise()
    let state = Mutex((values: [Value](repeating: 0, count: futures.count), awaited: futures.count))
    for (index, future) in futures.enumerated() {
      future.whenResolved { result in
        guard case .success(let value) = result else { return }  // never: this row fails no future
        let isComplete = state.withLock { state in
          state.values[index] = value
          state.awaited -= 1
          return state.awaited == 0
        }
        if isComplete { all.succeed(futures.count) }  // a `HandFuture` holds an integer, so it cannot hold the array
      }
    }
    return all.future
  }
}
