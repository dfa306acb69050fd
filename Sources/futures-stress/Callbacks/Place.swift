import Futures
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

/// A pseudorandom generator with a seed.
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
