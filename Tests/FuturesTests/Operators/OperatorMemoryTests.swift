import AllocationCounter
import Futures
import FuturesTesting
import TestSupport
import Testing

/// An operation of a future; all its closures capture an object.
struct Operation: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Applies the operation, and returns a closure that cancels its future or removes its callback.
  let apply: @Sendable (_ source: Operator.Source, _ it: Surroundings) -> @Sendable () -> Void

  static let all = operators(Operator.all) + observations + [handler]

  /// The operations that leave nothing with a pending source when they are cancelled or removed.
  static let leaving =
    operators(Operator.leavingSource.filter { $0.traits.isDisjoint(with: [.same, .typed, .keepsSlot]) }) + observations

  // A queue and a timer of Dispatch release their work on another thread.
  private static func operators(_ operators: [Operator]) -> [Operation] {
    operators.filter { !$0.traits.contains(.usesDispatch) }.map { operation in
      Operation(testDescription: operation.testDescription) { source, it in
        let derived = operation.derive(source, it)
        _ = derived.whenResolved { it.captured.touch() }
        _ = derived.listen(.immediate) { _ in it.captured.touch() }
        return derived.cancel
      }
    }
  }

  static let observations = [
    observing("whenResolved") { source, it in source.whenResolved(on: .immediate) { _ in it.captured.touch() } },
    observing("whenResolved on a context") { source, it in
      source.whenResolved(on: it.context) { _ in it.captured.touch() }
    },
    observing("whenSucceeded") { source, it in source.whenSucceeded(on: it.context) { _ in it.captured.touch() } },
    observing("whenFailed") { source, it in source.whenFailed(on: it.context) { _ in it.captured.touch() } },
    observing("whenProgressed") { source, it in source.whenProgressed(on: .immediate) { _ in it.captured.touch() } },
    observing("whenProgressed on a context") { source, it in
      source.whenProgressed(on: it.context) { _ in it.captured.touch() }
    },
  ]

  private static let handler = observing("a handler of a token") { source, it in
    // Captures the tokens alone: `it` owns them, and would make a cycle.
    source.whenResolved(on: .immediate) { [tokens = it.tokens] _ in tokens.cancel() }
    return it.tokens.token.register { [captured = it.captured] in captured.touch() }
  }

  private static func observing(
    _ name: String,
    _ observe: @escaping @Sendable (Operator.Source, Surroundings) -> Registration
  ) -> Operation {
    Operation(testDescription: name) { source, it in
      let registration = observe(source, it)
      return { registration.remove() }
    }
  }
}

/// Each operation has a callback and a listener to the progress, which gets a report before the end.
struct OperatorMemoryTests {
  /// The way in which the source ends, or `leave`: the operator's future is cancelled or its callback removed.
  enum Ending: CaseIterable, Sendable { case succeed, fail, cancelSource, dropPromise, leave }

  // For each of about a hundred operations, so that all together take some two million rounds.
  static let count = TestTier.choose(standard: 1_000, thorough: 20_000)

  /// Applies `operation` to a pending future, and performs `ending`.
  ///
  /// Calls `isOver` while the promise exists, when nothing but the operation can hold the captured object.
  private static func run(_ operation: Operation, _ ending: Ending, isOver: (_ isAlive: () -> Bool) -> Void) {
    var promise: Promise<Int, any Error>? = Promise()
    weak var captured: Captured?
    do {
      let it = Surroundings()
      captured = it.captured
      let source = promise.unsafelyUnwrapped.future
      it.captured.keep(operation.apply(source, it))
      promise?.progress.report(fraction: 0.5)
      switch ending {
      case .succeed: promise?.succeed(1)
      case .fail: promise?.fail(TestError())
      case .cancelSource: source.cancel()
      case .dropPromise: promise = nil
      case .leave: it.captured.leave()
      }
      it.end()
    }
    isOver { captured != nil }
    promise = nil
  }

  @Test(
    "R5, R7, R17: an ended or cancelled operation releases its closures, also in a cycle with its own future",
    arguments: Operation.all
  )
  func endedOperationReleasesItsCycle(operation: Operation) {
    for ending in Ending.allCases {
      Self.run(operation, ending) { isAlive in #expect(!isAlive(), "\(operation.testDescription), \(ending)") }
    }
  }

  @Test(
    "R5, R7: many runs of each operation, with every ending, leave no bytes behind",
    .enabled(if: AllocationCounts.areSupported),
    arguments: Operation.all
  )
  func bytesLeft(operation: Operation) {
    // `#expect` runs on the test's own thread, so that an issue names the test's argument.
    let left = Locked<Int64>(0)
    onThread {
      let bytes = leastBytesLeft(count: Self.count) { count in
        for number in 0..<count {
          Self.run(operation, Ending.allCases[number % Ending.allCases.count]) { _ in }
        }
      }
      left.withLock { $0 = bytes }
    }
    #expect(left.withLock { $0 } <= 0)
  }
}
