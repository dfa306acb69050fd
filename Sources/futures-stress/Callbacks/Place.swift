import Futures
import FuturesTesting
import Synchronization

/// A future that all threads use, and its promise, until a thread takes it.
final class Place: Sendable {
  let future: Future<Int, any Error>
  private let held: Locked<Promise<Int, any Error>?>

  init() {
    let promise = Promise<Int, any Error>()
    future = promise.future
    held = Locked(promise)
  }

  var promise: Promise<Int, any Error>? { held.withLock { $0 } }

  /// Removes the promise, so that only the caller can resolve or drop it.
  func takePromise() -> Promise<Int, any Error>? {
    held.withLock { promise in
      defer { promise = nil }
      return promise
    }
  }

  /// Makes the future follow another one, which succeeds, fails, or breaks, at once or on another thread.
  func follow(_ random: inout SplitMix64) {
    let other = Promise<Int, any Error>()
    takePromise()?.follow(other.future)
    if random.next(below: 2) == 0 { other.succeed(2) }
  }
}
