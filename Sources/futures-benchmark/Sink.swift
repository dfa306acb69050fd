#if canImport(Darwin)
  import Futures
#else
  import Synchronization
#endif

/// The sum of all measured values, so that the compiler cannot remove their work.
///
/// The sum is global, so that callbacks do not capture it. The measured callbacks capture one integer. A closure that
/// captures only one class reference allocates no context, and would make every row look cheaper.
enum Sink {
  private static let sum = Atomic<Int>(0)

  static var total: Int { sum.load(ordering: .relaxed) }

  /// Adds a value; one thread at a time, so a relaxed load and a relaxed store are enough.
  static func add(_ value: Int) {
    sum.store(sum.load(ordering: .relaxed) &+ value, ordering: .relaxed)
  }

  /// Adds the value of a success and a captured integer, for a measured callback.
  static func add(_ result: Result<Int, any Error>, plus captured: Int) {
    if case .success(let value) = result { add(value &+ captured) }
  }
}

/// The unit of every ratio: ×1 is the cost of allocating and releasing one such object.
final class FourWords {
  let words: (Int, Int, Int, Int)

  init(_ word: Int) {
    words = (word, word, word, word)
  }

  /// Allocates and releases one object after the other; the count of row A shows that the compiler keeps the allocations.
  static let baseline = Body.synchronous { repetitions in
    for index in 0..<repetitions { Sink.add(makeFourWords(index).words.3) }
  }
}

/// Makes an object out of line, so that the compiler cannot allocate it on the stack.
@inline(never)
private func makeFourWords(_ word: Int) -> FourWords {
  FourWords(word)
}
