import Futures
import FuturesAsync

extension Rows {
  /// B6: reports of progress without a suspended reader, and with one reading task.
  ///
  /// Each report changes the progress. The first row and its floor make only one promise or stream for a whole sample.
  @Sendable
  static func progressReports(_ harness: Harness) -> [Row] {
    let reports = harness.isTimed ? 1_000_000 : 10_000  // fewer are enough to count allocations
    return [
      harness.measure(
        "B6 report",
        "one report of progress, no suspended reader",
        ours: Body.synchronous { repetitions in
          let promise = makePromise()
          let progress = promise.progress
          for index in 0..<repetitions { progress.report(completed: Int64(index), of: Int64(repetitions)) }
          Sink.add(Int(promise.future.currentProgress.completedUnitCount))
          promise.succeed(1)
        },
        floor: Contender(
          "yield of an AsyncStream that keeps the newest",
          Body.synchronous { repetitions in
            let (stream, continuation) = AsyncStream.makeStream(of: Double.self, bufferingPolicy: .bufferingNewest(1))
            for index in 0..<repetitions { continuation.yield(Double(index)) }
            withExtendedLifetime(stream) {}  // `yield` would only drop the number if the stream were released
          }
        ),
        budget: [.timesFloor(0.13), .allocations(0)]
      ),
      harness.measure(
        "B6 reader",
        "1,000,000 reports while one task reads, per report",
        parts: reports,
        ours: Body.asynchronous { repetitions in
          for _ in 0..<repetitions {
            let promise = makePromise()
            let progress = promise.progress
            let updates = promise.future.progress
            let reader = Task.detached {
              var last = 0.0
              for await update in updates { last = update.fractionCompleted }
              return last
            }
            for index in 0..<reports { progress.report(completed: Int64(index), of: Int64(reports)) }
            promise.succeed(1)
            Sink.add(Int(await reader.value))
          }
        },
        floor: Contender(
          "AsyncStream that keeps the newest",
          Body.asynchronous { repetitions in
            for _ in 0..<repetitions {
              let (stream, continuation) = AsyncStream.makeStream(
                of: Double.self,
                bufferingPolicy: .bufferingNewest(1)
              )
              let reader = Task.detached {
                var last = 0.0
                for await update in stream { last = update }
                return last
              }
              for index in 0..<reports { continuation.yield(Double(index)) }
              continuation.finish()
              Sink.add(Int(await reader.value))
            }
          }
        ),
        budget: [.timesFloor(0.2), .allocations(0.5)]  // per report; the reader allocates to wait, but waits rarely
      ),
    ]
  }
}
