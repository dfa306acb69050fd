/// A private future: an explored thread makes a `flatMap` that moves on to a `map` without another handle.
///
/// The other thread resolves or breaks the private future.
final class PrivateWorld: ExploredWorld, @unchecked Sendable {
  // @unchecked: only the running explored thread, or the explorer's caller between runs, uses the variables.

  enum Operation: String, CaseIterable, Sendable {
    /// Makes a `flatMap` whose transform returns the mapped future, and runs the transform.
    case follow
    /// Does the same as `follow`, and cancels the new future.
    case followAndCancel
    case succeed
    /// Drops the promise.
    case drop
  }

  enum Shape: CaseIterable, Sendable {
    /// The private state waits for the promise, whose failure type is `Never`, so a break passes through it.
    case direct
    /// Another stage lies between the private state and the promise.
    case mapped
  }

  private let operations: [Operation]
  private var promise: Promise<Int, Never>?
  private var inner: Future<Int, any Error>?
  private var outer: Future<Int, any Error>?
  private var results: [Result<Int, any Error>] = []
  private var captured: [() -> CapturedObject?] = []
  private var resolution: Event?
  private var faults: [String] = []

  /// Stands for the promise, so that dropping it is a step.
  private let promiseLocation = ExploredLocation()

  init(_ shape: Shape, _ threads: [[Operation]]) {
    operations = Array(threads.joined())
    let promise = Promise<Int, Never>()
    self.promise = promise
    inner =
      switch shape {
      case .direct: promise.future.eraseFailure()
      case .mapped: promise.future.eraseFailure().map { $0 }
      }
  }

  func run(_ operation: Operation) {
    let thread = ExploredThread.current.unsafelyUnwrapped
    switch operation {
    case .follow: follow()
    case .followAndCancel:
      follow()
      outer?.cancel()
    case .succeed:
      thread.step(.read, at: promiseLocation)
      let promise = promise
      resolution = thread.now
      promise?.succeed(1)
      thread.step(.write, at: promiseLocation)
    case .drop:
      thread.step(.write, at: promiseLocation)
      promise = nil
    }
  }

  private func follow() {
    let source = Promise<Int, any Error>()
    let future = source.future.flatMap { [unowned self] _ in
      let inner = inner.take()
      return inner ?? .failed(Failed())
    }
    let closure = CapturedObject { [unowned self] fault in faults.append(fault) }
    captured.append { [weak closure] in closure }
    future.whenResolved(on: .immediate) { [unowned self] result in
      closure.use()
      results.append(result)
      guard case .success = result, let thread = ExploredThread.current, let resolution else { return }
      if !thread.hasSeen(resolution) { faults.append("a thread saw the value, but not what came before it") }
    }
    outer = future
    source.succeed(0)
  }

  /// Returns the first fault after all threads have ended.
  func check() -> String? {
    promise = nil
    let result = results.first.map(describe)
    let expected: Set<String> = [
      operations.contains(.succeed) ? "value 1" : "BrokenPromise",
      operations.contains(.drop) ? "BrokenPromise" : "value 1",
      operations.contains(.followAndCancel) ? "CancellationError" : "BrokenPromise",
    ]
    if results.count != 1 { faults.append("a callback ran \(results.count) times (R2)") }
    if let result, !expected.contains(result) { faults.append("the result is \(result), not one of \(expected) (R1)") }
    weak var state: AnyObject?
    if case .sharedState(let shared)? = outer?.storage { state = shared }
    outer = nil
    inner = nil
    if captured.contains(where: { $0() != nil }) { faults.append("a callback was not released (R5)") }
    if state != nil { faults.append("the future is never released") }
    return faults.first
  }
}
