/// What a shared state stores: nothing yet, a value or a failure.
@usableFromInline
package enum Outcome<Value: Sendable, Failure: Error>: Sendable {
  case unresolved
  case success(Value)
  case failure(Failure)
}

/// `Outcome`, for code that must not name its parameters.
///
/// Q: Why is `SharedState` not simply generic in `Value` and `Failure`? A: Because of its deinitializer. That of a generic
/// class is never specialised, and has to look up the metadata of `Outcome<Value, Failure>` each time, which took a fifth of
/// the time of a whole promise. A field whose type *is* the parameter finds its metadata in that of the class.
@usableFromInline
package protocol OutcomeStorage: Sendable {
  associatedtype Value: Sendable
  associatedtype Failure: Error

  static var unresolved: Self { get }
  init(_ result: Result<Value, Failure>)
  var result: Result<Value, Failure>? { get }
}

extension Outcome: OutcomeStorage {
  @inlinable
  package init(_ result: Result<Value, Failure>) {
    switch result {
    case .success(let value): self = .success(value)
    case .failure(let error): self = .failure(error)
    }
  }

  @inlinable
  package var result: Result<Value, Failure>? {
    switch self {
    case .unresolved: nil
    case .success(let value): .success(value)
    case .failure(let error): .failure(error)
    }
  }
}
