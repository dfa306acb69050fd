// The other half of DeferredShim.swift, for the module Task of Deferred 4.x. As in Deferred, `Task<Success>` hides Swift's in
// this module: write `_Concurrency.Task`.
//
// 27 of the 35 tests of Deferred's Task module pass with it unchanged. Not included, with the replacement:
// - progress: `promise.progress`, and `foundationProgress()` of FuturesFoundation.
// - `TaskProtocol`: `Task`. Where a closure of `andThen` or `fallback` returns a promise: `Task(promise)`.
// - `andSuccess(of:)`: `Futures.Future.zip`. Swift 6.3 cannot declare it for every number of tasks. Eight tests
//   need it.
//
// Different: `cancel()` runs the handlers of the whole chain and completes nothing itself, as in Deferred. `cancel()`
// of our futures also fails them. `everySuccess(per:)` transforms once instead of at each use.
import Dispatch
import Futures

/// Ours: ``Futures/Future`` with `any Error`.
nonisolated struct Task<Success: Sendable>: FutureProtocol {
  /// Ours: `Result`.
  typealias Result = Swift.Result<Success, any Error>
  /// Ours: ``Futures/Future/materialize()``.
  typealias Value = Result
  /// Ours: ``Futures/Promise``.
  typealias Promise = Deferred<Result>
  /// Ours: the function type itself.
  typealias Throwing<Input, Output> = @Sendable (Input) throws -> Output
  /// Ours: ``Futures/Future/materialize()``.
  let filled: Future<Result>
  fileprivate let source: CancellationTokenSource
}

nonisolated extension Task {
  /// Ours: ``Futures/Promise/onCancel(_:)`` for the handler.
  init(_ other: some FutureProtocol<Result>, uponCancel handler: @escaping @Sendable () -> Void = {}) {
    self.init(filled: other.filled, source: (other as? Task)?.source ?? CancellationTokenSource())
    source.token.register(handler)
  }
  /// Ours: ``Futures/Promise/onCancel(_:)`` for the handler.
  init(_ future: Future<Result>, uponCancel handler: @escaping @Sendable () -> Void = {}) {
    self.init(filled: future, source: CancellationTokenSource())
    source.token.register(handler)
  }
  /// Ours: ``Futures/Future/setFailureType(to:)``.
  init(succeedsFrom other: some FutureProtocol<Success>, uponCancel handler: @escaping @Sendable () -> Void = {}) {
    self.init(other.filled.map { value in .success(value) }, uponCancel: handler)
  }
  /// Ours: the future itself, of migrated code.
  init(_ future: Futures.Future<Success, any Error>) { self.init(future.materialize()) { future.cancel() } }
  /// Ours: ``Futures/Future/catching(_:)``; the second parameter stops `Task { … }` from matching.
  init(success value: @autoclosure () throws -> Success, _: (() -> Never)? = nil) {
    self.init(Future(value: Result(catching: value)))
  }
  /// Ours: ``Futures/Future/catching(_:)``.
  init(catching body: () throws -> Success) { self.init(Future(value: Result(catching: body))) }
  /// Ours: ``Futures/Future/failed(_:)``.
  init(failure error: any Error) { self.init(Future(value: .failure(error))) }
  /// Ours: ``Futures/Future/never``.
  static var never: Task { Task(Future<Result>.never) }
  /// Ours: the future itself, for migrated code; cancelling it cancels the task too.
  var future: Futures.Future<Success, any Error> {
    Futures.Future { promise in
      promise.onCancel { cancel() }
      promise.follow(filled.flatMap { result in .resolved(result) })
    }
  }
  /// Ours: ``Futures/Future/cancel()``, which also fails the future.
  func cancel() { source.cancel() }
  /// Ours: ``CancellationTokenSource/isCancelled``.
  var isCancelled: Bool { source.isCancelled }
  /// Ours: ``Futures/Future/whenSucceeded(on:_:)``.
  @_disfavoredOverload
  func uponSuccess(on executor: some Executor = .any(), execute body: @escaping @Sendable (Success) -> Void) {
    upon(executor) { result in if case .success(let value) = result { body(value) } }
  }
  /// Ours: ``Futures/Future/whenSucceeded(on:_:)``.
  func uponSuccess(on main: MainContext, execute body: @escaping @MainActor (Success) -> Void) {
    upon(main) { result in if case .success(let value) = result { body(value) } }
  }
  /// Ours: ``Futures/Future/whenFailed(on:_:)``.
  @_disfavoredOverload
  func uponFailure(on executor: some Executor = .any(), execute body: @escaping @Sendable (any Error) -> Void) {
    upon(executor) { result in if case .failure(let error) = result { body(error) } }
  }
  /// Ours: ``Futures/Future/whenFailed(on:_:)``.
  func uponFailure(on main: MainContext, execute body: @escaping @MainActor (any Error) -> Void) {
    upon(main) { result in if case .failure(let error) = result { body(error) } }
  }
  /// Ours: ``Futures/Future/map(on:_:)``.
  func map<New>(upon executor: some Executor, transform: @escaping Throwing<Success, New>) -> Task<New> {
    andThen(upon: executor) { value in Task<New>(success: try transform(value)) }
  }
  /// Ours: ``Futures/Future/flatMap(on:progressShare:_:)``.
  func andThen<New>(upon executor: some Executor, start: @escaping Throwing<Success, Task<New>>) -> Task<New> {
    next(upon: executor) { result in try start(result.get()) }
  }
  /// Ours: ``Futures/Future/recover(on:_:)``.
  func recover(upon executor: some Executor, substituting substitute: @escaping Throwing<any Error, Success>) -> Task {
    fallback(upon: executor) { error in Task(success: try substitute(error)) }
  }
  /// Ours: ``Futures/Future/flatMapError(on:_:)``.
  func fallback(upon executor: some Executor, to restart: @escaping Throwing<any Error, Task>) -> Task {
    next(upon: executor) { result in
      if case .failure(let error) = result { try restart(error) } else { Task(Future(value: result)) }
    }
  }
  /// Ours: ``Futures/Future/map(on:_:)``.
  func everySuccess<New>(per transform: @escaping @Sendable (Success) -> New) -> Task<New> {
    Task<New>(filled: filled.map { result in result.map(transform) }, source: source)
  }
  /// Ours: ``Futures/Future/ignoreValue()``.
  func ignored() -> Task<Void> { everySuccess { _ in } }
  /// Ours: ``Futures/Future/init(on:fileID:line:_:)``; a cancellation before the start fails the task with `error`.
  static func async(
    upon queue: DispatchQueue = .any(),
    flags: DispatchWorkItemFlags = [],
    onCancel error: @autoclosure @escaping @Sendable () -> any Error,
    execute work: @escaping @Sendable () throws -> Success
  ) -> Task {
    let (deferred, isDecided) = (Promise(), Deferred<Void>())  // started, or cancelled before the start
    queue.async(flags: flags) {
      if isDecided.fill(with: ()) { deferred.fill(with: Result(catching: work)) }
    }
    return Task(deferred) {
      if isDecided.fill(with: ()) { deferred.fail(with: error()) }
    }
  }
  /// Ours: ``Futures/Future/retry(attempts:delay:on:while:fileID:line:_:)``.
  static func `repeat`(
    upon executor: some Executor,
    count: Int = 3,
    continuingIf shouldRetry: @escaping @Sendable (any Error) -> Bool = { _ in true },
    to start: @escaping @Sendable () throws -> Task
  ) -> Task {
    var task: Task
    do { task = try start() } catch { return Task(failure: error) }
    for _ in 0..<max(count, 0) {
      task = task.fallback(upon: executor) { error in shouldRetry(error) ? try start() : Task(failure: error) }
    }
    return task
  }
  private func next<New>(upon executor: some Executor, _ start: @escaping Throwing<Result, Task<New>>) -> Task<New> {
    let started = filled.flatMap(on: executor.context) { [source] result in
      do {
        let next = try start(result)
        source.token.register { next.cancel() }
        return next.filled
      } catch {
        return .succeeded(.failure(error))
      }
    }
    return Task<New>(filled: started, source: source)
  }
}

