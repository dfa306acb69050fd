import Futures
import Synchronization

/// A future that all threads know, and its promise, until somebody takes it.
final class Place: Sendable {
  let future: Future<Int, any Error>
  private let held: Locked<Promise<Int, any Error>?>

  init() {
    let promise = Promise<Int, any Error>()
    future = promise.future
    held = Locked(promise)
  }

  var promise: Promise<Int, any Error>? { held.withLock { $0 } }

  /// Takes the promise out, so that it is resolved, or dropped, by the caller alone.
  func takePromise() -> Promise<Int, any Error>? {
    held.withLock { promise in
      defer { promise = nil }
      return promise
    }
  }

  /// Has the future follow another one, which is resolved, fails, or breaks at once or on another thread.
  func follow(_ random: inout SplitMix64) {
    let other = Promise<Int, any Error>()
    takePromise()?.follow(other.future)
    if random.next(below: 2) == 0 { other.succeed(2) }
  }
}

/// A generator whose numbers its seed decides.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func next(below limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
