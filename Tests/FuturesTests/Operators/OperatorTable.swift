import Futures
import FuturesTesting
import TestSupport
import Testing

/// A future without its types.
struct AnyFuture: Sendable {
  let current: @Sendable () -> FutureProgress
  let listen:
    @Sendable (_ context: ExecutionContext, _ callback: @escaping @Sendable (FutureProgress) -> Void) -> Registration
  let whenResolved: @Sendable (_ callback: @escaping @Sendable () -> Void) -> Registration
  let isResolved: @Sendable () -> Bool
  /// Whether the future has failed with a `CancellationError`.
  let isCancelled: @Sendable () -> Bool
  let cancel: @Sendable () -> Void

  init<Value, Failure>(_ future: Future<Value, Failure>) {
    current = { future.currentProgress }
    listen = { context, callback in future.whenProgressed(on: context, callback) }
    whenResolved = { callback in future.whenResolved(on: .immediate) { _ in callback() } }
    isResolved = { future.isResolved }
    isCancelled = { if case .failure(let error)? = future.peek() { error is CancellationError } else { false } }
    cancel = { future.cancel() }
  }

  /// Adds a listener, and returns its log.
  func log() -> ProgressLog {
    let log = ProgressLog()
    _ = listen(.immediate) { log.note($0) }
    return log
  }
}

/// An object that the closures of an operator capture; it holds the operator's future, which makes a cycle.
final class Captured: Sendable {
  private let made = Locked<(@Sendable () -> Void)?>(nil)

  let uses = Recorder<Int>()

  func touch() { uses.record(1) }

  func use<Value>(_ value: Value = 0) -> Value {
    touch()
    return value
  }

  func keep(_ leave: @escaping @Sendable () -> Void) { made.withLock { $0 = leave } }

  func leave() { made.withLock { $0 }?() }
}

/// The context and the token source of an operator, and the objects that its closures capture.
struct Surroundings: Sendable {
  var manual = ManualContext()
  let tokens = CancellationTokenSource()
  let captured = Captured()

  var context: ExecutionContext { manual.context }

  /// Runs the queued work and all timers: work that holds its own context would keep it for ever.
  func end() {
    manual.runAll()
    for _ in 0..<3 { manual.advance(by: .seconds(100)) }
  }
}

/// An operator of a future, for the tests of all operators; the closures of the operator use `Surroundings.captured`.
struct Operator: Sendable, CustomTestStringConvertible {
  typealias Source = Future<Int, any Error>

  struct Traits: OptionSet {
    let rawValue: Int

    /// Passes on the progress of its source, with the units.
    static let progress = Traits(rawValue: 1)
    /// Succeeds although its source fails.
    static let recovers = Traits(rawValue: 2)
    /// Its failure type cannot represent cancellation.
    static let typed = Traits(rawValue: 4)
    /// A cancellation does not pass through the operator.
    static let shields = Traits(rawValue: 8)
    /// The operator returns its source.
    static let same = Traits(rawValue: 16)
    /// The result has no source, or more than one stage, so that cancelling it does not only leave the source.
    static let detached = Traits(rawValue: 32)
    /// Uses a queue or a timer that allocates memory of its own.
    static let usesDispatch = Traits(rawValue: 64)
    /// Waits in its context, or for a timer, when its source has succeeded.
    static let queues = Traits(rawValue: 128)
    /// Keeps its slot until the source ends, so that a cancellation leaves an object with the source.
    static let keepsSlot = Traits(rawValue: 256)
  }

  let testDescription: String
  let traits: Traits
  let derive: @Sendable (_ source: Source, _ it: Surroundings) -> AnyFuture

  private init<Value, Failure>(
    _ name: String,
    _ traits: Traits = .progress,
    _ derive: @escaping @Sendable (_ source: Source, _ it: Surroundings) -> Future<Value, Failure>
  ) {
    (testDescription, self.traits) = (name, traits)
    self.derive = { AnyFuture(derive($0, $1)) }
  }

  static let all = transforming + failures + views + timing + followers + gathering + shared + waiting
  static let passingProgressOn = all.filter { $0.traits.contains(.progress) }
  static let leavingSource = all.filter { !$0.traits.contains(.detached) }

  static let queueing = all.filter { $0.traits.contains(.queues) }

