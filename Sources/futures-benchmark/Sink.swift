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

  /// Adds the value of a success, and a captured integer if there is one, for a measured callback.
  static func add(_ result: Result<Int, any Error>, plus captured: Int = 0) {
    if case .success(let value) = result { add(value &+ captured) }
  }
}
