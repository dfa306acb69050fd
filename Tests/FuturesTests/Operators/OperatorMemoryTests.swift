import AllocationCounter
import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

/// The future or registration that an operator made, and a closure that cancels or removes it.
struct Made: Sendable {
  private let held: any Sendable
  let leave: @Sendable () -> Void

  static func future<Value, Failure>(_ future: Future<Value, Failure>) -> Made {
    Made(held: future) { future.cancel() }
  }

  static func registration(_ registration: Registration) -> Made {
    Made(held: registration) { registration.remove() }
  }

  private init(held: any Sendable, leave: @escaping @Sendable () -> Void) {
    self.held = held
    self.leave = leave
  }
}

/// An object that the closures of an operator capture; it holds the operator's future, which makes a cycle.
final class Captured: Sendable {
  private let made = Locked<Made?>(nil)

  func use() {}

  func keep(_ made: Made) { self.made.withLock { $0 = made } }

  func leave() { made.withLock { $0 }?.leave() }
}

/// An operation of a future; all its closures capture an object.
struct Operator: Sendable, CustomTestStringConvertible {
  typealias Source = Future<Int, any Error>

  let testDescription: String
  let apply: @Sendable (_ source: Source, _ captured: Captured, _ context: ExecutionContext) -> Made

  private init(_ name: String, _ apply: @escaping @Sendable (Source, Captured, ExecutionContext) -> Made) {
    testDescription = name
    self.apply = apply
  }

  /// Makes an operation whose result is a future; a callback of that future captures the object, too.
  private static func deriving<Value, Failure>(
    _ name: String,
    _ derive: @escaping @Sendable (Source, Captured, ExecutionContext) -> Future<Value, Failure>
  ) -> Operator {
    Operator(name) { source, captured, context in
      let derived = derive(source, captured, context)
      derived.whenResolved(on: .immediate) { _ in captured.use() }
      return .future(derived)
    }
  }

  private static func using(_ captured: Captured, _ value: Int = 0) -> Int {
    captured.use()
    return value
  }

  private static func ready(_ captured: Captured) -> Source { .succeeded(using(captured)) }

  static let all: [Operator] = observing + transforming + gathering + timing + starting

  private static let observing = [
    Operator("whenResolved") { source, captured, _ in
      .registration(source.whenResolved(on: .immediate) { _ in captured.use() })
    },
    Operator("whenResolved on a context") { source, captured, context in
      .registration(source.whenResolved(on: context) { _ in captured.use() })
    },
    Operator("whenSucceeded") { source, captured, context in
      .registration(source.whenSucceeded(on: context) { _ in captured.use() })
    },
    Operator("whenFailed") { source, captured, context in
      .registration(source.whenFailed(on: context) { _ in captured.use() })
    },
    Operator("whenProgressed") { source, captured, _ in
      .registration(source.whenProgressed(on: .immediate) { _ in captured.use() })
    },
    Operator("a handler of a token") { source, captured, _ in
      let token = CancellationTokenSource()
      source.whenResolved(on: .immediate) { _ in token.cancel() }
      return .registration(token.token.register { captured.use() })
    },
  ]

  private static let transforming = [
    deriving("map") { source, captured, _ in source.map { using(captured, $0) } },
    deriving("map on a context") { source, captured, context in source.map(on: context) { using(captured, $0) } },
    deriving("flatMap to a resolved future") { source, captured, _ in source.flatMap { _ in ready(captured) } },
    deriving("flatMap to a pending future") { source, captured, context in
      source.flatMap { _ in Source(on: context) { using(captured) } }
    },
    deriving("mapError") { source, captured, _ in
      source.mapError { TestError(using(captured, ($0 as? TestError)?.number ?? 0)) }
    },
    deriving("flatMapError") { source, captured, _ in source.flatMapError { _ in ready(captured) } },
    deriving("recover") { source, captured, _ in source.recover { _ in using(captured) } },
    deriving("tap") { source, captured, _ in source.tap(on: .immediate) { _ in captured.use() } },
    deriving("tap on a context") { source, captured, context in source.tap(on: context) { _ in captured.use() } },
    deriving("materialize") { source, _, _ in source.materialize() },
    deriving("ignoreValue") { source, _, _ in source.ignoreValue() },
    deriving("receive") { source, _, context in source.receive(on: context) },
    deriving("shielded") { source, _, _ in source.shielded.map { $0 } },
    deriving("follow") { source, captured, _ in
      let promise = Promise<Int, any Error>()
      promise.onCancel { captured.use() }
      promise.follow(source)
      return promise.future
    },
    deriving("forward") { source, _, _ in
      let promise = Promise<Int, any Error>()
      source.forward(to: promise)
      return promise.future
    },
    deriving("cancelled(by:)") { source, captured, _ in
      let token = CancellationTokenSource()
      token.token.register { captured.use() }
      return source.cancelled(by: token.token)
    },
  ]