  private static let transforming = [
    Operator("map") { source, it in source.map { it.captured.use($0) } },
    Operator("map that throws") { source, it in source.map { value throws in it.captured.use(value) } },
    Operator("map on a context", [.progress, .queues]) { source, it in
      source.map(on: it.context) { it.captured.use($0) }
    },
    Operator("map on a queue", .usesDispatch) { source, it in source.map(on: .global()) { it.captured.use($0) } },
    Operator("flatMap to a resolved future", []) { source, it in source.flatMap { .succeeded(it.captured.use($0)) } },
    Operator("flatMap to a pending future", .queues) { source, it in
      source.flatMap { value in Source(on: it.context) { it.captured.use(value) } }
    },
    Operator("flatMap, all for the source") { source, _ in source.flatMap(progressShare: 1) { .succeeded($0) } },
    Operator("flatMap, all for the second") { source, _ in
      Source.succeeded(1).flatMap(progressShare: 0) { _ in source }
    },
    Operator("ignoreValue") { source, _ in source.ignoreValue() },
    Operator("tap") { source, it in source.tap(on: .immediate) { _ in it.captured.touch() } },
    Operator("tap on a context", [.progress, .queues]) { source, it in
      source.tap(on: it.context) { _ in it.captured.touch() }
    },
    Operator("receive", [.progress, .queues]) { source, it in source.receive(on: it.context) },
    Operator("init on a context", [.detached, .queues]) { _, it in Source(on: it.context) { it.captured.use() } },
    Operator("init on a context, flattening", [.detached, .queues]) { _, it in
      Source(on: it.context, flattening: { Source.succeeded(it.captured.use()) })
    },
    Operator("init, flattening") { source, it in
      Source(on: .immediate, flattening: { it.captured.use(source) })
    },
    Operator("a chain", [.progress, .recovers, .detached]) { source, it in
      source.map { $0 }.timeout(after: .seconds(100), on: it.context).recover { _ in 1 }
        .setFailureType(to: TestError.self).ignoreValue().materialize()
    },
  ]

  private static let failures = [
    Operator("mapError") { source, it in source.mapError { it.captured.use($0) as any Error } },
    Operator("flatMapError") { source, it in source.flatMapError { Source.failed(it.captured.use($0)) } },
    Operator("flatMapError to a value", .recovers) { source, it in
      source.flatMapError { _ in Source.succeeded(it.captured.use()) }
    },
    Operator("recover", [.progress, .recovers, .typed]) { source, it in source.recover { _ in it.captured.use() } },
    Operator("materialize", [.progress, .recovers, .typed]) { source, _ in source.materialize() },
    Operator("eraseFailure") { source, _ in source.mapError { $0 as any Error }.eraseFailure() },
    Operator("setFailureType", [.progress, .recovers, .typed]) { source, _ in
      source.recover { _ in 1 }.setFailureType(to: TestError.self)
    },
  ]

  private static let views = [
    Operator("cancelled(by:)") { source, it in source.cancelled(by: it.tokens.token) },
    Operator("shielded", [.progress, .shields]) { source, _ in source.shielded },
    Operator("shielded, mapped", [.progress, .shields]) { source, _ in source.shielded.map { $0 } },
    Operator("a future of a future", [.progress, .same]) { source, _ in Source(source) },
  ]

  private static let timing = [
    Operator("delay", [.progress, .queues]) { source, it in source.delay(by: .seconds(1), on: it.context) },
    Operator("no delay") { source, it in source.delay(by: .zero, on: it.context) },
    Operator("after", []) { source, it in
      source.flatMap { value in
        Future<Void, Never>.after(.seconds(10), on: it.context).map { it.captured.use(value) }.setFailureType()
      }
    },
    Operator("timeout") { source, it in source.timeout(after: .seconds(100), on: it.context) },
    Operator("timeout, fallback") { source, it in
      source.timeout(after: .seconds(100), on: it.context, fallback: it.captured.use(1))
    },
    Operator("timeout on Dispatch", .usesDispatch) { source, _ in source.timeout(after: .seconds(1_000)) },
    Operator("retry") { source, it in
      Source.retry(attempts: 3, delay: .constant(.seconds(1)), on: it.context) { it.captured.use(source) }
    },
    Operator("retry by the error") { source, it in
      Source.retry(attempts: 3, within: .seconds(1), on: it.context, delay: { _, _ in .seconds(9) }) {
        it.captured.use(source)
      }
    },
  ]

