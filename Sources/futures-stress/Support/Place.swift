import Futures

/// A future that several threads use, and its promise, until a thread takes it.
final class Place<Value: Sendable>: Sendable {
  let future: Future<Value, any Error>
  private let held: Locked<Promise<Value, any Error>?>

  init() {
    let promise = Promise<Value, any Error>()
    future = promise.future
    held = Locked(promise)
  }

  var promise: Promise<Value, any Error>? { held.withLock { $0 } }

  /// Removes the promise, so that only the caller can resolve or drop it.
  func takePromise() -> Promise<Value, any Error>? {
    held.withLock { promise in
      defer { promise = nil }
      return promise
    }
  }
}
