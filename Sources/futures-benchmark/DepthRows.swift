import Dispatch
import Futures

extension Variant {
  /// C10: a chain of 1,000,000 `map` stages, made and then resolved, or made and then released unresolved.
  ///
  /// Making the chain is in the time of both. All of it runs on a thread with a stack of 512 KiB. The chain that is
  /// released can't fail, so it can't hold a `BrokenPromise`, and its closures are released unrun; it is the same chain in
  /// the rows of both failure types, and measured in one of them.
  @Sendable
  static func deepChain(_ harness: Harness) -> [Row] {
    let stages = harness.isQuick ? 100_000 : 1_000_000
    let budget: [Limit] = [.timesBaseline(12), .bytesLeft(0)]
    return onSmallStack {
      var rows = [
        harness.measure(
          "C10 resolve" + suffix,
          "make and resolve a chain of \(stages) map stages, per stage",
          parts: stages,
          ours: resolvedChain(stages),
          budget: budget
        )
      ]
      if Failure.self != Never.self {
        rows.append(
          harness.measure(
            "C10 release" + suffix,
            "make a chain of \(stages) map stages and release it unresolved, per stage",
            parts: stages,
            ours: releasedChain(stages),
            budget: budget
          )
        )
      }
      return rows.map { harness.withPeakMemory($0) }
    }
  }

  /// C11: `f(n) = step().flatMap { f(n - 1) }`, with steps that are ready and steps that a queue resolves.
  ///
  /// The floor of the asynchronous ones is the loop that async/await would have here: a continuation per step, resumed
  /// from the same queue.
  @Sendable
  static func recursion(_ harness: Harness) -> [Row] {
    let readySteps = harness.isQuick ? 10_000 : 1_000_000
    let queuedSteps = 1_000
    let native = Body.asynchronous { repetitions in
      for _ in 0..<repetitions * queuedSteps {
        _ = await withUnsafeContinuation { continuation in
          deepQueue.async { continuation.resume(returning: Value.make(1)) }
        }
      }
    }
    return [
      harness.measure(
        "C11 ready" + suffix,
        "f(n) = step().flatMap { f(n - 1) }, ready steps, per step",
        parts: readySteps,
        ours: readyRecursion(readySteps),
        budget: [.timesBaseline(25), .peakGrowth(4 << 20)]
      ),
      harness.measure(
        "C11 async" + suffix,
        "f(n) = step().flatMap { f(n - 1) }, steps resolved from a queue, per step",
        parts: queuedSteps,
        ours: queuedRecursion(queuedSteps),
        floors: [Contender("native loop of queue-resumed continuations", native)],
        budget: [.timesFloor(1.15), .peakGrowth(4 << 20)]
      ),
    ].map { harness.withPeakMemory($0) }
  }
}
