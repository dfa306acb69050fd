/// A type that delivers one result to a completion closure: `Future`, or any other future type.
public protocol FutureProtocol<Value, Failure>: Sendable {
  /// The type of the value.
  associatedtype Value: Sendable
  /// The type of the failure; `Never` if it cannot fail.
  associatedtype Failure: Error

  /// Calls `completion` with the result, once, now or later, on any thread.
  func forward(to completion: @escaping @Sendable (Result<Value, Failure>) -> Void)
}