  private static let followers = [
    Operator("follow") { source, it in
      Source { promise in
        promise.onCancel { it.captured.touch() }
        promise.follow(source)
      }
    },
    Operator("follow, without another reference") { source, _ in Source { $0.follow(source.map { $0 }) } },
    Operator("forward") { source, _ in
      let promise = Promise<Int, any Error>()
      source.forward(to: promise)
      return promise.future.map { $0 }
    },
    Operator("onCancel", .detached) { source, it in
      Source { promise in
        promise.onCancel { it.captured.touch() }
        source.whenResolved(on: .immediate) { promise.resolve($0) }
      }
    },
    Operator("lazy") { source, it in Source.lazy { $0.follow(it.captured.use(source)) }.map { $0 } },
  ]

  private static let gathering = [
    Operator("zip", []) { source, _ in Future.zip(source, source.map { "\($0)" }) },
    Operator("all", []) { source, _ in Source.all([source, .succeeded(1), source]) },
    Operator("allSettled", [.recovers, .typed]) { source, _ in Source.allSettled([source, .succeeded(1)]) },
    Operator("allOrErrors", .typed) { source, _ in Source.allOrErrors([source, .succeeded(1)]) },
    Operator("allOptional", [.recovers, .typed]) { source, _ in Source.allOptional([source, .succeeded(1)]) },
    Operator("allSucceeding", [.recovers, .typed]) { source, _ in Source.allSucceeding([source, .succeeded(1)]) },
    Operator("race", []) { source, _ in Source.race([source, source.map { $0 }]) },
    Operator("firstSuccess", .typed) { source, _ in Source.firstSuccess([source, source.map { $0 }]) },
    Operator("reduce", []) { source, it in Source.reduce(0, [source, .succeeded(1)]) { it.captured.use($0 + $1) } },
    Operator("serial", []) { source, it in
      Source.serial(0..<3) { $0 == 0 ? source : .succeeded(it.captured.use()) }
    },
    Operator("concurrent", []) { source, it in
      Source.concurrent(0..<3, limit: 2) { $0 == 0 ? source : .succeeded(it.captured.use()) }
    },
    Operator("concurrentSettled", [.recovers, .typed]) { source, it in
      Source.concurrentSettled(0..<3, limit: 2) { $0 == 0 ? source : .succeeded(it.captured.use()) }
    },
  ]

  /// Work that an object shares among its callers; the object lives until the future of the caller has ended.
  static let shared = [
    Operator("a cache", []) { source, it in
      let cache = FutureCache<Int, Int, any Error>()
      return cache.future(for: 1) { it.captured.use(source) }.keeping(cache)
    },
    Operator("the second caller of a cache", .detached) { source, it in
      let cache = FutureCache<Int, Int, any Error>()
      _ = cache.future(for: 1) { it.captured.use(source) }
      return cache.future(for: 1) { .never }.keeping(cache)
    },
    Operator("shared work", []) { source, it in
      let pending = PendingPromises<Int, Int, any Error>()
      return pending.future(sharing: 1) { it.captured.use(source) }.keeping(pending)
    },
    Operator("a limit", [.progress, .keepsSlot]) { source, it in ConcurrencyLimit(1).run { it.captured.use(source) } },
  ]

  /// Work that waits for other work, or for an answer: the source.
  private static let waiting = [
    Operator("a promise by key", .detached) { source, it in
      let pending = PendingPromises<Int, Int, any Error> { _ in
        it.captured.touch()
        source.cancel()
      }
      source.whenResolved(on: .immediate) { pending.resolve(1, with: $0) }
      return pending.future(for: 1)
    },
    Operator("a limit without a free slot", .detached) { source, it in
      let limit = ConcurrencyLimit(1)
      _ = limit.run { source }
      return limit.run { Source.succeeded(it.captured.use()) }
    },
  ]
}

extension Future {
  /// This future, which keeps `owner` until it ends.
  fileprivate func keeping(_ owner: some Sendable & AnyObject) -> Future {
    whenResolved(on: .immediate) { _ in withExtendedLifetime(owner) {} }
    return self
  }
}
