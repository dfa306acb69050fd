import Synchronization

/// Where every measured value ends up, so that no work can be optimised away.
///
/// It is global so that a callback need not capture it. The measured callbacks capture one integer: a closure that
/// captures one class reference and nothing else has no context of its own, which would flatter every row.
enum Sink {
  private static let sum = Atomic<Int>(0)

  static var total: Int { sum.load(ordering: .relaxed) }

  /// Adds; one thread at a time, so that the load and the store, both relaxed, need not be one operation.
  static func add(_ value: Int) {
    sum.store(sum.load(ordering: .relaxed) &+ value, ordering: .relaxed)
  }

  /// Adds the value of a success and a captured integer; what a measured callback does.
  static func add<Value: BenchmarkValue, Failure>(_ result: Result<Value, Failure>, plus captured: Int) {
    if case .success(let value) = result { add(value.word &+ captured) }
  }
}

/// The unit of every ratio: ×1 is what it costs to allocate and release one of these.
final class FourWords {
  let words: (Int, Int, Int, Int)

  init(_ word: Int) {
    words = (word, word, word, word)
  }

  /// Allocates and releases one after the other; that the allocation is not removed shows in the count of the row "A".
  static let baseline = Body.synchronous { repetitions in
    for index in 0..<repetitions { Sink.add(makeFourWords(index).words.3) }
  }
}

/// Out of line, so that the object cannot live on the stack.
@inline(never)
private func makeFourWords(_ word: Int) -> FourWords {
  FourWords(word)
}
