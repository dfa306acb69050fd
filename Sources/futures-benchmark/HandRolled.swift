#if canImport(Darwin)
  import Futures
#else
  import Synchronization
#endif

/// The floor of the callback rows: a lock and a slot, written by hand.
///
/// It has a producer and a consumer side as `Promise` and `Future` have, and keeps the order of callbacks. It has no
/// execution contexts, no removal and no broken promises, and recurses on deep chains. Every function that a row calls
/// is out of line, as in a library. Otherwise the compiler sees that no object outlives the loop, and allocates none.
final class HandPromise<Hand: HandFuture>: Sendable {
  let future = Hand(.pending(first: nil, others: []))

  @inline(never)
  init() {}

  @inline(never)
  func succeed(_ value: Hand.Value) { future.resolve(.success(value)) }
}

/// The consumer side, and the storage.
///
/// Why not a generic class? Code by hand is for one type. The deinitializer of a generic class is not specialised: the
/// floor would take 50 % longer.
protocol HandFuture: AnyObject, Sendable {
  associatedtype Value: BenchmarkValue
  associatedtype Failure: Error

  init(_ state: HandState<Value, Failure>)

  func withState<Output>(_ body: (inout HandState<Value, Failure>) -> Output) -> Output
}

enum HandState<Value: Sendable, Failure: Error> {
  typealias Callback = @Sendable (Result<Value, Failure>) -> Void

  case pending(first: Callback?, others: [Callback])
  case resolved(Result<Value, Failure>)
}

extension HandFuture {
  typealias Callback = HandState<Value, Failure>.Callback

  @inline(never)
  init(succeeded value: Value) { self.init(.resolved(.success(value))) }

  @inline(never)
  func resolve(_ result: Result<Value, Failure>) {
    let before = withState { state in
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
    let result: Result<Value, Failure>? = withState { state in
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
  func map(_ transform: @escaping @Sendable (Value) -> Value) -> Self {
    let promise = HandPromise<Self>()
    whenResolved { promise.future.resolve($0.map(transform)) }
    return promise.future
  }

  @inline(never)
  func flatMap(_ transform: @escaping @Sendable (Value) -> Self) -> Self {
    let promise = HandPromise<Self>()
    whenResolved { result in
      switch result {
      case .success(let value): transform(value).whenResolved { promise.future.resolve($0) }
      case .failure: promise.future.resolve(result)
      }
    }
    return promise.future
  }
}
