/// The floor of the callback rows, written by hand: a lock and a slot.
///
/// It has a producer and a consumer side as `Promise` and `Future` have, and keeps the order of callbacks. It has no
/// execution contexts, no removal and no broken promises, and recurses on deep chains. Every function that a row calls
/// is out of line, as in a library. Otherwise the compiler sees that no object outlives the loop, and allocates none.
final class HandPromise: Sendable {
  let future = HandFuture(.pending(first: nil, others: []))

  @inline(never)
  init() {}

  @inline(never)
  func succeed(_ value: Int) { future.resolve(.success(value)) }
}

/// The consumer side, and the storage.
///
/// Not generic: the deinitializer of a generic class is not specialised, and the floor would take 50 % longer.
final class HandFuture: Sendable {
  typealias Callback = @Sendable (Result<Int, any Error>) -> Void

  enum State {
    case pending(first: Callback?, others: [Callback])
    case resolved(Result<Int, any Error>)
  }

  private let state: Mutex<State>

  init(_ state: State) { self.state = Mutex(state) }

  @inline(never)
  convenience init(succeeded value: Int) { self.init(.resolved(.success(value))) }

  @inline(never)
  func resolve(_ result: Result<Int, any Error>) {
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
    let result: Result<Int, any Error>? = state.withLock { state in
      switch state {
      case .resolved(let result): return result
      case .pending(nil, _): state = .pending(first: callback, others: [])  // no first: no others
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
  func map(_ transform: @escaping @Sendable (Int) -> Int) -> HandFuture {
    let promise = HandPromise()
    whenResolved { promise.future.resolve($0.map(transform)) }
    return promise.future
  }

  @inline(never)
  func flatMap(_ transform: @escaping @Sendable (Int) -> HandFuture) -> HandFuture {
    let promise = HandPromise()
    whenResolved { result in
      switch result {
      case .success(let value): transform(value).whenResolved { promise.future.resolve($0) }
      case .failure: promise.future.resolve(result)
      }
    }
    return promise.future
  }
}
