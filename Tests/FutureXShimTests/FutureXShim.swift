// With this file, source for FutureX 1.x compiles against swift-futures: copy it, import Futures for Future, delete it at the
// end. Values have to be `Sendable`; closures are `@Sendable`, those of `on` `@MainActor`: language mode 5 warns at most, 6
// rejects what does not fit. Not here, and to be written as: `receive(on:)` where what `observe(on:)` gives is passed on, for
// `on` of a plain future is on main; `observe(on:)` for `Scheduler.default`, which moved callbacks of others; `while:` for
// `shouldRetry:`; `ExecutionContext { … }` for a scheduler that is a closure; durations in `after(_:on:)` and other delays;
// `isCancelled` for `isCancelling`; what went with 0.x, as `on(scheduler:)`, `{ succeed, fail in }`. A little different: a dropped
// promise of `any Error` fails; `register` runs its closure where `cancel()` is called; `on` in a callback may run after that.
import Dispatch
import Futures

nonisolated extension Future {
  /// Ours: ``Future``.
  typealias Of<T> = Future<T, Failure>
  /// Ours: what ``MainContext`` takes.
  typealias OnMain<T> = @MainActor (T) -> Void
  /// Ours: ``succeeded(_:)``; the second parameter keeps the closure of `Future { … }` from being taken for a value.
  init(value: Value, _: (() -> Never)? = nil) { self = .succeeded(value) }
  /// Ours: ``succeeded(_:)``.
  init(value: Value, _: (() -> Never)? = nil) where Failure == Never { self = .succeeded(value) }
  /// Ours: ``failed(_:)``.
  init(error: Failure) { self = .failed(error) }
  /// Ours: ``resolved(_:)``.
  init(result: Result<Value, Failure>) { self = .resolved(result) }
  /// Ours: ``catching(_:)``; it runs at once, as in FutureX, even beside FuturesAsync, where `{ try await … }` is a task.
  init(catching body: () throws -> Value) where Failure == any Error { self = .resolved(Result(catching: body)) }
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
  /// Ours: as above, with `.queue(queue)`.
  @_disfavoredOverload
  func observe(on queue: DispatchQueue) -> ObservedFuture<Value, Failure> { observe(on: .queue(queue)) }
  /// Ours: ``ignoreValue()``.
  func asVoid() -> Of<Void> { ignoreValue() }
  /// Ours: ``setFailureType(to:)``.
  func castError<T>(_: T.Type = T.self) -> Future<Value, T> where Failure == Never { setFailureType() }
  /// Ours: ``map(on:_:)``, whose closure may throw.
  func tryMap<T: Sendable>(_ f: @escaping @Sendable (Value) throws -> T) -> Of<T> where Failure == any Error { map(f) }
  /// Ours: `zip`, which cancels the others when one fails, as nothing does in FutureX: hence ``shielded``.
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
  /// Ours: ``race(_:)``, which has to have one.
  static func first(_ futures: [Future]) -> Future { futures.isEmpty ? .never : race(futures.map(\.shielded)) }
  /// Ours: ``serial(_:_:)``.
  @discardableResult
  static func forEach(_ starts: [@Sendable () -> Future], _ body: @escaping @Sendable (Future) -> Void) -> Of<Void> {
    serial(starts) { start in
      let future = start()
      body(future)
      return future
    }.ignoreValue()
  }
  /// Ours: ``after(_:on:)``.
  static func after(seconds: Double, on q: DispatchQueue = .global()) -> Self where Value == Void, Failure == Never {
    after(.seconds(seconds), on: .queue(q))
  }
}
nonisolated extension FutureProtocol {  // not of `Future`, for `await future.value`, of FuturesAsync, to come first
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
  /// Ours: what ``ExecutionContext`` takes.
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
}
