import Foundation
import Futures

extension Rows {
  private static var byHand: String { "lock and slot by hand, \(handDepth) stages at a time, because it recurses" }

  /// C10: makes a chain of 1,000,000 `map` stages, and resolves it or releases it pending.
  ///
  /// The time includes making the chain. Both rows run on a thread with a stack of 512 KiB. The released chain has the failure
  /// type `Never`, which cannot represent a `BrokenPromise`. So the chain releases its closures without running them.
  @Sendable
  static func deepChain(_ harness: Harness) -> [Row] {
    let stages = harness.isQuick ? 100_000 : 1_000_000
    return onSmallStack {
      [
        harness.measure(
          "C10 resolve",
          "make and resolve a chain of \(stages) map stages, per stage",
          parts: stages,
          ours: resolvedChain(stages),
          floor: Contender(byHand, resolvedChainsByHand(stages)),
          budget: [.timesFloor(0.46), .allocations(2), .bytes(144), .bytesLeft(0)]
        ),
        harness.measure(
          "C10 release",
          "make a chain of \(stages) map stages and release it pending, per stage",
          parts: stages,
          ours: releasedChain(stages),
          floor: Contender(byHand, releasedChainsByHand(stages)),
          budget: [.timesFloor(0.51), .allocations(2), .bytes(144), .bytesLeft(0)]
        ),
      ]
    }
  }

  /// C11: `f(n) = step().flatMap { f(n - 1) }`, with resolved steps, and with steps that a queue resolves.
  ///
  /// The floor of the first row is the recursion by hand, 100 deep. The floor of the second row is an async/await loop
  /// with a continuation for each step, which the same queue resumes. On two idle cores the library takes 0.09 of that floor, and
  /// 0.2 beside busy loops. The limit is the higher one.
  @Sendable
  static func recursion(_ harness: Harness) -> [Row] {
    let readySteps = harness.isQuick ? 10_000 : 1_000_000
    let queuedSteps = 1_000
    let native = Body.asynchronous { repetitions in
      for _ in 0..<repetitions * queuedSteps {
        _ = await withUnsafeContinuation { continuation in
          deepQueue.async { continuation.resume(returning: 1) }
        }
      }
    }
    return [
      harness.measure(
        "C11 ready",
        "f(n) = step().flatMap { f(n - 1) }, ready steps, per step",
        parts: readySteps,
        ours: readyRecursion(readySteps),
        floor: Contender(byHand, readyRecursionsByHand(readySteps)),
        budget: [.timesFloor(0.41), .allocations(1.2)]
      ),
      harness.measure(
        "C11 async",
        "f(n) = step().flatMap { f(n - 1) }, steps resolved from a queue, per step",
        parts: queuedSteps,
        ours: queuedRecursion(queuedSteps),
        floor: Contender("native loop of queue-resumed continuations", native),
        budget: [.timesFloor(0.2), .allocations(5)]
      ),
    ]
  }
}

/// Runs a function on a thread with a stack of 512 KiB, which a recursion over a deep chain would overflow.
private func onSmallStack<Output: Sendable>(_ work: @escaping @Sendable () -> Output) -> Output {
  let output = Promise<Output, Never>()
  let thread = Thread { output.succeed(work()) }
  thread.stackSize = 512 * 1024
  thread.start()
  return output.future.wait().get()
}
