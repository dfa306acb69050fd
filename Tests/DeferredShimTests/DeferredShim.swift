// Lets source for Deferred 4.x compile against swift-futures. Copy it into your module, with TaskShim.swift if you use the
// module Task. Import Futures instead, replace each use by the declaration that its comment names, and delete the file at the
// end.
//
// Values must be `Sendable`. Closures are `@Sendable`, and closures on `.main` are `@MainActor`: language mode 5 warns where
// old closures do not fit, and mode 6 rejects them. As in Deferred, `Future<Value>` has one parameter and hides ours in this
// module: write `Futures.Future`.
//
// 66 of Deferred's 95 tests pass with it unchanged. Not included, with the replacement:
// - `Locking` and its locks, and `Protected(initialValue:lock:)`: `NSLock` of Foundation. Eight tests need it.
// - run loops and operation queues as executors: `.runLoop`, `.operationQueue` of FuturesFoundation, or `submit` of your own
//   `Executor`.
// - descriptions and mirrors such as `Deferred(not filled)`: `Future` has its own. Twenty tests need it.
//
// Different: `every(per:)` transforms once. Deferred transforms at each use, and one of its tests expects that. As in
// Deferred, a dropped `Deferred` stays unfilled for ever; a debug build traps if a callback waits for it.
import Dispatch
import Foundation
import Futures

/// Ours: ``Futures/Future``, with its `Failure`.
typealias Future<Value: Sendable> = Futures.Future<Value, Never>

/// Ours: ``ExecutionContext``.
nonisolated protocol Executor: AnyObject, Sendable {
  /// Ours: ``ExecutionContext/init(_:)``.
  func submit(_ body: @escaping @Sendable () -> Void)
}

nonisolated extension Executor {
  /// Ours: the context itself.
  var context: ExecutionContext { ExecutionContext { work in self.submit(work) } }
}

nonisolated extension Executor where Self == DispatchQueue {
  /// Ours: ``ExecutionContext/mainQueue``, or ``MainContext/main``.
  static var main: DispatchQueue { DispatchQueue.main }
  /// Ours: ``ExecutionContext/global(qos:)``.
  static func any() -> DispatchQueue { DispatchQueue.global() }
  /// Ours: ``ExecutionContext/global(qos:)``.
  static func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { DispatchQueue.global(qos: qos) }
}

nonisolated extension DispatchQueue: Executor {
  /// Ours: ``ExecutionContext/queue(_:)``.
  func submit(_ body: @escaping @Sendable () -> Void) { async(execute: body) }
}

/// Ours: ``Futures/FutureProtocol``, with its `Failure`.
nonisolated protocol FutureProtocol<Value>: Futures.FutureProtocol where Failure == Never {
  /// Ours: the future itself.
  var filled: Future<Value> { get }
}

nonisolated extension FutureProtocol {
  /// Ours: ``Futures/Future/forward(to:)``.
  func forward(to completion: @escaping @Sendable (Result<Value, Never>) -> Void) { filled.forward(to: completion) }
  /// Ours: ``Futures/Future/whenSucceeded(on:_:)``.
  @_disfavoredOverload
  func upon(_ executor: some Executor = .any(), execute body: @escaping @Sendable (Value) -> Void) {
    filled.whenSucceeded(on: executor.context, body)
  }
  /// Ours: ``Futures/Future/whenSucceeded(on:_:)``.
  func upon(_ main: MainContext, execute body: @escaping @MainActor (Value) -> Void) {
    filled.whenSucceeded(on: main) { value in body(value) }
  }
  /// Ours: ``Futures/Future/peek()``, which returns a result.
  func peek() -> Value? { filled.peek() }
  /// Ours: ``Futures/Future/isResolved``.
  var isFilled: Bool { filled.isResolved }
  /// Ours: ``Futures/Future/wait(timeout:)``, and ``Futures/Future/wait()`` for `.distantFuture`.
  @available(*, noasync)
  func wait(until time: DispatchTime) -> Value? {
    let nanoseconds = [time, .now()].map { Int64(clamping: $0.uptimeNanoseconds) }
    return filled.wait(timeout: .nanoseconds(nanoseconds[0] - nanoseconds[1]))?.get()
  }
  /// Ours: ``Futures/Future/map(on:_:)``.
  func map<New>(upon executor: some Executor, transform: @escaping @Sendable (Value) -> New) -> Future<New> {
    filled.map(on: executor.context, transform)
  }
  /// Ours: ``Futures/Future/flatMap(on:progressShare:_:)``.
  func andThen<New: FutureProtocol>(upon executor: some Executor, start: @escaping @Sendable (Value) -> New)
    -> Future<New.Value>
  {
    // Deferred delivers the inner value through the executor too.
    filled.flatMap(on: executor.context) { value in start(value).filled.receive(on: executor.context) }
  }
  /// Ours: ``Futures/Future/map(on:_:)``.
  func every<New>(per transform: @escaping @Sendable (Value) -> New) -> Future<New> { filled.map(transform) }
  /// Ours: ``Futures/Future/ignoreValue()``.
  func ignored() -> Future<Void> { filled.ignoreValue() }
  /// Ours: the future itself.
  func eraseToFuture() -> Future<Value> { filled }
  /// Ours: ``Futures/Future/zip(_:)``.
  func and<each Other: FutureProtocol>(_ other: repeat each Other) -> Future<(Value, repeat (each Other).Value)> {
    .zip(filled, repeat (each other).filled)
  }
}

