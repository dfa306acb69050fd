import Dispatch
import Futures
import FuturesAsync

extension Rows {
  /// B1: `await` of a future that a promise resolved earlier.
  ///
  /// All operations await one future, which has a shared state. A future from `.succeeded` would hold its value
  /// instead.
  @Sendable
  static func awaitResolved(_ harness: Harness) -> Row {
    let ours = Body.asynchronous { repetitions in
      let future = resolvedByPromise()
      for _ in 0..<repetitions { Sink.add((try? await future.value) ?? 0) }
    }
    let continuation = Body.asynchronous { repetitions in
      for _ in 0..<repetitions {
        let value = try? await withUnsafeThrowingContinuation { $0.resume(returning: 1) }
        Sink.add(value ?? 0)
      }
    }
    return harness.measure(
      "B1",
      "await the value of a resolved future",
      ours: ours,
      floor: Contender("unsafe continuation resumed at once", continuation),
      budget: [.timesFloor(0.24), .allocations(0)]
    )
  }

  /// Returns a resolved future with a shared state; out of line, so that the compiler cannot remove the test for that state.
  @inline(never)
  private static func resolvedByPromise() -> Future<Value, Failure> {
    let promise = makePromise()
    promise.succeed(1)
    return promise.future
  }

  /// B2: `await` of a pending future, which a queue resolves.
  ///
  /// The floor has the same order: it enqueues the block, then awaits. The queue can run the block before the task suspends. The
  /// floor installs a cancellation handler, as the library does for a failure type that can represent cancellation.
  @Sendable
  static func awaitPending(_ harness: Harness) -> Row {
    let queue = DispatchQueue(label: "benchmark")
    let ours = Body.asynchronous { repetitions in
      for _ in 0..<repetitions {
        let promise = makePromise()
        queue.async { promise.succeed(1) }
        Sink.add((try? await promise.future.value) ?? 0)
      }
    }
    let slot = Body.asynchronous { repetitions in
      for _ in 0..<repetitions {
        let slot = HandSlot<Value>()
        queue.async { slot.succeed(1) }
        let value = await withTaskCancellationHandler {
          await withUnsafeContinuation { slot.resume($0) }
        } onCancel: {
        }
        Sink.add(value)
      }
    }
    return harness.measure(
      "B2",
      "await a pending future, resolved from a queue",
      ours: ours,
      floor: Contender("bare slot, awaited in the same order", slot),
      budget: [.timesFloor(1.05), .allocationsAboveFloor(3)]
    )
  }

  /// B3: starts `Future { … }`, and awaits it.
  ///
  /// Both closures capture one integer.
  @Sendable
  static func awaitFutureOfTask(_ harness: Harness) -> Row {
    let ours = Body.asynchronous { repetitions in
      for index in 0..<repetitions {
        let future = Future<Value, Failure> { () async throws(Failure) in index }  // a throwing type, as in the floor
        Sink.add((try? await future.value) ?? 0)
      }
    }
    let floor = Body.asynchronous { repetitions in
      for index in 0..<repetitions {
        Sink.add((try? await Task<Value, any Error> { index }.value) ?? 0)
      }
    }
    return harness.measure(
      "B3",
      "Future { … } and await it",
      ours: ours,
      floor: Contender("Task { … }.value", floor),
      budget: [.timesFloor(2.1), .allocationsAboveFloor(3)]
    )
  }
}
