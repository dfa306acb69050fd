import Futures

/// D1: what it costs to know what is stuck, for a promise that is made, resolved and dropped.
///
/// The floor is the same while it is off, as it is unless somebody switches it on.
@Sendable
func trackingOfPendingFutures(_ harness: Harness) -> [Row] {
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
  return [
    harness.measure(
      "D1",
      "a promise with a label, resolved, while pending futures are tracked",
      ours: tracked,
      floors: [Contender("the same while they are not", .synchronous(resolve))],
      budget: []
    )
  ]
}