nonisolated extension Futures.Future: FutureProtocol where Failure == Never {
  /// Ours: the future itself.
  var filled: Self { self }
  /// Ours: ``succeeded(_:)``; the second parameter stops `Future { … }` from matching.
  init(value: Value, _: (() -> Never)? = nil) { self = .succeeded(value) }
  /// Ours: ``peek()``, which returns a result.
  func peek() -> Value? { (peek() as Result<Value, Never>?)?.get() }
  /// Ours: ``init(on:fileID:line:_:)``.
  static func async(
    upon queue: DispatchQueue = .any(),
    flags: DispatchWorkItemFlags = [],
    execute work: @escaping @Sendable () -> Value
  ) -> Self {
    nonisolated(unsafe) let flags = flags  // a set of options
    return Self(on: ExecutionContext { body in queue.async(flags: flags, execute: body) }, work)
  }
}

/// Ours: a lock.
nonisolated final class Protected<T>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: T
  /// Ours: an initial value.
  init(initialValue: T) { value = initialValue }
  /// Ours: the lock.
  func withReadLock<Return>(_ body: (T) throws -> Return) rethrows -> Return {
    try withWriteLock { value in try body(value) }
  }
  /// Ours: the lock.
  func withWriteLock<Return>(_ body: (inout T) throws -> Return) rethrows -> Return {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}

nonisolated extension Collection where Element: FutureProtocol {
  /// Ours: ``Futures/Future/all(_:)``.
  func allFilled() -> Future<[Element.Value]> { Future<Element.Value>.all(map(\.filled)) }
  /// Ours: ``Futures/Future/race(_:)``, which needs a future and can cancel the losers; Deferred never cancels, so this
  /// function shields the futures.
  func firstFilled() -> Future<Element.Value> { isEmpty ? .never : .race(map(\.filled.shielded)) }
}

/// Ours: ``Promise``, and its ``Promise/future``.
nonisolated struct Deferred<Value: Sendable>: FutureProtocol {
  private let promise: Promise<Value, Never>
  /// Ours: ``Promise/init(_:fileID:line:)``.
  init(fileID: StaticString = #fileID, line: UInt = #line) { promise = Promise(fileID: fileID, line: line) }
  /// Ours: ``Futures/Future/succeeded(_:)``.
  init(filledWith value: Value) {
    self.init()
    fill(with: value)
  }
  /// Ours: ``Promise/future``.
  var filled: Future<Value> { promise.future }
  /// Ours: ``Promise/succeed(_:)``.
  @discardableResult func fill(with value: Value) -> Bool { promise.succeed(value) }
  /// Ours: ``Promise/succeed(_:)``, which returns whether it was the first.
  func mustFill(with value: Value, file: StaticString = #file, line: UInt = #line) {
    precondition(fill(with: value), "This Deferred is filled already.", file: file, line: line)
  }
}
