import Synchronization

/// The floor of the callback rows: what one writes by hand, a lock and a slot.
///
/// It has a producer and a consumer side as `Promise` and `Future` have, and keeps the order of callbacks; it knows no
/// execution contexts, no removal, no broken promises, and recurses on deep chains. Every entry is out of line, as calls
/// into a library are: else the compiler sees that no object outlives the loop of the benchmark, and allocates none.
final class HandPromise<Value: Sendable, Failure: Error>: Sendable {
  let future = HandFuture<Value, Failure>()

  @inline(never)
  init() {}

  @inline(never)
  func succeed(_ value: Value) { future.resolve(.success(value)) }
}

/// The consumer side, and the storage.
final class HandFuture<Value: Sendable, Failure: Error>: Sendable {
  typealias Callback = @Sendable (Result<Value, Failure>) -> Void

  private enum State {
    case pending(first: Callback?, others: [Callback])
    case resolved(Result<Value, Failure>)
  }

  private let state: Mutex<State>

  @inline(never)
  init() {
    state = Mutex(.pending(first: nil, others: []))
  }

  @inline(never)
  init(succeeded value: Value) {
    state = Mutex(.resolved(.success(value)))
  }

  @inline(never)
  func resolve(_ result: Result<Value, Failure>) {
    let before = state.withLock { state in
      let before = state
      if case .pending = state { state = .resolved(result) }
      return before
    }
    guard case .pending(let first, let others) = before else { return }
    first?(result)
    for callback in others { callback(result) }
  }

  @inline(never)
  func whenResolved(_ callback: @escaping Callback) {
    let result: Result<Value, Failure>? = state.withLock { state in
      switch state {
      case .resolved(let result): return result
      case .pending(nil, _): state = .pending(first: callback, others: [])
      case .pending(let first, var others):
        // Emptied first, so that the array has one owner and is appended to in place.
        state = .pending(first: nil, others: [])
        others.append(callback)
        state = .pending(first: first, others: others)
      }
      return nil
    }
    if let result { callback(result) }
  }

  @inline(never)
  func map(_ transform: @escaping @Sendable (Value) -> Value) -> HandFuture {
    let promise = HandPromise<Value, Failure>()
    whenResolved { promise.future.resolve($0.map(transform)) }
    return promise.future
  }

  @inline(never)
  func flatMap(_ transform: @escaping @Sendable (Value) -> HandFuture) -> HandFuture {
    let promise = HandPromise<Value, Failure>()
    whenResolved { result in
      switch result {
      case .success(let value): transform(value).whenResolved { promise.future.resolve($0) }
      case .failure: promise.future.resolve(result)
      }
    }
    return promise.future
  }
}
