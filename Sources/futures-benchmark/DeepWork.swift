import Dispatch
import Futures
import FuturesAsync

// The work of C10 and C11, and of their floors by hand. The numbers of stages and steps are those of one repetition.

/// The queue that resolves the pending steps of C11.
let deepQueue = DispatchQueue(label: "benchmark")

extension Rows {
  static func resolvedChain(_ stages: Int) -> Body {
    .synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = makePromise()
        var future = promise.future
        for _ in 0..<stages { future = future.map { $0 &+ index } }
        promise.succeed(index)
        precondition(future.isResolved, "A deep chain did not resolve.")
      }
    }
  }

  static func releasedChain(_ stages: Int) -> Body {
    .synchronous { repetitions in
      for index in 0..<repetitions {
        let promise = Promise<Value, Never>()  // `Never` holds no `BrokenPromise`: dropped, it gives no result
        var future = promise.future
        for _ in 0..<stages { future = future.map { $0 &+ index } }
        // The pending chain is released here, and runs no closure.
      }
    }
  }

  static func readyRecursion(_ steps: Int) -> Body {
    .synchronous { repetitions in
      for _ in 0..<repetitions {
        precondition(recurse(steps, step: readyStep).isResolved, "A recursion of ready steps did not complete.")
      }
    }
  }

  static func queuedRecursion(_ steps: Int) -> Body {
    .asynchronous { repetitions in
      for _ in 0..<repetitions {
        guard case .success = await recurse(steps, step: queuedStep).result else {
          preconditionFailure("A recursion of asynchronous steps failed.")
        }
      }
    }
  }

  // MARK: - The floors. A chain by hand recurses, so each chain is short.

  /// The number of stages of a chain by hand.
  static var handDepth: Int { 100 }

  static func resolvedChainsByHand(_ stages: Int) -> Body {
    .synchronous { repetitions in
      for index in 0..<repetitions {
        for promise in chainsByHand(stages, index) { promise.succeed(index) }
      }
    }
  }

  static func releasedChainsByHand(_ stages: Int) -> Body {
    .synchronous { repetitions in
      for index in 0..<repetitions { _ = chainsByHand(stages, index) }
    }
  }

  /// Makes many short chains with the stages of one deep chain in all, so that they take as much memory.
  private static func chainsByHand(_ stages: Int, _ index: Int) -> [HandPromise] {
    (0..<stages / handDepth).map { _ in
      let promise = makeHandPromise()
      var future = promise.future
      for _ in 0..<handDepth { future = future.map { $0 &+ index } }
      return promise
    }
  }

  static func readyRecursionsByHand(_ steps: Int) -> Body {
    .synchronous { repetitions in  // many short recursions, because a deep one by hand overflows the stack
      for _ in 0..<repetitions * steps / handDepth { recurseByHand(handDepth) { HandFuture(succeeded: 1) } }
    }
  }

  @discardableResult
  private static func recurseByHand(_ count: Int, step: @escaping @Sendable () -> HandFuture) -> HandFuture {
    count == 0 ? HandFuture(succeeded: 0) : step().flatMap { _ in recurseByHand(count - 1, step: step) }
  }

  /// The recursion of C11, `f(n) = step().flatMap { f(n - 1) }`.
  ///
  /// Each closure captures the number and the step, as in a program, so the allocation of its captures counts.
  private static func recurse(
    _ count: Int,
    step: @escaping @Sendable () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    count == 0 ? .succeeded(0) : step().flatMap { _ in recurse(count - 1, step: step) }
  }

  @Sendable @inline(never)
  private static func readyStep() -> Future<Value, Failure> {
    .succeeded(1)
  }

  @Sendable @inline(never)
  private static func queuedStep() -> Future<Value, Failure> {
    let promise = makePromise()
    deepQueue.async { promise.succeed(1) }
    return promise.future
  }
}
