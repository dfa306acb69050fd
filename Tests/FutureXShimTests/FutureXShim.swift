// Lets source for FutureX 1.x compile against swift-futures. Copy it into your module, import Futures instead of Future,
// replace each use by the declaration that its comment names, and delete the file at the end.
//
// 84 of FutureX's own 86 tests pass with it unchanged. Values must be `Sendable`. Closures of transforms are `@Sendable`, and
// closures of `on` are `@MainActor`: language mode 5 warns where old closures do not fit, and mode 6 rejects them.
//
// Not included, with the replacement:
// - `Scheduler.default`, which can be set: `observe(on:)`, or `on:` of each callback. Two tests need it.
// - `observe(on:)` with another operator than `map` and `tryMap`: `on:` of that operator.
// - a scheduler that is a closure (`ScheduleWork`): `ExecutionContext { work in … }`.
// - `shouldRetry:` of `retry`: `while:`.
// - `DispatchTimeInterval`: `Duration`.
// - the API of versions before 1.0, such as `on(scheduler:)` and `Future { succeed, fail in }`.
//
// Different: a dropped promise fails its future if the failure type is `any Error`; otherwise a debug build traps if a callback
// waits. A token runs its handlers on the thread of `cancel()`. `on` inside a callback can run after that callback.
import Dispatch
import Futures