  private static let gathering = [
    deriving("all") { source, _, _ in Source.all([source, .succeeded(1), source]) },
    deriving("allSettled") { source, _, _ in Source.allSettled([source, .succeeded(1)]) },
    deriving("allOrErrors") { source, _, _ in Source.allOrErrors([source, .succeeded(1)]) },
    deriving("allOptional") { source, _, _ in Source.allOptional([source, .succeeded(1)]) },
    deriving("allSucceeding") { source, _, _ in Source.allSucceeding([source, .succeeded(1)]) },
    deriving("race") { source, _, _ in .race([source, source.map { $0 }]) },
    deriving("firstSuccess") { source, _, _ in Source.firstSuccess([source, source.map { $0 }]) },
    deriving("reduce") { source, captured, _ in Source.reduce(0, [source, .succeeded(1)]) { using(captured, $0 + $1) }
    },
    deriving("zip") { source, _, _ in Future.zip(source, source.map { "\($0)" }) },
    deriving("serial") { source, captured, _ in Source.serial(0..<3) { $0 == 0 ? source : ready(captured) } },
    deriving("concurrent") { source, captured, _ in
      Source.concurrent(0..<3, limit: 2) { $0 == 0 ? source : ready(captured) }
    },
  ]

  private static let timing = [
    deriving("timeout") { source, _, context in source.timeout(after: .seconds(10), on: context) },
    deriving("timeout with a fallback") { source, _, context in
      source.timeout(after: .seconds(10), on: context, fallback: 0)
    },
    deriving("delay") { source, _, context in source.delay(by: .seconds(10), on: context) },
    deriving("after") { source, captured, context in
      source.flatMap { _ in
        Future<Void, Never>.after(.seconds(10), on: context).map { using(captured) }.setFailureType()
      }
    },
    deriving("retry") { source, captured, context in
      Source.retry(attempts: 3, delay: .constant(.seconds(1)), on: context) {
        captured.use()
        return source
      }
    },
  ]

  private static let starting = [
    deriving("Future(on:)") { _, captured, context in Source(on: context) { using(captured) } },
    deriving("lazy") { source, captured, _ in
      Source.lazy { promise in
        captured.use()
        promise.follow(source)
      }
    },
    deriving("onCancel") { source, captured, _ in
      Source { promise in
        promise.onCancel { captured.use() }
        source.whenResolved(on: .immediate) { promise.resolve($0) }
      }
    },
  ]
}

@Suite("Memory after each operation")
struct OperatorMemoryTests {
  /// The way in which the source ends, or `leave`: the operator's future is cancelled or its callback removed.
  enum Ending: CaseIterable, Sendable { case succeed, fail, cancelSource, dropPromise, leave }

  static let count = TestTier.choose(standard: 1_000, thorough: 1_000_000)

  /// Applies `operation` to a pending future, and performs `ending`.
  ///
  /// Calls `isOver` while the promise exists, when nothing but the operation can hold the captured object.
  private static func run(
    _ operation: Operator,
    _ ending: Ending,
    _ manual: ManualContext,
    isOver: (_ isAlive: () -> Bool) -> Void
  ) {
    var promise: Promise<Int, any Error>? = Promise()
    weak var weakly: Captured?
    do {
      let captured = Captured()
      weakly = captured
      let source = promise.unsafelyUnwrapped.future
      captured.keep(operation.apply(source, captured, manual.context))
      switch ending {
      case .succeed: promise?.succeed(1)
      case .fail: promise?.fail(TestError())
      case .cancelSource: source.cancel()
      case .dropPromise: promise = nil
      case .leave: captured.leave()
      }
      manual.runAll()
      for _ in 0..<3 { manual.advance(by: .seconds(10)) }
    }
    isOver { weakly != nil }
    promise = nil
  }

  @Test(
    "R5, R7, R17: an ended or cancelled operation releases its closures, also in a cycle with its own future",
    arguments: Operator.all
  )
  func endedOperationReleasesItsCycle(operation: Operator) {
    for ending in Ending.allCases {
      Self.run(operation, ending, ManualContext()) { isAlive in
        #expect(!isAlive(), "\(operation.testDescription), \(ending)")
      }
    }
  }

  @Test(
    "R5, R7: many runs of each operation, with every ending, leave no bytes behind",
    .enabled(if: AllocationCounts.areSupported),
    arguments: Operator.all
  )
  func bytesLeft(operation: Operator) {
    onThread {
      let manual = ManualContext()
      let left = leastBytesLeft(count: Self.count) { count in
        for number in 0..<count {
          Self.run(operation, Ending.allCases[number % Ending.allCases.count], manual) { _ in }
        }
      }
      #expect(left <= 0)
    }
  }
}
