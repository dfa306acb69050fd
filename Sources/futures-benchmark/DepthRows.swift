import Dispatch
import Foundation
import Futures
import FuturesAsync

/// C10: a chain of 1,000,000 `map` stages, made and then resolved, or made and then released unresolved.
///
/// Making the chain is in the time of both. All of it runs on a thread with a stack of 512 KiB. The chain that is
/// released can't fail, so it can't hold a `BrokenPromise`, and its closures are released unrun.
@Sendable
func deepChain(_ harness: Harness) -> [Row] {
  let stages = harness.isQuick ? 100_000 : 1_000_000
  let resolve = Body.synchronous { repetitions in
    for index in 0..<repetitions {
      let promise = makePromise()
      var future = promise.future
      for _ in 0..<stages { future = future.map { $0 &+ index } }
      promise.succeed(index)
      precondition(future.isResolved, "A deep chain did not resolve.")
    }
  }
  let release = Body.synchronous { repetitions in
    for index in 0..<repetitions {
      let promise = Promise<Int, Never>()
      var future = promise.future
      for _ in 0..<stages { future = future.map { $0 &+ index } }
    }
  }
  let budget: [Limit] = [.timesBaseline(12), .bytesLeft(0)]
  return onSmallStack {
    [
      harness.measure(
        "C10 resolve",
        "make and resolve a chain of \(stages) map stages, per stage",
        parts: stages,
        ours: resolve,
        budget: budget
      ),
      harness.measure(
        "C10 release",
        "make a chain of \(stages) map stages and release it unresolved, per stage",
        parts: stages,
        ours: release,
        budget: budget
      ),
    ]
  }
}

/// Runs a function on a thread whose stack has 512 KiB.
private func onSmallStack<Output: Sendable>(_ work: @escaping @Sendable () -> Output) -> Output {
  let output = Delivery<Output>()
  let thread = Thread { output.bring(work()) }
  thread.stackSize = 512 * 1024
  thread.start()
  return output.wait()
}

/// C11: `f(n) = step().flatMap { f(n - 1) }`, with steps that are ready and steps that a queue resolves.
///
/// The floor of the asynchronous ones is the loop that async/await would have here: a continuation per step, resumed
/// from the same queue. The peak memory is read from child processes.
@Sendable
func recursion(_ harness: Harness) -> [Row] {
  let readySteps = harness.isQuick ? 10_000 : 1_000_000
  let ready = Body.synchronous { repetitions in
    for _ in 0..<repetitions {
      precondition(recurse(readySteps, step: readyStep).isResolved, "A recursion of ready steps did not complete.")
    }
  }
  let queuedSteps = 1_000
  let queued = Body.asynchronous { repetitions in
    for _ in 0..<repetitions {
      guard case .success = await recurse(queuedSteps, step: queuedStep).result else {
        preconditionFailure("A recursion of asynchronous steps failed.")
      }
    }
  }
  let native = Body.asynchronous { repetitions in
    for _ in 0..<repetitions * queuedSteps {
      _ = await withUnsafeContinuation { continuation in queue.async { continuation.resume(returning: 1) } }
    }
  }
  var rows = [
    harness.measure(
      "C11 ready",
      "f(n) = step().flatMap { f(n - 1) }, ready steps, per step",
      parts: readySteps,
      ours: ready,
      budget: [.timesBaseline(25), .peakGrowth(4 << 20)]
    ),
    harness.measure(
      "C11 async",
      "f(n) = step().flatMap { f(n - 1) }, steps resolved from a queue, per step",
      parts: queuedSteps,
      ours: queued,
      floors: [Contender("native loop of queue-resumed continuations", native)],
      budget: [.timesFloor(1.15), .peakGrowth(4 << 20)]
    ),
  ]
  for (index, steps) in [PeakMemory.Steps.ready, .queued].enumerated() {
    rows[index].peakGrowth = PeakMemory.growth(steps, isQuick: harness.isQuick)
  }
  return rows
}

private let queue = DispatchQueue(label: "benchmark")

/// The recursion of C11.
///
/// A closure's context holds the number and the step, as a program's would.
func recurse(
  _ count: Int,
  step: @escaping @Sendable () -> Future<Int, any Error>
) -> Future<Int, any Error> {
  count == 0 ? .succeeded(0) : step().flatMap { _ in recurse(count - 1, step: step) }
}

/// A step whose result is there at once.
@Sendable @inline(never)
func readyStep() -> Future<Int, any Error> {
  .succeeded(1)
}

/// A step whose result comes from a queue.
@Sendable @inline(never)
func queuedStep() -> Future<Int, any Error> {
  let promise = makePromise()
  queue.async { promise.succeed(1) }
  return promise.future
}
