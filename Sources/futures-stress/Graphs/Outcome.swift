import Futures

/// How a future of a graph ended.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
enum Outcome: Hashable, Sendable {
  case value(Int)
  /// The failure that operations and operators choose.
  case refused
  case broken
  case timedOut
  case cancelled
  case other(String)

  init(_ result: Result<TrackedValue, any Error>) {
    self =
      switch result {
      case .success(let value): .value(value.number)
      case .failure(is Refused): .refused
      case .failure(is BrokenPromise): .broken
      case .failure(is TimeoutError): .timedOut
      case .failure(is CancellationError): .cancelled
      case .failure(let error): .other("\(error)")
      }
  }

  /// The number, if the future ended with a value.
  var number: Int? {
    if case .value(let number) = self { number } else { nil }
  }

  /// The outcome of a future that transforms the value.
  func map(_ transform: (Int) -> Int) -> Outcome { number.map { .value(transform($0)) } ?? self }

  /// The possible outcomes of a join that needs both values: a combined value, or the failure of either future.
  static func both(_ first: Outcome, _ second: Outcome, _ combine: (Int, Int) -> Int) -> [Outcome] {
    guard let left = first.number, let right = second.number else {
      return [first, second].filter { $0.number == nil }
    }
    return [.value(combine(left, right))]
  }
}
