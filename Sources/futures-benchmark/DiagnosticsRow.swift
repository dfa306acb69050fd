import Futures

/// D1: makes, resolves and releases a promise, with the tracking of pending futures.
///
/// The floor does the same without tracking, which is the default.
@Sendable
func trackingOfPendingFutures(_ harness: Harness) -> Row {
  let resolve = { @Sendable (repetitions: Int) in
    for index in 0..<repetitions {
      let promise = Promise<Int, any Error>("D1")
      promise.succeed(index)
      Sink.add(index)
    }
  }
  let tracked = Body.synchronous { repetitions in
    FuturesDiagnostics.tracksPendingFutures = true
    resolve(repetitions)
    FuturesDiagnostics.tracksPendingFutures = false
  }
  return harness.measure(
    "D1",
    "a promise with a label, resolved, while pending futures are tracked",
    ours: tracked,
    floor: Contender("the same without tracking", .synchronous(resolve)),
    budget: [.timesFloor(1.96), .allocations(2)]
  )
}
