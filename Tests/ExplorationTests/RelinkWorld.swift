/// A `flatMap` that one thread cancels, while its stage moves to an inner future that another thread resolves (R2, R17).
///
/// Few steps, so that three threads can preempt each other three times.
final class RelinkWorld: ExploredWorld, @unchecked Sendable {
  // @unchecked: only the running explored thread, or the explorer's caller between runs, uses the variables.

  enum Operation: String, CaseIterable, Sendable {
    /// Resolves the source of the transform.
    case follow
    /// Resolves the inner future, which has a callback.
    case succeed
    /// Cancels the `flatMap`.
    case cancel
  }

  enum Shape: CaseIterable, Sendable { case plain }

  private let operations: Set<Operation>
  private let source = Promise<Int, any Error>()
  private let inner = Promise<Int, any Error>()
  private let future: Future<Int, any Error>
  private var innerResults: [Result<Int, any Error>] = []
  private var results: [Result<Int, any Error>] = []

  init(_: Shape, _ threads: [[Operation]]) {
    operations = Set(threads.joined())
    future = source.future.flatMap { [inner] _ in inner.future }
    inner.future.whenResolved(on: .immediate) { [unowned self] in innerResults.append($0) }
    future.whenResolved(on: .immediate) { [unowned self] in results.append($0) }
  }

  func run(_ operation: Operation) {
    switch operation {
    case .follow: source.succeed(0)
    case .succeed: inner.succeed(1)
    case .cancel: future.cancel()
    }
  }

  /// Returns the first fault after all threads have ended.
  func check() -> String? {
    source.succeed(0)
    inner.succeed(1)
    let outcomes: Set<String> = operations.contains(.cancel) ? ["value 1", "CancellationError"] : ["value 1"]
    if innerResults.map(describe) != ["value 1"] { return "the callback of the inner future got \(innerResults) (R2)" }
    guard results.count == 1, outcomes.contains(describe(results[0])) else {
      return "the callback of the future got \(results) (R2)"
    }
    return nil
  }
}
