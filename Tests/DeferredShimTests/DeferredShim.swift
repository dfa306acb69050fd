// With this file, source written for Deferred 4.x compiles against swift-futures: copy it, and TaskShim.swift where the module
// Task is used too, import Futures instead, and delete it at the end. Values have to be `Sendable`, closures are `@Sendable`,
// those on `.main` are `@MainActor`: language mode 5 warns at most, mode 6 rejects what does not fit. As in Deferred,
// `Future<Value>` has one parameter, and hides ours in this module: write `Futures.Future`.
// What has no shim does not compile. Write instead:
// - `Mutex`, of Synchronization, for `Protected`, `Locking` and its locks;
// - `map(upon:)` for `every(per:)`, which calls its closure at each use, and for `ignored()`;
// - `submit` in an `Executor` of your own for run loops and operation queues, or ours: `.runLoop`, `.operationQueue`.
// As in Deferred, what is dropped unfilled stays so for ever. Only `wait(until:)` tells, as `Future/wait(timeout:)` does.
import Dispatch
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
  /// Ours: ``Futures/Future/peek()``, which gives a result.
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
    filled.flatMap(on: executor.context) { value in start(value).filled }
  }
  /// Ours: ``Futures/Future/zip(_:)``.
  func and<each Other: FutureProtocol>(_ other: repeat each Other) -> Future<(Value, repeat (each Other).Value)> {
    .zip(filled, repeat (each other).filled)
  }
}

nonisolated extension Futures.Future: FutureProtocol where Failure == Never {
  /// Ours: the future itself.
  var filled: Self { self }
  /// Ours: ``succeeded(_:)``; the second parameter keeps the closure of `Future { … }` from being taken for a value.
  init(value: Value, _: (() -> Never)? = nil) { self = .succeeded(value) }
  /// Ours: ``peek()``, which gives a result.
  func peek() -> Value? { (peek() as Result<Value, Never>?)?.get() }
}

nonisolated extension Collection where Element: FutureProtocol {
  /// Ours: ``Futures/Future/all(_:)``.
  func allFilled() -> Future<[Element.Value]> { Future<Element.Value>.all(map(\.filled)) }
  /// Ours: ``Futures/Future/race(_:)``, which has to have one, and cancels the others: hence `shielded`.
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
  /// Ours: ``Promise/succeed(_:)``, which tells, too.
  func mustFill(with value: Value, file: StaticString = #file, line: UInt = #line) {
    precondition(fill(with: value), "This Deferred is filled already.", file: file, line: line)
  }
}