nonisolated extension Deferred {
  /// Ours: ``Futures/Promise/succeed(_:)``.
  @discardableResult
  func succeed<T>(with value: T) -> Bool where Value == Result<T, any Error> { fill(with: .success(value)) }
  /// Ours: ``Futures/Promise/fail(_:)``.
  @discardableResult
  func fail<T>(with error: any Error) -> Bool where Value == Result<T, any Error> { fill(with: .failure(error)) }
}

nonisolated extension Collection {
  /// Ours: ``Futures/Future/all(_:)``, which can cancel the other futures after a failure; Deferred never cancels, so
  /// this function shields the futures.
  func allSucceeded<T>() -> Task<[T]> where Element == Task<T> {
    let tasks = Array(self)
    return Task(Futures.Future.all(map(\.future.shielded)).materialize()) { for task in tasks { task.cancel() } }
  }
  /// Ours: ``Futures/Future/all(_:)`` and ``Futures/Future/ignoreValue()``.
  func allSucceeded() -> Task<Void> where Element == Task<Void> {
    let all: Task<[Void]> = allSucceeded()
    return all.ignored()
  }
}

nonisolated extension FutureProtocol {
  /// Ours: the future itself.
  func eraseToTask<Success>(uponCancel handler: @escaping @Sendable () -> Void = {}) -> Task<Success>
  where Value == Result<Success, any Error> {
    Task(self, uponCancel: handler)
  }
}

nonisolated extension Result where Success: Sendable, Failure == any Error {
  /// Ours: ``Futures/Promise/valueOrErrorHandler``.
  init(value: Success?, error: (any Error)?) {
    let promise = Futures.Promise<Success, any Error>()
    promise.valueOrErrorHandler(value, value == nil ? error : nil)  // here the value wins
    self = promise.future.peek()!
  }
}
