/// Anything that delivers one result to a completion closure: `Future`, and, by a few lines of yours, any other future.
public protocol FutureProtocol<Value, Failure>: Sendable {
  /// What it succeeds with.
  associatedtype Value: Sendable
  /// What it fails with; `Never` if it cannot.
  associatedtype Failure: Error

  /// Calls `completion` with the result, once, now or later, on any thread.
  /// - Parameter completion: Gets the result.
  func forward(to completion: @escaping @Sendable (Result<Value, Failure>) -> Void)
}
