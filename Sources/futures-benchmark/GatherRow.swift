import Futures

#if !canImport(Darwin)
  import Synchronization
#endif

extension Rows {
  /// C7: makes many promises, passes their futures to `all`, resolves each promise and reads the values.
  ///
  /// The growth of a row is its cost per element divided by the cost with 1,000 elements in the same order. Both costs
  /// are in relation to their floors: in a shuffled order the floor misses the caches, too.
  @Sendable
  static func gatherAll(_ harness: Harness) -> [Row] {
    CompletionOrder.allCases.flatMap { order in
      var rows: [Row] = []
      for (name, count) in [("1,000", 1_000), ("10,000", 10_000), ("100,000", 100_000)] {
        var row = harness.measure(
          "C7 \(name)\(order.suffix)",
          "all of \(name) pending futures, resolved \(order.rawValue), per element",
          parts: count,
          ours: ours(order.indices(count: count)),
          floors: [Contender("lock and array by hand", floor(order.indices(count: count)))],
          budget: [
            .timesFloor(count < 100_000 ? 0.98 : order == .shuffled ? 0.82 : 1.11), .allocations(2), .growth(1.25),
          ]
        )
        let first = rows.first ?? row
        row.setGrowth(from: first)
        rows.append(row)
      }
      return rows
    }
  }

  private static func ours(_ order: [Int]) -> Body {
    Body.synchronous { repetitions in
      for _ in 0..<repetitions {
        let promises = order.indices.map { _ in makePromise() }
        Future.all(promises.map { $0.future }).whenSucceeded(on: .immediate) { Sink.add($0.count) }
        for index in order { promises[index].succeed(index) }
      }
    }
  }

  private static func floor(_ order: [Int]) -> Body {
    Body.synchronous { repetitions in
      for _ in 0..<repetitions {
        let promises = order.indices.map { _ in makeHandPromise() }
        handAll(promises.map { $0.future }).whenResolved { Sink.add($0, plus: 0) }
        for index in order { promises[index].succeed(index) }
      }
    }
  }

  /// The floor: an array, a count and a lock.
  private static func handAll(_ futures: [HandFuture]) -> HandFuture {
    let all = makeHandPromise()
    let state = Mutex((values: [Value](repeating: 0, count: futures.count), awaited: futures.count))
    let shared = Shared(state)
    for (index, future) in futures.enumerated() {
      future.whenResolved { result in
        guard case .success(let value) = result else { return }
        let isComplete = shared.state.withLock { state in
          state.values[index] = value
          state.awaited -= 1
          return state.awaited == 0
        }
        if isComplete { all.succeed(futures.count) }
      }
    }
    return all.future
  }
}

/// The order of resolution.
private enum CompletionOrder: String, CaseIterable {
  case forwards = "in order"
  case shuffled = "in a shuffled order"

  var suffix: String { self == .forwards ? "" : " shuffled" }

  func indices(count: Int) -> [Int] {
    var indices = Array(0..<count)
    guard self == .shuffled else { return indices }
    // The same seed gives the same order in each run.
    var generator = SplitMix64(state: 1)
    indices.shuffle(using: &generator)
    return indices
  }
}

private struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// The state that the callbacks of the floor share.
private final class Shared<State: ~Copyable & Sendable>: Sendable {
  let state: State

  init(_ state: consuming State) { self.state = state }
}