nonisolated extension Future {
  /// Ours: ``Future``.
  typealias Of<T> = Future<T, Failure>
  /// Ours: ``Futures/Promise``.
  typealias Promise = Futures.Promise<Value, Failure>
  /// Ours: `Swift.Result`.
  typealias Result = Swift.Result<Value, Failure>
  /// Ours: a closure for ``MainContext``.
  typealias OnMain<T> = @MainActor (T) -> Void
  /// Ours: ``succeeded(_:)``; the second parameter stops `Future { … }` from matching.
  init(value: Value, _: (() -> Never)? = nil) { self = .succeeded(value) }
  /// Ours: ``succeeded(_:)``.
  init(value: Value, _: (() -> Never)? = nil) where Failure == Never { self = .succeeded(value) }
  /// Ours: ``failed(_:)``.
  init(error: Failure) { self = .failed(error) }
  /// Ours: ``resolved(_:)``.
  init(result: Result) { self = .resolved(result) }
  /// Ours: ``catching(_:)``; it runs at once, also beside FuturesAsync, where `Future { try await … }` starts a task.
  init(catching body: () throws -> Value) where Failure == any Error { self = .resolved(Swift.Result { try body() }) }
  /// Ours: ``whenSucceeded(on:_:)`` with `.mainImmediate`.
  func on(success: @escaping OnMain<Value>) { on(success: success, failure: nil) }
  /// Ours: ``whenSucceeded(on:_:)``, ``whenFailed(on:_:)`` and ``whenResolved(on:_:)`` with `.mainImmediate`.
  func on(success: OnMain<Value>? = nil, failure: OnMain<Failure>? = nil, completion: (@MainActor () -> Void)? = nil) {
    whenResolved(on: .mainImmediate) { result in
      if case .success(let v) = result { success?(v) } else if case .failure(let e) = result { failure?(e) }
      completion?()
    }
  }
  /// Ours: ``receive(on:)``, or `on:` of each callback and transform.
  func observe(on context: ExecutionContext) -> ObservedFuture<Value, Failure> { .init(future: self, at: context) }
  /// Ours: as `observe(on: context)`, with `.queue(queue)`.
  @_disfavoredOverload
  func observe(on queue: DispatchQueue) -> ObservedFuture<Value, Failure> { observe(on: .queue(queue)) }
  /// Ours: ``ignoreValue()``.
  func asVoid() -> Of<Void> { ignoreValue() }
  /// Ours: ``setFailureType(to:)``.
  func castError<T>(_: T.Type = T.self) -> Future<Value, T> where Failure == Never { setFailureType() }
  /// Ours: ``map(on:_:)``, whose closure can throw.
  func tryMap<T: Sendable>(_ f: @escaping @Sendable (Value) throws -> T) -> Of<T> where Failure == any Error { map(f) }
  /// Ours: `zip`, which can cancel the other futures after a failure; FutureX never cancels, so this shields the
  /// futures.
  static func zip<A, B>(_ a: Of<A>, _ b: Of<B>) -> Self where Value == (A, B) { joined(a, b) }
  /// Ours: `zip`.
  static func zip<A, B, C>(_ a: Of<A>, _ b: Of<B>, _ c: Of<C>) -> Self where Value == (A, B, C) { joined(a, b, c) }
  private static func joined<each V>(_ futures: repeat Future<each V, Failure>) -> Self where Value == (repeat each V) {
    zip(repeat (each futures).shielded)
  }
  /// Ours: ``all(_:)``.
  static func zip<V>(_ futures: [Of<V>]) -> Self where Value == [V] { Of<V>.all(futures.map(\.shielded)) }
  /// Ours: ``reduce(_:_:_:)``.
  static func reduce<R: Sendable>(_ first: R, _ all: [Future], _ next: @escaping @Sendable (R, Value) -> R) -> Of<R> {
    Of<[Value]>.zip(all).map { values in values.reduce(first, next) }
  }
  /// Ours: ``race(_:)``.
  static func first(_ futures: Future...) -> Future { first(futures) }
  /// Ours: ``race(_:)``, which needs at least one future.
  static func first(_ futures: [Future]) -> Future { futures.isEmpty ? .never : race(futures.map(\.shielded)) }
  /// Ours: ``serial(_:_:)``; the closures run one after another, so they need not be `@Sendable`.
  @_disfavoredOverload @discardableResult
  static func forEach(_ starts: [() -> Future], _ body: @escaping (Future) -> Void) -> Of<Void> {
    forEach(in: starts.map { start in UncheckedTransfer(start) }, body)
  }
  /// Ours: ``serial(_:_:)``; an overload, because Swift 6.3 stops the program where it converts an array of such
  /// closures.
  @discardableResult
  static func forEach(_ starts: [@Sendable () -> Future], _ body: @escaping (Future) -> Void) -> Of<Void> {
    forEach(in: starts.map { start in UncheckedTransfer(start) }, body)
  }
  private static func forEach(
    in starts: [UncheckedTransfer<() -> Future>],
    _ body: @escaping (Future) -> Void
  ) -> Of<Void> {
    nonisolated(unsafe) let body = body
    return serial(starts) { start in
      let future = start.value()
      body(future)
      return future
    }.ignoreValue()
  }
  /// Ours: ``after(_:on:)``.
  static func after(seconds: Double, on q: DispatchQueue = .global()) -> Self where Value == Void, Failure == Never {
    after(.seconds(seconds), on: .queue(q))
  }
}
// An extension of the protocol, so that `await future.value` of FuturesAsync is preferred.
nonisolated extension FutureProtocol {
  /// Ours: ``Future/peek()``.
  var result: Result<Value, Failure>? { Future(self).peek() }
  /// Ours: ``Future/peek()``.
  var value: Value? { try? result?.get() }
  /// Ours: ``Future/peek()``.
  var error: Failure? { if case .failure(let error) = result { error } else { nil } }
}
nonisolated extension Promise {
  /// Ours: ``succeed(_:)``.
  func succeed(value: Value) { succeed(value) }
  /// Ours: ``fail(_:)``.
  func fail(error: Failure) { fail(error) }
  /// Ours: ``resolve(_:)``.
  func resolve(result: Result<Value, Failure>) { resolve(result) }
}
nonisolated extension RetryDelay {
  /// Ours: `constant`.
  static func seconds(_ seconds: Double) -> Self { .constant(.seconds(seconds)) }
}
/// Ours: ``ExecutionContext``.
nonisolated enum Scheduler {
  /// Ours: ``MainContext/mainImmediate``.
  static var main: ExecutionContext { ExecutionContext { work in Future(value: ()).on(success: work) } }
  /// Ours: ``ExecutionContext/immediate``.
  static let immediate = ExecutionContext.immediate
  /// Ours: ``ExecutionContext/queue(_:)``.
  static func async(on queue: DispatchQueue) -> ExecutionContext { .queue(queue) }
}
/// Ours: ``Future``, and `on:` of its callbacks and transforms.
nonisolated struct ObservedFuture<Value: Sendable, Failure: Error>: Sendable {
  /// Ours: a closure for ``ExecutionContext``.
  typealias Do<T> = @Sendable (T) -> Void
  fileprivate let (future, at): (Future<Value, Failure>, ExecutionContext)
  /// Ours: ``Future/whenSucceeded(on:_:)`` and the other callbacks.
  func on(success: Do<Value>? = nil, failure: Do<Failure>? = nil, completion: Do<()>? = nil, _: Never? = nil) {
    future.whenResolved(on: at) { result in
      if case .success(let v) = result { success?(v) } else if case .failure(let e) = result { failure?(e) }
      completion?(())
    }
  }
  /// Ours: ``Future/map(on:_:)``.
  func map<T: Sendable>(_ f: @escaping @Sendable (Value) -> T) -> Future<T, Failure> { future.map(on: at, f) }
  /// Ours: ``Future/map(on:_:)``, whose closure can throw.
  func tryMap<T: Sendable>(_ f: @escaping @Sendable (Value) throws -> T) -> Future<T, any Error>
  where Failure == any Error {
    future.map(on: at, f)
  }
}

nonisolated extension CancellationTokenSource {
  /// Ours: ``isCancelled``.
  var isCancelling: Bool { isCancelled }
}
nonisolated extension CancellationToken {
  /// Ours: ``isCancelled``.
  var isCancelling: Bool { isCancelled }
}
